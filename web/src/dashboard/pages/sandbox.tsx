import { useEffect, useState } from "preact/hooks";
import { deleteSandbox, forgetSignIns, keepSignIns, runs, sandbox, sandboxes, signIns, startRun, stopBrowser, stopRun } from "../api/calls";
import { me } from "../api/client";
import type { Browser, Sandbox } from "../api/types";
import { Live } from "../live/view";
import { announce } from "../parts/announce";
import { CardView } from "../parts/card";
import { type Happenings, useHappenings } from "../parts/events";
import { Address, Chip, Confirm, Failure, Time, Title } from "../parts/pieces";
import { type Resource, useDeed, useResource } from "../parts/resource";
import { StepRows } from "../parts/steprows";
import { left } from "../parts/time";
import { go, to } from "../route";
import { Logs, Refusals } from "./evidence";
import { StartBrowser } from "./startbrowser";

const EVERY_MS = 5000;

export function SandboxPage({ id }: { id: string }) {
  const one = useResource(id, (stop) => sandbox(id, stop), EVERY_MS);
  const [happenings, answered] = useHappenings(id);
  useEffect(() => {
    if (happenings.browser) one.reload();
  }, [happenings.browser]);
  const box = one.value;
  useEffect(() => {
    if (box) document.title = `${box.name || box.id} · Reins`;
  }, [box?.name]);

  if (!box) {
    return (
      <>
        <Title>Sandbox</Title>
        <Failure text={one.error} />
        {one.error ? <p><a href={to.sandboxes}>All sandboxes</a></p> : <p class="quiet" role="status">Reading…</p>}
      </>
    );
  }
  const browser = box.browser ?? null;
  const running = browser?.status === "running";
  return (
    <>
      <p class="crumb"><a href={to.sandboxes}>Sandboxes</a></p>
      <Title aside={<Chip status={box.status} />}>{box.name || box.id}</Title>
      <p class="about">
        {box.app_url ? <Address url={box.app_url} /> : <span>Open web, asks before risky steps</span>}
        {box.status === "expired" ? <span>ended <Time at={box.expires_at} /></span> : <span>ends {left(box.expires_at)}</span>}
      </p>
      <Failure text={box.error ?? one.error} />
      <div class="columns">
        <div class="wide">
          {happenings.cards.length
            ? <div class="cards">{happenings.cards.map((card) => <CardView key={card.id} sandbox={id} card={card} onAnswered={answered} />)}</div>
            : null}
          <BrowserPanel box={box} browser={browser} onChange={one.reload} />
          {running && browser.live_url ? <Live sandbox={id} session={browser.server_key ?? browser.started_at} /> : null}
        </div>
        <div class="narrow">
          <Activity box={box} happenings={happenings} running={running} />
          <Refusals sandbox={id} turn={happenings.refusals} running={running} />
          {box.command ? <Logs sandbox={id} /> : null}
          <More box={box} running={running} />
        </div>
      </div>
    </>
  );
}

function BrowserPanel({ box, browser, onChange }: { box: Sandbox; browser: Browser | null; onChange: () => void }) {
  const modes = useResource("modes", sandboxes);
  const deed = useDeed();
  const manages = me.value?.scopes.includes("manage") ?? false;
  const alive = browser?.status === "running" || browser?.status === "starting";
  return (
    <section class="panel" aria-labelledby="browser-title">
      <div class="title">
        <h2 id="browser-title">Browser</h2>
        {browser ? <Chip status={browser.status} /> : null}
      </div>
      <Failure text={deed.error ?? (browser?.status === "failed" ? (browser.error ?? "The browser failed.") : undefined)} />
      {alive
        ? <div class="browser-line">
            <span class="quiet">
              {browser.mode === "headed" ? "In a window on the daemon’s machine" : "Without a window"}, since <Time at={browser.started_at} />
              {browser.stop_at ? <>, stops {left(browser.stop_at)}</> : null}
            </span>
            {manages
              ? <button
                  type="button"
                  class="danger"
                  disabled={deed.busy}
                  onClick={() => deed.run(() => stopBrowser(box.id)).then((ok) => {
                    if (ok) announce("Browser stopped.");
                    onChange();
                  })}
                >
                  {deed.busy ? "Stopping…" : "Stop the browser"}
                </button>
              : null}
          </div>
        : box.status === "ready"
          ? <StartBrowser box={box} modes={modes.value?.browser_modes ?? ["headless"]} onStarted={onChange} />
          : <p class="quiet">{box.status === "booting" ? "A browser can be started when the app is ready." : "A browser can be started only for a ready sandbox."}</p>}
      {browser?.ended_at && browser.reason
        ? <p class="quiet">The last one ended <Time at={browser.ended_at} />: {browser.reason.replace(/_/g, " ")}.</p>
        : null}
      {browser && !alive && browser.recording_id
        ? <p><a href={to.recording(browser.recording_id)}>Recording of the last browser</a></p>
        : null}
    </section>
  );
}

function Activity({ box, happenings, running }: { box: Sandbox; happenings: Happenings; running: boolean }) {
  const known = useResource(`${box.id}/runs`, (stop) => runs(box.id, stop));
  const deed = useDeed();
  useEffect(() => {
    if (happenings.runs) known.reload();
  }, [happenings.runs]);
  const live = known.value?.runs.find((run) => !run.ended_at);
  const steps = live ? happenings.steps.filter((step) => step.run_id === live.id) : happenings.steps;
  const working = running && (!!live || steps.at(-1)?.outcome === "running");
  return (
    <section class="panel" aria-labelledby="activity-title">
      <h2 id="activity-title">Activity</h2>
      {live ? <p><a href={to.run(live.id)}>{live.task}</a> <Chip status={working ? "working" : live.status} /></p> : null}
      <StepRows steps={steps} over={!working} label="Steps of the agent" />
      {live && me.value?.scopes.includes("act")
        ? <div class="buttons">
            <button type="button" class="danger" disabled={deed.busy} onClick={() => deed.run(() => stopRun(live.id)).then(known.reload)}>
              Stop the run
            </button>
          </div>
        : null}
      <Failure text={deed.error} />
      <RunForm box={box} running={running && !live} known={known} />
    </section>
  );
}

function RunForm({ box, running, known }: { box: Sandbox; running: boolean; known: Resource<unknown> }) {
  const deed = useDeed();
  const acts = me.value?.scopes.includes("act") ?? false;
  if (!acts || !running) return null;
  return (
    <form
      class="fields"
      onSubmit={(event) => {
        event.preventDefault();
        const form = event.currentTarget;
        const task = String(new FormData(form).get("task") ?? "").trim();
        if (!task) return;
        void deed.run(() => startRun(box.id, task)).then((ok) => {
          if (!ok) return;
          form.reset();
          announce("Run started.");
          known.reload();
        });
      }}
    >
      <div class="field">
        <label for="task">Give the agent a task</label>
        <textarea id="task" name="task" rows={3} required />
      </div>
      <Failure text={deed.error} />
      <div class="buttons"><button type="submit" disabled={deed.busy}>{deed.busy ? "Starting…" : "Start a run"}</button></div>
    </form>
  );
}

function More({ box, running }: { box: Sandbox; running: boolean }) {
  const deed = useDeed();
  const [asking, setAsking] = useState(false);
  const manages = me.value?.scopes.includes("manage") ?? false;
  return (
    <section class="panel" aria-labelledby="more-title">
      <h2 id="more-title">More</h2>
      <p><a href={to.recordingsOf(box.id)}>Recordings of this sandbox</a></p>
      <Failure text={deed.error} />
      {manages
        ? <div class="buttons">
            {running
              ? <button
                  type="button"
                  disabled={deed.busy}
                  onClick={() => deed.run(async () => keepSignIns(box.id, await signIns(box.id))).then((ok) => ok && announce("Sign-in kept."))}
                >
                  Keep this browser’s sign-in
                </button>
              : null}
            <button type="button" disabled={deed.busy} onClick={() => deed.run(() => forgetSignIns(box.id)).then((ok) => ok && announce("Sign-in forgotten."))}>
              Forget kept sign-in
            </button>
            <button type="button" class="danger" disabled={deed.busy} onClick={() => setAsking(true)}>Delete the sandbox</button>
          </div>
        : null}
      {asking
        ? <Confirm
            question={{
              title: "Delete this sandbox?",
              text: `Its browser and its app stop. Recordings stay. ${box.name || box.id}`,
              action: "Delete",
            }}
            busy={deed.busy}
            onNo={() => setAsking(false)}
            onYes={() => void deed.run(() => deleteSandbox(box.id)).then((ok) => (ok ? go(to.sandboxes) : setAsking(false)))}
          />
        : null}
    </section>
  );
}

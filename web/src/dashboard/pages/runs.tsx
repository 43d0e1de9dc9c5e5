import { useState } from "preact/hooks";
import { run, runs, stopRun } from "../api/calls";
import { me } from "../api/client";
import type { Run } from "../api/types";
import { announce } from "../parts/announce";
import { Chip, Failure, Time, Title } from "../parts/pieces";
import { useDeed, useResource } from "../parts/resource";
import { StepRows } from "../parts/steprows";
import { lasting } from "../parts/time";
import { to } from "../route";

const EVERY_MS = 5000;
const LIVE_MS = 1500;

export function RunsPage() {
  const list = useResource("runs", (stop) => runs(undefined, stop), EVERY_MS);
  const all = list.value?.runs;
  return (
    <>
      <Title>Runs</Title>
      <Failure text={list.error} />
      {all && !all.length ? <p class="empty">No run yet. Start one on the page of a sandbox with a running browser.</p> : null}
      {all?.length
        ? <ul class="rows" aria-label="Runs">
            {all.map((one) => (
              <li class="row" key={one.id}>
                <div class="row-main">
                  <a href={to.run(one.id)}>{one.task}</a>
                  <span class="quiet"><Time at={one.started_at} />{one.ended_at ? `, ${took(one)}` : ""}</span>
                </div>
                <div class="row-side">
                  <Chip status={one.status} />
                  <a class="quiet" href={to.sandbox(one.sandbox_id)}>sandbox</a>
                </div>
              </li>
            ))}
          </ul>
        : null}
      {!all && !list.error ? <p class="quiet" role="status">Reading…</p> : null}
    </>
  );
}

const took = (one: Run) => (one.ended_at ? lasting(Date.parse(one.ended_at) - Date.parse(one.started_at)) : "");

export function RunPage({ id }: { id: string }) {
  const [live, setLive] = useState(true);
  const one = useResource(id, (stop) => run(id, stop), live ? LIVE_MS : undefined);
  const deed = useDeed();
  const shown = one.value;
  if (shown && live !== !shown.ended_at) setLive(!shown.ended_at);
  if (!shown) {
    return (
      <>
        <Title>Run</Title>
        <Failure text={one.error} />
        {one.error ? <p><a href={to.runs}>All runs</a></p> : <p class="quiet" role="status">Reading…</p>}
      </>
    );
  }
  const over = !!shown.ended_at;
  return (
    <>
      <p class="crumb"><a href={to.runs}>Runs</a></p>
      <Title aside={<Chip status={shown.status} />}>Run</Title>
      <p class="task">{shown.task}</p>
      <section class="panel" aria-labelledby="steps-title">
        <h2 id="steps-title">Steps</h2>
        <StepRows steps={shown.steps ?? []} over={over} label="Steps of the run" />
        {shown.error
          ? <p class="final bad">{shown.answer ?? shown.error.replace(/_/g, " ")} <a href={to.settings}>Look at the settings</a></p>
          : null}
      </section>
      {shown.answer && !shown.error
        ? <section class="panel" aria-labelledby="answer-title"><h2 id="answer-title">Answer</h2><p class="answer">{shown.answer}</p></section>
        : null}
      <Failure text={deed.error ?? one.error} />
      <footer class="run-foot">
        <span>
          {over ? `${shown.status.replace(/_/g, " ")} in ${took(shown)}` : <>working since <Time at={shown.started_at} /></>}
          {shown.tokens ? ` · ${shown.tokens.toLocaleString()} tokens` : ""}
          {shown.cost_usd ? ` · $${shown.cost_usd.toFixed(shown.cost_usd < 0.1 ? 4 : 2)}` : ""}
        </span>
        <a href={to.sandbox(shown.sandbox_id)}>Its sandbox</a>
        {!over && me.value?.scopes.includes("act")
          ? <button type="button" class="danger" disabled={deed.busy} onClick={() => deed.run(() => stopRun(id)).then((ok) => {
              if (ok) announce("Run stopped.");
              one.reload();
            })}>Stop</button>
          : null}
      </footer>
    </>
  );
}

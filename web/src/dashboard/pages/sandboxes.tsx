import { useState } from "preact/hooks";
import { createSandbox, sandboxes } from "../api/calls";
import { me } from "../api/client";
import type { NewSandbox, Sandbox } from "../api/types";
import { announce } from "../parts/announce";
import { Chip, Failure, Title, focusTitle } from "../parts/pieces";
import { useDeed, useResource } from "../parts/resource";
import { left } from "../parts/time";
import { go, to } from "../route";

const EVERY_MS = 4000;

export function SandboxesPage() {
  const list = useResource("sandboxes", sandboxes, EVERY_MS);
  const [adding, setAdding] = useState(false);
  const manages = me.value?.scopes.includes("manage") ?? false;
  const all = list.value?.sandboxes;
  return (
    <>
      <Title aside={manages && !adding ? <button type="button" class="main" onClick={() => setAdding(true)}>New sandbox</button> : null}>
        Sandboxes
      </Title>
      <Failure text={list.error} />
      {adding ? <NewSandboxForm
            onClose={() => {
              setAdding(false);
              focusTitle();
            }}
          /> : null}
      {all && !all.length && !adding
        ? <p class="empty">No sandbox yet. A sandbox is an app under test and a browser that opens only that app.</p>
        : null}
      {all?.length
        ? <ul class="rows" aria-label="Sandboxes">
            {all.map((one) => <SandboxRow key={one.id} sandbox={one} />)}
          </ul>
        : null}
      {!all && !list.error ? <p class="quiet" role="status">Reading…</p> : null}
    </>
  );
}

function SandboxRow({ sandbox }: { sandbox: Sandbox }) {
  const browser = sandbox.browser;
  return (
    <li class="row">
      <div class="row-main">
        <a href={to.sandbox(sandbox.id)}>{sandbox.name || sandbox.id}</a>
        {sandbox.app_url ? <span class="address">{sandbox.app_url}</span> : <span class="quiet">open web</span>}
      </div>
      <div class="row-side">
        <Chip status={sandbox.status} />
        <span class={browser?.status === "failed" ? "bad" : "quiet"}>{browser && browser.status !== "stopped" ? `browser ${browser.status}, ${browser.mode}` : "no browser"}</span>
        <span class="quiet">{sandbox.status === "expired" ? "" : `ends ${left(sandbox.expires_at)}`}</span>
      </div>
    </li>
  );
}

const HOURS: [string, number][] = [["1 hour", 3600], ["4 hours", 14_400], ["1 day", 86_400], ["1 week", 604_800]];

function NewSandboxForm({ onClose }: { onClose: () => void }) {
  const deed = useDeed();
  const [guarded, setGuarded] = useState(false);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(form.get(name) ?? "").trim();
    const wanted: NewSandbox = { guarded, expires_in_s: Number(text("expires_in_s")) };
    for (const name of ["app_url", "name", "command", "cwd", "ready_url"] as const) {
      if (text(name)) wanted[name] = text(name);
    }
    void deed.run(async () => {
      const made = await createSandbox(wanted);
      announce("Sandbox created.");
      go(to.sandbox(made.id));
    });
  };
  return (
    <form class="panel fields" aria-labelledby="new-sandbox" onSubmit={submit}>
      <h2 id="new-sandbox">New sandbox</h2>
      <fieldset>
        <legend>What its browser may open</legend>
        <label class="check">
          <input type="radio" name="guarded" checked={!guarded} onChange={() => setGuarded(false)} /> One app and nothing else
        </label>
        <label class="check">
          <input type="radio" name="guarded" checked={guarded} onChange={() => setGuarded(true)} /> The open web; it asks before risky steps
        </label>
      </fieldset>
      {guarded
        ? null
        : <div class="field">
            <label for="app_url">Address of the app</label>
            <input id="app_url" name="app_url" type="url" required placeholder="http://localhost:3000" autofocus />
          </div>}
      <div class="field">
        <label for="name">Name</label>
        <input id="name" name="name" autocomplete="off" />
      </div>
      <div class="field">
        <label for="expires_in_s">Ends after</label>
        <select id="expires_in_s" name="expires_in_s">
          {HOURS.map(([name, seconds]) => <option key={seconds} value={seconds} selected={seconds === 14_400}>{name}</option>)}
        </select>
      </div>
      {guarded
        ? null
        : <details>
            <summary>Start the app as well</summary>
            <div class="field">
              <label for="command">Command</label>
              <input id="command" name="command" autocomplete="off" spellcheck={false} placeholder="npm run dev" />
            </div>
            <div class="field">
              <label for="cwd">Directory</label>
              <input id="cwd" name="cwd" autocomplete="off" spellcheck={false} />
            </div>
            <div class="field">
              <label for="ready_url">Ready when this address answers</label>
              <input id="ready_url" name="ready_url" type="url" />
            </div>
          </details>}
      <Failure text={deed.error} />
      <div class="buttons">
        <button type="submit" class="main" disabled={deed.busy}>{deed.busy ? "Creating…" : "Create"}</button>
        <button type="button" onClick={onClose}>Cancel</button>
      </div>
    </form>
  );
}

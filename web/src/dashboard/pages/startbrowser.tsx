import { startBrowser } from "../api/calls";
import { me } from "../api/client";
import type { BrowserMode, Sandbox, StartBrowser as Start } from "../api/types";
import { announce } from "../parts/announce";
import { Failure } from "../parts/pieces";
import { useDeed } from "../parts/resource";
import { LEVELS } from "../parts/words";

const CAPABILITIES: [string, string][] = [
  ["testing", "Assertions for tests"],
  ["vision", "Clicks at coordinates"],
  ["pdf", "Save pages as PDF"],
];

const KINDS: ["rrweb" | "frames" | "console", string][] = [
  ["rrweb", "What the page shows"],
  ["frames", "Pictures, for canvas and video"],
  ["console", "Console"],
];

/** Starting a browser: without a window, or in one where the daemon's machine has a display. */
export function StartBrowser({ box, modes, onStarted }: { box: Sandbox; modes: BrowserMode[]; onStarted: () => void }) {
  const deed = useDeed();
  const manages = me.value?.scopes.includes("manage") ?? false;
  if (!manages) return <p class="quiet">No browser runs. Your token may not start one.</p>;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement, event.submitter);
    const chosen = form.getAll("record");
    const start: Start = {
      mode: form.get("mode") === "headed" ? "headed" : "headless",
      capabilities: CAPABILITIES.map(([name]) => name).filter((name) => form.getAll("capability").includes(name)),
      record: { rrweb: chosen.includes("rrweb"), frames: chosen.includes("frames"), console: chosen.includes("console") },
    };
    const level = form.get("level");
    if (typeof level === "string") start.level = level;
    void deed.run(() => startBrowser(box.id, start)).then((ok) => {
      if (ok) announce("Browser started.");
      onStarted();
    });
  };
  return (
    <form class="fields" onSubmit={submit}>
      {box.guarded
        ? <div class="field">
            <label for="level">How much is asked</label>
            <select id="level" name="level">
              {Object.entries(LEVELS).map(([level, words]) => <option key={level} value={level}>{level}: {words}</option>)}
            </select>
          </div>
        : null}
      <details>
        <summary>Options</summary>
        <fieldset>
          <legend>What the agent can do besides</legend>
          {CAPABILITIES.map(([name, label]) => (
            <label key={name} class="check"><input type="checkbox" name="capability" value={name} /> {label}</label>
          ))}
        </fieldset>
        <fieldset>
          <legend>What is recorded</legend>
          {KINDS.map(([name, label]) => (
            <label key={name} class="check"><input type="checkbox" name="record" value={name} checked={name !== "frames"} /> {label}</label>
          ))}
        </fieldset>
      </details>
      <Failure text={deed.error} />
      <div class="buttons">
        <button type="submit" class="main" name="mode" value="headless" disabled={deed.busy}>
          {deed.busy ? "Starting…" : "Start a browser"}
        </button>
        {modes.includes("headed")
          ? <button type="submit" name="mode" value="headed" disabled={deed.busy}>Start in a window on this machine</button>
          : null}
      </div>
    </form>
  );
}

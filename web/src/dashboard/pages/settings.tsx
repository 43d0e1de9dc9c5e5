import { keepSettings, settings } from "../api/calls";
import { me } from "../api/client";
import type { Settings, SiteRule } from "../api/types";
import { announce } from "../parts/announce";
import { Failure, Title } from "../parts/pieces";
import { useDeed, useResource } from "../parts/resource";
import { LEVELS } from "../parts/words";

const RULES: Record<string, string> = { always: "never ask here", never: "never act here" };

export function SettingsPage() {
  const known = useResource("settings", settings);
  const deed = useDeed();
  const manages = me.value?.scopes.includes("manage") ?? false;
  const shown = known.value;
  const keep = async (change: Partial<Settings>, words: string) => {
    if (await deed.run(() => keepSettings(change))) announce(words);
    known.reload();
  };
  return (
    <>
      <Title>Settings</Title>
      <Failure text={known.error ?? deed.error} />
      {shown
        ? <>
            <Levels shown={shown} disabled={!manages} keep={keep} />
            <Rules rules={shown.site_rules} disabled={!manages} keep={keep} />
            <Providers shown={shown} />
          </>
        : known.error ? null : <p class="quiet" role="status">Reading…</p>}
    </>
  );
}

type Keep = (change: Partial<Settings>, words: string) => Promise<void>;

function Levels({ shown, disabled, keep }: { shown: Settings; disabled: boolean; keep: Keep }) {
  return (
    <section class="panel" aria-labelledby="levels-title">
      <h2 id="levels-title">How much is asked</h2>
      <fieldset disabled={disabled}>
        <legend class="only-read">Level of guarded sessions</legend>
        {shown.levels.map((level) => (
          <label key={level} class="check">
            <input type="radio" name="level" checked={shown.level === level} onChange={() => void keep({ level }, "Level kept.")} />
            <span><b>{level}</b>{LEVELS[level] ? <span class="quiet"> {LEVELS[level]}</span> : null}</span>
          </label>
        ))}
      </fieldset>
    </section>
  );
}

function Rules({ rules, disabled, keep }: { rules: SiteRule[]; disabled: boolean; keep: Keep }) {
  return (
    <section class="panel" aria-labelledby="rules-title">
      <h2 id="rules-title">Sites</h2>
      {rules.length
        ? <ul class="lines">
            {rules.map((one) => (
              <li key={one.pattern}>
                <span class="address">{one.pattern}</span>
                <span>{RULES[one.rule] ?? one.rule}</span>
                {disabled ? null : (
                  <button
                    type="button"
                    aria-label={`Remove the rule of ${one.pattern}`}
                    onClick={() => void keep({ site_rules: rules.filter((other) => other !== one) }, "Rule removed.")}
                  >
                    Remove
                  </button>
                )}
              </li>
            ))}
          </ul>
        : <p class="quiet">No rule yet. Without one, each site is judged by the level.</p>}
      {disabled ? null : (
        <form
          class="search"
          onSubmit={(event) => {
            event.preventDefault();
            const form = event.currentTarget;
            const data = new FormData(form);
            const pattern = String(data.get("pattern") ?? "").trim();
            if (!pattern) return;
            const rule = { pattern, rule: String(data.get("rule")) };
            void keep({ site_rules: [...rules.filter((one) => one.pattern !== pattern), rule] }, "Rule kept.").then(() => form.reset());
          }}
        >
          <label class="only-read" for="pattern">Site</label>
          <input id="pattern" name="pattern" required placeholder="https://example.com" autocomplete="off" spellcheck={false} />
          <label class="only-read" for="rule">Rule</label>
          <select id="rule" name="rule">{Object.entries(RULES).map(([rule, words]) => <option key={rule} value={rule}>{words}</option>)}</select>
          <button type="submit">Add</button>
        </form>
      )}
    </section>
  );
}

function Providers({ shown }: { shown: Settings }) {
  return (
    <section class="panel" aria-labelledby="providers-title">
      <h2 id="providers-title">Models</h2>
      {shown.providers.length
        ? <ul class="lines">
            {shown.providers.map((one) => (
              <li key={one.name}>
                <b>{one.name}</b>
                <span class="address">{one.address}</span>
                <span class="quiet">{one.model ?? ""} {one.has_key ? "key kept" : "no key"}</span>
              </li>
            ))}
          </ul>
        : <p class="quiet">No model is set up.</p>}
      <p class="quiet">Keys are entered in the terminal and never shown here: <code>reins providers --help</code></p>
    </section>
  );
}

import { useEffect, useRef, useState } from "preact/hooks";
import { logs, refusals } from "../api/calls";
import { told } from "../api/client";
import type { LogLine, Refusals as List } from "../api/types";
import { Failure, Time } from "../parts/pieces";
import { useResource } from "../parts/resource";
import { count } from "../parts/time";

const NONE: List = { refusals: [], more: 0 };

/** Connections that the browser was not allowed to make. */
export function Refusals({ sandbox, turn, running }: { sandbox: string; turn: number; running: boolean }) {
  const list = useResource(`${sandbox}/refusals/${running}`, (stop) => (running ? refusals(sandbox, stop) : Promise.resolve(NONE)));
  useEffect(() => {
    if (turn) list.reload();
  }, [turn]);
  const all = list.value?.refusals ?? [];
  if (!running) return null;
  return (
    <section class="panel" aria-labelledby="refusals-title">
      <h2 id="refusals-title">Refused connections</h2>
      <Failure text={list.error} />
      {all.length
        ? <ul class="lines">
            {all.map((one) => (
              <li key={`${one.host}:${one.port ?? ""}:${one.reason}`}>
                <span class="address">{one.host}{one.port ? `:${one.port}` : ""}</span>
                <span class="quiet">{one.reason}{one.count > 1 ? `, ${count(one.count, "time")}` : ""} · <Time at={one.at} /></span>
              </li>
            ))}
          </ul>
        : <p class="quiet">None.</p>}
      {list.value?.more ? <p class="quiet">And {count(list.value.more, "more", "more")}.</p> : null}
    </section>
  );
}

const EVERY_MS = 2000;
const KEPT = 1000;

/** What the app's command wrote. New lines come while the panel is open. */
export function Logs({ sandbox }: { sandbox: string }) {
  const [open, setOpen] = useState(false);
  const [lines, setLines] = useState<LogLine[]>([]);
  const [error, setError] = useState<string>();
  const end = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (!open) return;
    const stop = new AbortController();
    let next = 0;
    let timer: ReturnType<typeof setTimeout>;
    setLines([]);
    const read = async () => {
      try {
        const answer = await logs(sandbox, next, stop.signal);
        next = answer.next;
        if (answer.lines.length) setLines((before) => [...before, ...answer.lines].slice(-KEPT));
        setError(undefined);
      } catch (cause) {
        if (!stop.signal.aborted) setError(told(cause));
      }
      if (!stop.signal.aborted) timer = setTimeout(read, EVERY_MS);
    };
    void read();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [open, sandbox]);
  useEffect(() => {
    const box = end.current;
    // Stays at the end only for whoever is there.
    if (box && box.scrollHeight - box.scrollTop - box.clientHeight < 200) box.scrollTop = box.scrollHeight;
  }, [lines]);
  return (
    <section class="panel" aria-labelledby="logs-title">
      <h2 id="logs-title">Log of the app</h2>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Show</summary>
        <Failure text={error} />
        {lines.length
          ? <pre ref={end} class="log" tabIndex={0} aria-labelledby="logs-title">{lines.map((line) => `${line.text}\n`)}</pre>
          : <p class="quiet">Nothing yet.</p>}
      </details>
    </section>
  );
}

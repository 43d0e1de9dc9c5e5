import { useEffect, useState } from "preact/hooks";
import { recordings } from "../api/calls";
import { told } from "../api/client";
import type { Recording } from "../api/types";
import { Chip, Failure, Time, Title } from "../parts/pieces";
import { useResource } from "../parts/resource";
import { count, lasting, size } from "../parts/time";
import { go, to } from "../route";

export function RecordingsPage({ q, sandbox }: { q: string; sandbox: string }) {
  const list = useResource(`recordings ${sandbox} ${q}`, (stop) => recordings({ sandbox, q }, stop));
  const [more, setMore] = useState<{ key: string; items: Recording[]; next: string | null }>();
  const [failed, setFailed] = useState<string>();
  const key = `${sandbox} ${q}`;
  const older = more?.key === key ? more : undefined;
  useEffect(() => setFailed(undefined), [key]);
  const all = list.value ? [...list.value.recordings, ...(older?.items ?? [])] : undefined;
  const next = older ? older.next : (list.value?.next ?? null);

  const search = (event: SubmitEvent) => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget as HTMLFormElement).get("q") ?? "").trim();
    const asked = new URLSearchParams();
    if (sandbox) asked.set("sandbox", sandbox);
    if (text) asked.set("q", text);
    go(asked.size ? `${to.recordings}?${asked.toString()}` : to.recordings);
  };
  const read = async (before: string) => {
    try {
      const answer = await recordings({ sandbox, q, before });
      setMore({ key, items: [...(older?.items ?? []), ...answer.recordings], next: answer.next ?? null });
    } catch (cause) {
      setFailed(told(cause));
    }
  };
  return (
    <>
      <Title>Recordings</Title>
      <form role="search" class="search" onSubmit={search} key={key}>
        <label class="only-read" for="q">Text that was on screen</label>
        <input id="q" name="q" type="search" defaultValue={q} placeholder="Text that was on screen" />
        <button type="submit">Search</button>
      </form>
      {sandbox ? <p class="quiet">Of one sandbox only. <a href={to.recordings}>Show all</a></p> : null}
      <Failure text={list.error ?? failed} />
      {all && !all.length
        ? <p class="empty">{q ? "No recording shows that text." : "No recording yet. Each browser of a sandbox is recorded from its start."}</p>
        : null}
      {all?.length
        ? <ul class="rows" aria-label="Recordings">
            {all.map((one) => (
              <li class="row" key={one.id}>
                <div class="row-main">
                  <a href={to.recording(one.id)}>{one.app_url} <span class="only-read">recorded </span><Time at={one.started_at} /></a>
                  <span class="quiet">
                    {lasting(one.duration_ms)}, {count(one.events, "event")}, {size(one.bytes)}
                    {one.end_reason ? `, ${one.end_reason.replace(/_/g, " ")}` : ""}
                  </span>
                </div>
                <div class="row-side"><Chip status={one.status} /></div>
              </li>
            ))}
          </ul>
        : null}
      {next ? <div class="buttons"><button type="button" onClick={() => void read(next)}>Older recordings</button></div> : null}
      {!all && !list.error ? <p class="quiet" role="status">Reading…</p> : null}
    </>
  );
}

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { deleteRecording, exportAddress, frameAddress, recording, searchRecording } from "../api/calls";
import { me, told } from "../api/client";
import type { Hit, Recording } from "../api/types";
import { Chip, Confirm, Failure, Time, Title } from "../parts/pieces";
import { useDeed, useResource } from "../parts/resource";
import { count, lasting, position, size } from "../parts/time";
import { Player, SPEEDS } from "../replay/player";
import { type Entry, GROUPS } from "../replay/words";
import { go, to } from "../route";

/** The page that replays. Its policy lets one script of ours run and nothing load; what it shows stands in a frame without script. */
const REPLAY = "/dashboard/replay.html";

export function RecordingPage({ id }: { id: string }) {
  const one = useResource(id, (stop) => recording(id, stop));
  const deed = useDeed();
  const [asking, setAsking] = useState(false);
  const about = one.value;
  return (
    <>
      <p class="crumb"><a href={to.recordings}>Recordings</a></p>
      <Title aside={about ? <Chip status={about.status} /> : null}>Recording</Title>
      <Failure text={one.error ?? deed.error} />
      {about
        ? <>
            <p class="about">
              <span class="address">{about.app_url}</span>
              <Time at={about.started_at} />
              <span>{lasting(about.duration_ms)}, {size(about.bytes)}</span>
              {about.end_reason ? <span>ended: {about.end_reason.replace(/_/g, " ")}</span> : null}
            </p>
            <Replay key={id} about={about} />
            <div class="buttons">
              <a class="button" href={exportAddress(id)} download={`recording-${id}.html`}>Export as one HTML file</a>
              <a class="button" href={to.sandbox(about.sandbox_id)}>Its sandbox</a>
              {me.value?.scopes.includes("manage")
                ? <button type="button" class="danger" onClick={() => setAsking(true)}>Delete the recording</button>
                : null}
            </div>
          </>
        : null}
      {asking
        ? <Confirm
            question={{ title: "Delete this recording?", text: "It cannot be brought back.", action: "Delete" }}
            busy={deed.busy}
            onNo={() => setAsking(false)}
            onYes={() => void deed.run(() => deleteRecording(id)).then((ok) => (ok ? go(to.recordings) : setAsking(false)))}
          />
        : null}
    </>
  );
}

function Replay({ about }: { about: Recording }) {
  const player = useMemo(() => new Player(about.id, Date.parse(about.started_at)), []);
  useEffect(() => {
    player.start();
    return () => player.end();
  }, []);
  return (
    <>
      <Failure text={player.error.value ?? undefined} />
      <div class="columns">
        <div class="wide"><Screen player={player} about={about} /></div>
        <div class="narrow">
          <Search id={about.id} player={player} />
          <Timeline player={player} />
        </div>
      </div>
    </>
  );
}

function Screen({ player, about }: { player: Player; about: Recording }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [chosen, setChosen] = useState<"page" | "pictures">("page");
  const tabs = player.tabs.value;
  const pages = player.pages.value;
  const pictures = player.pictures.value;
  const shows = pages || !pictures.length ? chosen : "pictures";
  const length = Math.max(player.lengthMs.value, 1);
  const at = player.atMs.value;
  // Before the frame's own script can say that it is ready.
  useLayoutEffect(() => {
    player.show(frame.current);
    return () => player.show(null);
  }, [player, pages, shows]);
  const picture = pictures.findLast((one) => one.at_ms <= at) ?? pictures[0];
  return (
    <section class="screen" aria-label="Player">
      {tabs.length > 1 || (pictures.length && pages)
        ? <div class="screen-bar">
            {tabs.length > 1
              ? <label>Tab{" "}
                  <select value={player.tab.value ?? ""} onChange={(event) => player.choose(event.currentTarget.value)}>
                    {tabs.map((name, n) => <option key={name} value={name}>{n + 1}</option>)}
                  </select>
                </label>
              : null}
            {pictures.length && pages
              ? <label>Show{" "}
                  <select value={shows} onChange={(event) => setChosen(event.currentTarget.value === "pictures" ? "pictures" : "page")}>
                    <option value="page">the page</option>
                    <option value="pictures">pictures of the screen</option>
                  </select>
                </label>
              : null}
          </div>
        : null}
      <div class="screen-frame">
        {shows === "pictures" && picture
          ? <img src={frameAddress(about.id, picture.seq)} alt="The screen at this time" />
          : pages
            ? <iframe ref={frame} src={REPLAY} sandbox="allow-scripts allow-same-origin" title="What the page showed" tabIndex={-1} />
            : <p class="stage-empty">{player.loading.value ? "Reading the recording…" : "Nothing that could be shown was recorded."}</p>}
      </div>
      <div class="transport">
        <button type="button" class="main" onClick={() => player.toggle()} disabled={!pages || shows === "pictures"}>
          {player.playing.value ? "Pause" : "Play"}
        </button>
        <input
          type="range"
          aria-label="Position"
          aria-valuetext={`${position(at)} of ${position(length)}`}
          min={0}
          max={length}
          step={100}
          value={at}
          onInput={(event) => player.seek(Number(event.currentTarget.value))}
        />
        <span class="position">{position(at)} / {position(length)}</span>
        <label class="speed"><span class="only-read">Speed</span>
          <select value={player.speed.value} onChange={(event) => player.faster(Number(event.currentTarget.value))}>
            {SPEEDS.map((speed) => <option key={speed} value={speed}>{speed}×</option>)}
          </select>
        </label>
      </div>
      {player.loading.value && pages ? <p class="quiet" role="status">Reading the recording…</p> : null}
    </section>
  );
}

const SHOWN = 400;

function Timeline({ player }: { player: Player }) {
  const [off, setOff] = useState<ReadonlySet<string>>(new Set());
  const [all, setAll] = useState(false);
  const groups = GROUPS.filter(([name]) => player.entries.value.some((one) => one.group === name));
  const chosen = player.entries.value.filter((one) => !off.has(one.group));
  const shown = all ? chosen : chosen.slice(0, SHOWN);
  const current = shown.findLast((one) => one.at_ms <= player.atMs.value);
  return (
    <section class="panel" aria-labelledby="timeline-title">
      <h2 id="timeline-title">Timeline</h2>
      {groups.length > 1
        ? <fieldset class="filters">
            <legend class="only-read">Show</legend>
            {groups.map(([name, label]) => (
              <label key={name} class="check">
                <input
                  type="checkbox"
                  checked={!off.has(name)}
                  onChange={(event) => {
                    const next = new Set(off);
                    if (event.currentTarget.checked) next.delete(name);
                    else next.add(name);
                    setOff(next);
                  }}
                /> {label}
              </label>
            ))}
          </fieldset>
        : null}
      {shown.length
        ? <ol class="timeline" aria-labelledby="timeline-title">
            {shown.map((one) => <Moment key={one.seq} entry={one} current={one === current} player={player} />)}
          </ol>
        : <p class="quiet">{player.loading.value ? "Reading…" : "Nothing to list."}</p>}
      {chosen.length > shown.length
        ? <button type="button" onClick={() => setAll(true)}>Show all {chosen.length}</button>
        : null}
    </section>
  );
}

function Moment({ entry, current, player }: { entry: Entry; current: boolean; player: Player }) {
  return (
    <li class={entry.bad ? "bad" : ""}>
      <button type="button" aria-current={current ? "true" : undefined} onClick={() => player.visit(entry.at_ms, entry.tab)}>
        <span class="at">{position(entry.at_ms)}</span>
        <span class="group">{entry.group}</span>
        <span class="text">{entry.text}</span>
      </button>
    </li>
  );
}

function Search({ id, player }: { id: string; player: Player }) {
  const [hits, setHits] = useState<{ q: string; hits: Hit[] }>();
  const [error, setError] = useState<string>();
  const search = async (event: SubmitEvent) => {
    event.preventDefault();
    const q = String(new FormData(event.currentTarget as HTMLFormElement).get("text") ?? "").trim();
    setError(undefined);
    if (!q) return setHits(undefined);
    try {
      setHits({ q, hits: (await searchRecording(id, q)).hits });
    } catch (cause) {
      setError(told(cause));
    }
  };
  return (
    <section class="panel" aria-labelledby="search-title">
      <h2 id="search-title">Search</h2>
      <form role="search" class="search" onSubmit={(event) => void search(event)}>
        <label class="only-read" for="text">Text that was on screen</label>
        <input id="text" name="text" type="search" placeholder="Text that was on screen" />
        <button type="submit">Search</button>
      </form>
      <Failure text={error} />
      <div role="status">
        {hits ? <p class="quiet">{hits.hits.length ? count(hits.hits.length, "place") : "Not found."}</p> : null}
      </div>
      {hits?.hits.length
        ? <ol class="timeline" aria-label={`Places of ${hits.q}`}>
            {hits.hits.map((hit) => (
              <li key={hit.seq}>
                <button
                  type="button"
                  onClick={() => player.visit(player.since(hit.at_ms), hit.tab)}
                >
                  <span class="at">{position(player.since(hit.at_ms))}</span>
                  <span class="text">{hit.text}</span>
                </button>
              </li>
            ))}
          </ol>
        : null}
    </section>
  );
}

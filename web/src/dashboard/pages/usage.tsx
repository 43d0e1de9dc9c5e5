import { useState } from "preact/hooks";
import { usage } from "../api/calls";
import { Failure, Time, Title } from "../parts/pieces";
import { useResource } from "../parts/resource";
import { count } from "../parts/time";
import { to } from "../route";

const dayOf = (date: Date) => `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, "0")}-${String(date.getDate()).padStart(2, "0")}`;

/** Days are the person's own; the daemon is asked in UTC. */
const start = (day: string) => new Date(`${day}T00:00:00`).toISOString();
const end = (day: string) => {
  const date = new Date(`${day}T00:00:00`);
  date.setDate(date.getDate() + 1);
  return date.toISOString();
};

export function UsagePage() {
  const today = new Date();
  const [from, setFrom] = useState(dayOf(new Date(today.getFullYear(), today.getMonth(), 1)));
  const [until, setUntil] = useState(dayOf(today));
  const used = useResource(`usage ${from} ${until}`, (stop) => usage(start(from), end(until), stop));
  const shown = used.value;
  const quota = shown?.quota;
  return (
    <>
      <Title>Usage</Title>
      <form class="search" aria-label="Days" onSubmit={(event) => event.preventDefault()}>
        <label class="day">From <input type="date" value={from} max={until} required onChange={(e) => e.currentTarget.value && setFrom(e.currentTarget.value)} /></label>
        <label class="day">to <input type="date" value={until} min={from} required onChange={(e) => e.currentTarget.value && setUntil(e.currentTarget.value)} /></label>
      </form>
      <Failure text={used.error} />
      {shown
        ? <>
            <p class="big">
              {count(shown.browser_minutes, "browser minute")}
            </p>
            {quota
              ? <div>
                  <meter aria-labelledby="quota" min={0} max={quota.browser_minutes} high={quota.browser_minutes * 0.9} value={quota.used} />
                  <p class="quiet" id="quota">{quota.used} of {quota.browser_minutes} minutes of this month are used.</p>
                </div>
              : null}
            {shown.sessions.length
              ? <div class="table-box" tabIndex={0} role="region" aria-label="Sessions">
                  <table>
                    <thead><tr><th scope="col">Started</th><th scope="col">Ended</th><th scope="col">Minutes</th><th scope="col">Sandbox</th><th scope="col">Recording</th></tr></thead>
                    <tbody>
                      {shown.sessions.map((one) => (
                        <tr key={`${one.sandbox_id} ${one.started_at}`}>
                          <td><Time at={one.started_at} /></td>
                          <td>{one.ended_at ? <Time at={one.ended_at} /> : "running"}</td>
                          <td class="number">{one.minutes}</td>
                          <td><a href={to.sandbox(one.sandbox_id)}>{one.sandbox_id}</a></td>
                          <td>{one.recording_id ? <a href={to.recording(one.recording_id)}>Play<span class="only-read"> recording {one.recording_id}</span></a> : "none"}</td>
                        </tr>
                      ))}
                    </tbody>
                  </table>
                </div>
              : <p class="empty">No browser ran in these days.</p>}
          </>
        : used.error ? null : <p class="quiet" role="status">Reading…</p>}
    </>
  );
}

// The daemon's operations that the pages use.
import { call } from "./client";
import type {
  CardAnswer,
  Hit,
  LogPage,
  Me,
  NewRun,
  NewSandbox,
  NewTicket,
  RecordedEvent,
  Recording,
  Refusals,
  Run,
  RunList,
  Sandbox,
  SandboxList,
  Settings,
  StartBrowser,
  Ticket,
  Usage,
} from "./types";

const at = (id: string) => `/v1/sandboxes/${encodeURIComponent(id)}`;

function query(values: Record<string, string | number | undefined>): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) {
    if (value !== undefined && value !== "") search.set(key, String(value));
  }
  const text = search.toString();
  return text ? `?${text}` : "";
}

export const signIn = (code: string) => call<Me>("POST", "/v1/login", { code });
export const whoAmI = () => call<Me>("GET", "/v1/me");
export const signOut = () => call<void>("POST", "/v1/logout");

export const sandboxes = (stop?: AbortSignal) => call<SandboxList>("GET", "/v1/sandboxes", undefined, stop);
export const createSandbox = (sandbox: NewSandbox) => call<Sandbox>("POST", "/v1/sandboxes", sandbox);
export const sandbox = (id: string, stop?: AbortSignal) => call<Sandbox>("GET", at(id), undefined, stop);
export const deleteSandbox = (id: string) => call<void>("DELETE", at(id));
export const logs = (id: string, after: number, stop?: AbortSignal) =>
  call<LogPage>("GET", `${at(id)}/logs${query({ after })}`, undefined, stop);

export const startBrowser = (id: string, start: StartBrowser) =>
  call<unknown>("POST", `${at(id)}/browser`, start);
export const stopBrowser = (id: string) => call<unknown>("DELETE", `${at(id)}/browser`);
export const refusals = (id: string, stop?: AbortSignal) =>
  call<Refusals>("GET", `${at(id)}/browser/refusals`, undefined, stop);
export const ticket = (id: string, mode: "view" | "control") =>
  call<Ticket>("POST", `${at(id)}/browser/tickets`, { mode } satisfies NewTicket);
export const signIns = (id: string) => call<unknown>("GET", `${at(id)}/storage-state`);
export const keepSignIns = (id: string, state: unknown) => call<void>("PUT", `${at(id)}/storage-state`, state);
export const forgetSignIns = (id: string) => call<void>("DELETE", `${at(id)}/storage-state`);
export const answerCard = (id: string, card: string, answer: CardAnswer) =>
  call<void>("POST", `${at(id)}/cards/${encodeURIComponent(card)}`, { answer });
/** From the oldest event that is kept, so that a page that is opened late shows the steps before. */
export const eventsAddress = (id: string) => `${at(id)}/events?after=0`;

export const runs = (sandbox?: string, stop?: AbortSignal) =>
  call<RunList>("GET", `/v1/runs${query({ sandbox })}`, undefined, stop);
export const run = (id: string, stop?: AbortSignal) =>
  call<Run>("GET", `/v1/runs/${encodeURIComponent(id)}`, undefined, stop);
export const startRun = (id: string, task: string, level?: string) =>
  call<Run>("POST", `${at(id)}/runs`, (level ? { task, level } : { task }) satisfies NewRun);
export const stopRun = (id: string) => call<void>("POST", `/v1/runs/${encodeURIComponent(id)}/stop`);

export const recordings = (about: { sandbox?: string; q?: string; before?: string }, stop?: AbortSignal) =>
  call<{ recordings: Recording[]; next?: string | null }>("GET", `/v1/recordings${query(about)}`, undefined, stop);
export const recording = (id: string, stop?: AbortSignal) =>
  call<Recording>("GET", `/v1/recordings/${encodeURIComponent(id)}`, undefined, stop);
export const recordedEvents = (id: string, after: number, limit: number, stop?: AbortSignal) =>
  call<{ events: RecordedEvent[]; next?: number | null }>(
    "GET",
    `/v1/recordings/${encodeURIComponent(id)}/events${query({ after, limit })}`,
    undefined,
    stop,
  );
export const searchRecording = (id: string, q: string, stop?: AbortSignal) =>
  call<{ hits: Hit[] }>("GET", `/v1/recordings/${encodeURIComponent(id)}/search${query({ q })}`, undefined, stop);
export const deleteRecording = (id: string) => call<void>("DELETE", `/v1/recordings/${encodeURIComponent(id)}`);
export const exportAddress = (id: string) => `/v1/recordings/${encodeURIComponent(id)}/export`;
export const frameAddress = (id: string, seq: number) => `/v1/recordings/${encodeURIComponent(id)}/frames/${seq}`;

export const usage = (from: string, to: string, stop?: AbortSignal) =>
  call<Usage>("GET", `/v1/usage${query({ from, to })}`, undefined, stop);
export const settings = (stop?: AbortSignal) => call<Settings>("GET", "/v1/settings", undefined, stop);
export const keepSettings = (value: Partial<Settings>) => call<Settings>("PUT", "/v1/settings", value);

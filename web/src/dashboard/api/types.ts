// What the daemon answers.

export interface Me {
  csrf: string;
  tenant: string;
  name: string;
  scopes: Scope[];
}

export type Scope = "read" | "act" | "take_over" | "manage" | "metrics";
export type BrowserMode = "headless" | "headed";
export type Capability = "testing" | "vision" | "pdf";

export interface Browser {
  mode: BrowserMode;
  status: "starting" | "running" | "stopped" | "failed";
  started_at: string;
  server_key?: string | null;
  live_url?: string | null;
  recording_id?: string | null;
  stop_at?: string | null;
  ended_at?: string | null;
  reason?: string | null;
  error?: string | null;
}

export interface Sandbox {
  id: string;
  name: string;
  app_url: string;
  status: "booting" | "ready" | "failed" | "expired";
  created_at: string;
  expires_at: string;
  guarded: boolean;
  command?: string | null;
  ready_url?: string | null;
  error?: string | null;
  browser: Browser | null;
}

export interface SandboxList {
  sandboxes: Sandbox[];
  browser_modes: BrowserMode[];
}

export interface NewSandbox {
  app_url?: string;
  guarded?: boolean;
  name?: string;
  expires_in_s?: number;
  command?: string;
  cwd?: string;
  ready_url?: string;
}

export interface StartBrowser {
  mode?: BrowserMode;
  capabilities?: Capability[];
  record?: { rrweb: boolean; frames: boolean; console: boolean };
  level?: string;
}

export interface LogLine {
  n: number;
  at: string;
  stream: string;
  text: string;
}

export interface Refusal {
  at: string;
  host: string;
  port?: number | null;
  reason: string;
  count: number;
}

export interface Ticket {
  ticket: string;
  mode: "view" | "control";
  expires_at: string;
  url: string;
}

export type StepOutcome = "running" | "completed" | "refused" | "unknown" | "error";

export interface Step {
  id: number;
  run_id?: string | null;
  tool: string;
  label: string;
  outcome: StepOutcome;
  started_at: string;
  ms?: number | null;
  detail?: string | null;
  error?: string | null;
}

export interface Card {
  id: string;
  title: string;
  lines: string[];
  offers_always: boolean;
  expires_at?: string | null;
}

export type CardAnswer = "allow" | "always" | "deny" | "stop";

export interface Run {
  id: string;
  sandbox_id: string;
  task: string;
  status: string;
  started_at: string;
  ended_at?: string | null;
  answer?: string | null;
  error?: string | null;
  tokens?: number | null;
  cost_usd?: number | null;
  steps?: Step[];
}

export interface Recording {
  id: string;
  sandbox_id: string;
  app_url: string;
  started_at: string;
  ended_at?: string | null;
  status: "recording" | "complete" | "cut_short";
  end_reason?: string | null;
  events: number;
  bytes: number;
  duration_ms: number;
  kinds: string[];
}

export interface RecordedEvent {
  seq: number;
  at_ms: number;
  tab: string;
  kind: string;
  data: unknown;
}

export interface Hit {
  seq: number;
  at_ms: number;
  tab: string;
  text: string;
}

export interface Usage {
  tenant: string;
  browser_minutes: number;
  sessions: UsedSession[];
  /** Of the calendar month. */
  quota?: { browser_minutes: number; used: number } | null;
}

export interface UsedSession {
  sandbox_id: string;
  recording_id?: string | null;
  started_at: string;
  ended_at?: string | null;
  minutes: number;
}

export interface SiteRule {
  pattern: string;
  rule: string;
}

export interface Provider {
  name: string;
  address: string;
  model?: string | null;
  has_key: boolean;
}

export interface Settings {
  level: string;
  levels: string[];
  site_rules: SiteRule[];
  providers: Provider[];
}

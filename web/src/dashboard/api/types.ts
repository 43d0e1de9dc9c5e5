// What the daemon says and hears. Most of it comes from its own document (schema.ts).
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Me = Schemas["Me"];
export type BrowserMode = Schemas["Mode"];
export type Browser = Schemas["BrowserShape"];
export type Sandbox = Schemas["SandboxShape"];
export type SandboxList = Schemas["Sandboxes"];
export type NewSandbox = Schemas["NewSandbox"];
export type StartBrowser = Schemas["StartBrowser"];
export type LogPage = Schemas["LogPage"];
export type LogLine = Schemas["LogLine"];
export type Refusals = Schemas["Refusals"];
export type Ticket = Schemas["Ticket"];
export type NewTicket = Schemas["NewTicket"];
export type Step = Schemas["Step"];
export type CardAnswer = Schemas["Word"];
export type Run = Schemas["RunShape"];
export type NewRun = Schemas["NewRun"];
export type RunList = Schemas["RunList"];
export type Usage = Schemas["UsageShape"];

/** A question of the guard, as the stream of events brings it. */
export interface Card {
  id: string;
  title: string;
  lines: string[];
  offers_always: boolean;
  expires_at?: string | null;
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

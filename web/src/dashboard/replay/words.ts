// Rows of the timeline: what was done, logged and loaded, in words.
import type { RecordedEvent } from "../api/types";

export interface Entry {
  seq: number;
  at_ms: number;
  tab: string;
  group: "action" | "console" | "network" | "page" | "person";
  text: string;
  bad: boolean;
}

export const GROUPS: [Entry["group"], string][] = [
  ["action", "Actions"],
  ["person", "Takeover"],
  ["page", "Pages"],
  ["console", "Console"],
  ["network", "Network"],
];

const text = (value: unknown): string => (typeof value === "string" || typeof value === "number" ? String(value) : "");

const spaced = (value: unknown): string => text(value).replace(/_/g, " ");

const WHAT: Record<string, string> = {
  page_opened: "opened",
  page_navigated: "went to",
  page_closed: "closed",
  gap: "missing:",
  cut_short: "cut short:",
  takeover_started: "took over",
  takeover_ended: "no longer drives",
};

/** A row for an event, or nothing for what the picture itself shows. */
export function entry(event: RecordedEvent): Entry | null {
  const data = (typeof event.data === "object" && event.data !== null ? event.data : {}) as Record<string, unknown>;
  const make = (group: Entry["group"], parts: unknown[], bad = false): Entry => ({
    seq: event.seq,
    at_ms: event.at_ms,
    tab: event.tab,
    group,
    text: parts.map(text).filter(Boolean).join(" ") || event.kind,
    bad,
  });
  const outcome = text(data["outcome"]);
  switch (event.kind) {
    case "action":
      return make(
        "action",
        [data["label"] ?? data["tool"], outcome && outcome !== "completed" ? `(${outcome})` : "", data["error"]],
        ["refused", "unknown", "error"].includes(outcome),
      );
    case "console":
      return make("console", [data["text"]], data["level"] === "error");
    case "network": {
      const status = Number(data["status"] ?? 0);
      return make("network", [data["method"], data["status"] ?? data["error"], data["url"]], status >= 400 || !!data["error"]);
    }
    case "marker":
      return make("page", [WHAT[text(data["what"])] ?? data["what"], data["url"] ?? data["text"]], data["what"] === "cut_short");
    case "takeover":
      return make("person", [data["who"], WHAT[text(data["what"])] ?? data["what"], data["why"] ? `(${spaced(data["why"])})` : ""]);
    default:
      return null;
  }
}

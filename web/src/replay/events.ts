// Events as a recording keeps them (crates/reins-record/src/event.rs).

import type { eventWithTime } from "@rrweb/types";

export interface Stored {
  seq: number;
  at_ms: number;
  tab: string;
  kind: string;
  data: unknown;
}

export interface Dom {
  frame: string;
  document: string;
  event: eventWithTime;
}

export interface Placed {
  document: string;
  within: string;
  node: number;
}

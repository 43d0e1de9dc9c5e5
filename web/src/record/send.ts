// How events leave the page: in batches, by a binding that exists in this world only.

import type { eventWithTime } from "@rrweb/types";
import { later } from "./later";
import { scrub } from "./typed";

/** A batch leaves after this long (S-X13). */
const FLUSH_MS = 250;
/** Or with this many events (S-X13). */
const FLUSH_EVENTS = 50;
/** Most of what one message carries, in UTF-16 units; UTF-8 has at most three bytes for each (S-X13: 8 MiB). */
const LARGEST = Math.floor((8 << 20) / 3);

declare global {
  // eslint-disable-next-line no-var
  var __reins_record: ((payload: string) => void) | undefined;
}

let waiting: string[] = [];
let size = 0;
let due = false;

export function flush(): void {
  if (waiting.length === 0) return;
  const batch = `{"events":[${waiting.join(",")}]}`;
  waiting = [];
  size = 0;
  globalThis.__reins_record?.(batch);
}

/** Says something beside events. */
export function tell(what: object): void {
  flush();
  globalThis.__reins_record?.(JSON.stringify(what));
}

export function send(event: eventWithTime): void {
  const text = scrub(JSON.stringify(event));
  if (text.length > LARGEST) {
    tell({ too_large: text.length });
    return;
  }
  if (size + text.length > LARGEST) flush();
  waiting.push(text);
  size += text.length + 1;
  if (waiting.length >= FLUSH_EVENTS) flush();
  else if (!due) {
    due = true;
    later(() => {
      due = false;
      flush();
    }, FLUSH_MS);
  }
}

// How events leave the page: in batches, by a binding that exists in this world only.

import type { eventWithTime } from "@rrweb/types";
import { later } from "./later";
import { scrub } from "./typed";

/** A batch leaves after this long (S-X13). */
const FLUSH_MS = 250;
/** Or with this many events (S-X13). */
const FLUSH_EVENTS = 50;
/** Most of what one message carries, in bytes (S-X13). */
const LARGEST = 8 << 20;

declare global {
  // eslint-disable-next-line no-var
  var __reins_record: ((payload: string) => void) | undefined;
}

let waiting: string[] = [];
let size = 0;
let due = false;

/** A unit of UTF-16 has at most three bytes in UTF-8, so most texts need not be measured. */
function bytesOf(text: string): number {
  return text.length * 3 <= LARGEST ? text.length : new TextEncoder().encode(text).length;
}

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
  const bytes = bytesOf(text);
  if (bytes > LARGEST) {
    tell({ too_large: bytes });
    return;
  }
  if (size + bytes > LARGEST) flush();
  waiting.push(text);
  size += bytes + 1;
  if (waiting.length >= FLUSH_EVENTS) flush();
  else if (!due) {
    due = true;
    later(() => {
      due = false;
      flush();
    }, FLUSH_MS);
  }
}

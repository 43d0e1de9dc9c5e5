// The recording's events, and the sandboxed frame that shows them. The frame can neither load anything nor reach this page:
// it gets data by message and answers with the time.
import { signal } from "@preact/signals";
import { recordedEvents } from "../api/calls";
import { told } from "../api/client";
import type { RecordedEvent } from "../api/types";
import { type Entry, entry } from "./words";

const BATCH = 1000;
export const SPEEDS = [0.5, 1, 2, 4, 8];

type FromFrame = { type: "ready" } | { type: "time"; at_ms: number } | { type: "end" };

function read(data: unknown): FromFrame | null {
  if (typeof data !== "object" || data === null) return null;
  const { type, at_ms } = data as { type?: unknown; at_ms?: unknown };
  if (type === "ready" || type === "end") return { type };
  return type === "time" && typeof at_ms === "number" ? { type, at_ms } : null;
}

export class Player {
  readonly entries = signal<Entry[]>([]);
  readonly tabs = signal<string[]>([]);
  readonly tab = signal<string | null>(null);
  readonly atMs = signal(0);
  readonly lengthMs = signal(0);
  readonly playing = signal(false);
  readonly speed = signal(1);
  readonly loading = signal(true);
  readonly error = signal<string | null>(null);
  /** Numbers of the pictures, with their times. */
  readonly frames = signal<{ seq: number; at_ms: number }[]>([]);

  #shown = new Map<string, RecordedEvent[]>();
  #frame: HTMLIFrameElement | null = null;
  #ready = false;
  #stop = new AbortController();

  constructor(private readonly id: string) {}

  start(): void {
    addEventListener("message", this.#hear, { signal: this.#stop.signal });
    void this.#load();
  }

  end(): void {
    this.#stop.abort();
  }

  /** A frame that is ready gets all that was read so far. */
  show(frame: HTMLIFrameElement | null): void {
    if (frame !== this.#frame) this.#ready = false;
    this.#frame = frame;
  }

  choose(tab: string): void {
    this.tab.value = tab;
    this.playing.value = false;
  }

  seek(at_ms: number): void {
    this.atMs.value = Math.max(0, Math.min(at_ms, this.lengthMs.peek()));
    this.#post({ type: "seek", at_ms: this.atMs.peek() });
  }

  toggle(): void {
    if (!this.playing.value && this.atMs.value >= this.lengthMs.value) this.seek(0);
    this.playing.value = !this.playing.value;
    this.#post({ type: this.playing.value ? "play" : "pause", speed: this.speed.value });
  }

  faster(speed: number): void {
    this.speed.value = speed;
    this.#post({ type: this.playing.value ? "play" : "pause", speed });
  }

  #hear = (event: MessageEvent<unknown>) => {
    if (!this.#frame || event.source !== this.#frame.contentWindow) return;
    const message = read(event.data);
    switch (message?.type) {
      case "ready":
        this.#ready = true;
        this.#post({ type: "events", events: this.#shown.get(this.tab.peek() ?? "") ?? [] });
        this.#post({ type: "seek", at_ms: this.atMs.peek() });
        break;
      case "time":
        if (this.playing.peek()) this.atMs.value = message.at_ms;
        break;
      case "end":
        this.playing.value = false;
        this.atMs.value = this.lengthMs.peek();
        break;
      case undefined:
        break;
    }
  };

  #post(message: unknown): void {
    // The frame's origin is opaque, so that it cannot be named; what it gets is only this recording.
    if (this.#ready) this.#frame?.contentWindow?.postMessage(message, "*");
  }

  async #load(): Promise<void> {
    let after = 0;
    try {
      for (;;) {
        const answer = await recordedEvents(this.id, after, BATCH, this.#stop.signal);
        this.#take(answer.events);
        if (answer.next === undefined || answer.next === null || answer.next <= after) break;
        after = answer.next;
      }
    } catch (cause) {
      if (!this.#stop.signal.aborted) this.error.value = told(cause);
    }
    this.loading.value = false;
  }

  #take(events: RecordedEvent[]): void {
    const rows: Entry[] = [];
    const frames: { seq: number; at_ms: number }[] = [];
    const fresh = new Map<string, RecordedEvent[]>();
    for (const event of events) {
      if (event.kind === "rrweb") {
        const list = fresh.get(event.tab);
        if (list) list.push(event);
        else fresh.set(event.tab, [event]);
      } else if (event.kind === "frame") frames.push({ seq: event.seq, at_ms: event.at_ms });
      const row = entry(event);
      if (row) rows.push(row);
    }
    for (const [tab, list] of fresh) {
      const known = this.#shown.get(tab);
      if (known) known.push(...list);
      else this.#shown.set(tab, [...list]);
      if (tab === this.tab.peek()) this.#post({ type: "events", events: list });
    }
    if (this.tab.peek() === null) this.tab.value = this.#shown.keys().next().value ?? null;
    this.tabs.value = [...this.#shown.keys()];
    this.entries.value = [...this.entries.peek(), ...rows];
    this.frames.value = [...this.frames.peek(), ...frames];
    this.lengthMs.value = Math.max(this.lengthMs.peek(), events.at(-1)?.at_ms ?? 0);
  }
}

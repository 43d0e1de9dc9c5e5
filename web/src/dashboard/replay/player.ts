// The recording's events, and the frame that shows them. The frame runs one script of ours and loads nothing; it gets data by
// message and answers with the time.
import { signal } from "@preact/signals";
import { recordedEvents } from "../api/calls";
import { told } from "../api/client";
import type { RecordedEvent } from "../api/types";
import { type Entry, entry } from "./words";

const BATCH = 1000;
export const SPEEDS = [0.5, 1, 2, 4, 8];

type FromFrame =
  | { type: "ready" }
  | { type: "time"; at_ms: number }
  | { type: "tabs"; tabs: string[]; tab: string }
  | { type: "end" };

function read(data: unknown): FromFrame | null {
  if (typeof data !== "object" || data === null) return null;
  const { type, at_ms, tabs, tab } = data as { type?: unknown; at_ms?: unknown; tabs?: unknown; tab?: unknown };
  if (type === "ready" || type === "end") return { type };
  if (type === "time" && typeof at_ms === "number") return { type, at_ms };
  if (type === "tabs" && Array.isArray(tabs)) return { type, tabs: tabs.map(String), tab: String(tab) };
  return null;
}

/** Times here count from the recording's begin; those of events and messages are the clock's. */
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
  /** Whether what pages showed was recorded. */
  readonly pages = signal(false);
  /** Pictures of the screen, by number and time. */
  readonly pictures = signal<{ seq: number; at_ms: number }[]>([]);

  #shown: RecordedEvent[] = [];
  #frame: HTMLIFrameElement | null = null;
  #ready = false;
  #stop = new AbortController();

  constructor(
    private readonly id: string,
    private readonly begin: number,
  ) {}

  start(): void {
    addEventListener("message", this.#hear, { signal: this.#stop.signal });
    void this.#load();
  }

  end(): void {
    this.#stop.abort();
  }

  /** The frame that shows; when it says that it is ready it gets all that was read so far. */
  show(frame: HTMLIFrameElement | null): void {
    this.#ready = false;
    this.#frame = frame;
  }

  choose(tab: string): void {
    this.tab.value = tab;
    this.#post({ type: "tab", tab });
  }

  seek(at_ms: number): void {
    this.atMs.value = Math.max(0, Math.min(at_ms, this.lengthMs.peek()));
    this.#post({ type: "seek", at_ms: this.begin + this.atMs.peek() });
  }

  /** Goes to something that happened in a tab. */
  visit(at_ms: number, tab: string): void {
    if (this.tabs.peek().includes(tab) && tab !== this.tab.peek()) this.choose(tab);
    this.seek(at_ms);
  }

  toggle(): void {
    if (!this.playing.value && this.atMs.value >= this.lengthMs.value) this.seek(0);
    this.playing.value = !this.playing.value;
    this.#go();
  }

  faster(speed: number): void {
    this.speed.value = speed;
    if (this.playing.value) this.#go();
  }

  since(at_ms: number): number {
    return Math.max(0, at_ms - this.begin);
  }

  #go(): void {
    this.#post(this.playing.value ? { type: "play", speed: this.speed.value } : { type: "pause" });
  }

  #hear = (event: MessageEvent<unknown>) => {
    if (!this.#frame || event.source !== this.#frame.contentWindow) return;
    const message = read(event.data);
    switch (message?.type) {
      case "ready":
        this.#ready = true;
        this.#post({ type: "events", events: this.#shown });
        this.#post({ type: "seek", at_ms: this.begin + this.atMs.peek() });
        break;
      case "time":
        if (this.playing.peek()) this.atMs.value = Math.min(this.since(message.at_ms), this.lengthMs.peek());
        break;
      case "tabs":
        this.tabs.value = message.tabs;
        this.tab.value = message.tab;
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
    if (this.#ready) this.#frame?.contentWindow?.postMessage(message, location.origin);
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
    const shown = events.filter((event) => event.kind === "rrweb" || event.kind === "placed");
    if (shown.length) {
      this.#shown.push(...shown);
      this.pages.value = true;
      this.#post({ type: "events", events: shown });
    }
    const rows = events.map((event) => entry({ ...event, at_ms: this.since(event.at_ms) })).filter((row) => row !== null);
    const pictures = events.filter((event) => event.kind === "frame");
    if (rows.length) this.entries.value = [...this.entries.peek(), ...rows];
    if (pictures.length) {
      const added = pictures.map((event) => ({ seq: event.seq, at_ms: this.since(event.at_ms) }));
      this.pictures.value = [...this.pictures.peek(), ...added];
    }
    this.lengthMs.value = Math.max(this.lengthMs.peek(), ...events.slice(-1).map((event) => this.since(event.at_ms)));
  }
}

// One viewer's connection: tickets, the newest frame, who drives, and coming back after a break.
import { signal } from "@preact/signals";
import { ticket } from "../api/calls";
import { ApiError, told } from "../api/client";
import { type Driver, type FrameAbout, type FromViewer, type Input, type Welcome, read } from "./wire";

export type Watching =
  | { state: "off" }
  | { state: "connecting"; again: boolean }
  | { state: "on" }
  | { state: "lost"; why: string };

/** Waits between attempts; the last one repeats. */
const WAITS_MS = [250, 1000, 2000, 4000, 8000];

/** Codes after which coming back would fail the same way. */
const FINAL: Record<number, string> = {
  4429: "Too many viewers are watching this browser, or this one sent too much.",
};

export class LiveView {
  readonly watching = signal<Watching>({ state: "off" });
  readonly driver = signal<Driver | null>(null);
  readonly about = signal<FrameAbout | null>(null);
  readonly waiting = signal<{ tool: string; since: string } | null>(null);
  readonly notice = signal<string | null>(null);
  /** The connection broke while this page drove; within the grace it can go on. */
  readonly mayContinue = signal(false);

  #socket: WebSocket | null = null;
  #wanted = false;
  #attempt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pending: FrameAbout | null = null;
  #decoding = false;
  #next: { jpeg: Blob; about: FrameAbout } | null = null;

  constructor(
    private readonly sandbox: string,
    private readonly paint: (picture: ImageBitmap) => void,
  ) {}

  watch(): void {
    this.#wanted = true;
    this.#attempt = 0;
    void this.#connect();
  }

  /** Stops watching. Whoever drives hands back first. */
  stop(): void {
    this.#wanted = false;
    clearTimeout(this.#timer);
    if (this.driver.value?.you) this.#send({ type: "hand_back" });
    this.#drop();
    this.mayContinue.value = false;
    this.watching.value = { state: "off" };
  }

  async takeOver(): Promise<void> {
    this.notice.value = null;
    try {
      const control = await ticket(this.sandbox, "control");
      this.#send({ type: "take_over", ticket: control.ticket });
    } catch (cause) {
      this.notice.value = told(cause);
    }
  }

  handBack(): void {
    this.#send({ type: "hand_back" });
  }

  copy(): void {
    this.#send({ type: "copy" });
  }

  input(input: Input): void {
    if (this.driver.peek()?.you) this.#send({ type: "input", input });
  }

  #send(message: FromViewer): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  async #connect(): Promise<void> {
    this.watching.value = { state: "connecting", again: this.#attempt > 0 };
    let view: { ticket: string; url: string };
    try {
      view = await ticket(this.sandbox, "view");
    } catch (cause) {
      // 409 and other answers are final until the browser is started again; silence is not.
      if (cause instanceof ApiError && cause.status > 0) this.#give(told(cause));
      else this.#later();
      return;
    }
    if (!this.#wanted) return;
    const socket = new WebSocket(view.url.replace(/^http/, "ws"));
    socket.binaryType = "blob";
    this.#socket = socket;
    socket.onopen = () => socket.send(JSON.stringify({ type: "ticket", ticket: view.ticket } satisfies FromViewer));
    socket.onmessage = (event: MessageEvent<string | Blob>) => {
      if (socket === this.#socket) this.#take(event.data);
    };
    socket.onclose = (event) => {
      if (socket !== this.#socket) return;
      const drove = this.driver.value?.you === true;
      this.#drop();
      this.mayContinue.value ||= drove;
      if (!this.#wanted) return;
      const final = FINAL[event.code];
      if (final) this.#give(event.reason || final);
      else this.#later();
    };
  }

  #take(data: string | Blob): void {
    if (typeof data !== "string") {
      if (this.#pending) this.#frame(data, this.#pending);
      this.#pending = null;
      return;
    }
    const message = read(data);
    switch (message?.type) {
      case "welcome":
        this.#welcome(message);
        break;
      case "frame_about":
        this.#pending = message;
        break;
      case "driver":
        this.driver.value = message.driver;
        if (message.driver) this.mayContinue.value = false;
        break;
      case "waiting":
        this.waiting.value = { tool: message.tool, since: message.since };
        break;
      case "waiting_over":
        this.waiting.value = null;
        break;
      case "copied":
        navigator.clipboard.writeText(message.text).catch(() => {
          this.notice.value = "Your browser did not let the text into the clipboard.";
        });
        break;
      case "files_wanted":
        this.notice.value = "The page asks for a file. The live view cannot give it one; let the agent upload it.";
        break;
      case "refused":
        this.notice.value = message.why;
        break;
      case undefined:
        break;
    }
  }

  #welcome(message: Welcome): void {
    this.#attempt = 0;
    this.watching.value = { state: "on" };
    this.driver.value = message.driver;
    if (message.driver?.you) this.mayContinue.value = false;
  }

  /** Decodes one picture at a time; of those that come meanwhile only the newest is painted. */
  #frame(jpeg: Blob, about: FrameAbout): void {
    this.#next = { jpeg, about };
    if (this.#decoding) return;
    this.#decoding = true;
    void (async () => {
      while (this.#next) {
        const { jpeg, about } = this.#next;
        this.#next = null;
        try {
          const picture = await createImageBitmap(jpeg);
          this.paint(picture);
          picture.close();
          this.about.value = about;
        } catch {
          // A picture that cannot be decoded is followed by the next one.
        }
      }
      this.#decoding = false;
    })();
  }

  #later(): void {
    if (!this.#wanted) return;
    const wait = WAITS_MS[Math.min(this.#attempt, WAITS_MS.length - 1)];
    this.#attempt += 1;
    this.watching.value = { state: "connecting", again: true };
    this.#timer = setTimeout(() => void this.#connect(), wait);
  }

  #give(why: string): void {
    this.#wanted = false;
    this.watching.value = { state: "lost", why };
  }

  #drop(): void {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
    this.driver.value = null;
    this.waiting.value = null;
    this.#pending = null;
  }
}

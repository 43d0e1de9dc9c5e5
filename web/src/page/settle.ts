// When a page has come to rest, judged by what it does: frames and mutations, never a fixed time.
import { type Asked, asked, onFrame, onTimer } from "./asked";
import { rootOf } from "./nodes";

/** A page that keeps changing is called busy after this many frames. */
const FRAMES = 12;

/** A tab that paints nothing gets no frames; then a timer stands for them. */
const NO_FRAME_MS = 100;

const channel = new MessageChannel();
const waiting: (() => void)[] = [];
channel.port1.onmessage = () => waiting.shift()?.();

/** Runs when the current task and its microtasks are over. */
function afterTask(then: () => void): void {
  waiting.push(then);
  channel.port2.postMessage(0);
}

/** Runs after the next frame's callbacks. A frame out of sight gets none; then a timer does it. */
export function afterFrame(then: () => void): void {
  let done = false;
  const once = () => {
    if (done) return;
    done = true;
    clearTimeout(timer);
    afterTask(then);
  };
  const timer = onTimer(once, NO_FRAME_MS);
  onFrame(once);
}

/** Where a page's own tasks never end, no frame is waited for longer than this instead. */
const ONE_FRAME_MS = 33;

interface Scheduler {
  postTask(task: () => void, options: { priority: "background" }): Promise<void>;
}

/** Runs when nothing else is waiting to be run: tasks that a page splits its work into go first. */
function afterEverything(then: () => void): void {
  const { scheduler } = globalThis as { scheduler?: Scheduler };
  let done = false;
  const once = () => {
    if (done) return;
    done = true;
    clearTimeout(timer);
    then();
  };
  const timer = onTimer(once, ONE_FRAME_MS);
  if (scheduler) void scheduler.postTask(once, { priority: "background" });
  else afterTask(once);
}

/** A list that was just emptied is filled again within this, or stays empty. */
const FILLING_MS = 150;

/** What handlers left unfinished by its own signs: parts marked busy, lists emptied to be filled. */
class Unfinished {
  private readonly busy = new Set<Element>();
  private emptied = false;
  private lastChange = 0;

  note(records: readonly MutationRecord[]): void {
    if (!records.some(matters)) return;
    this.lastChange = performance.now();
    for (const record of records) {
      if (record.type === "attributes") {
        if (record.attributeName === "aria-busy") this.busy.add(record.target as Element);
      } else if (record.type === "childList") {
        this.children(record);
      }
    }
  }

  private children({ addedNodes, removedNodes, target }: MutationRecord): void {
    for (const added of addedNodes) {
      if (added instanceof Element) {
        if (added.hasAttribute("aria-busy")) this.busy.add(added);
        for (const part of added.querySelectorAll("[aria-busy=true]")) this.busy.add(part);
      }
    }
    if (!(target instanceof Element) || target.childElementCount > 0) return;
    for (const removed of removedNodes) this.emptied ||= removed instanceof Element;
  }

  open(): boolean {
    for (const part of this.busy) {
      if (!part.isConnected || part.getAttribute("aria-busy") !== "true") this.busy.delete(part);
    }
    if (this.busy.size > 0) return true;
    this.emptied &&= performance.now() - this.lastChange < FILLING_MS;
    return this.emptied;
  }
}

export interface Quiet {
  /** Whether a part of the page says by itself that it is not done. */
  open(): boolean;
  /**
   * Calls `ended` when the current task is over, and `then` once no frame brings anything new,
   * with: changed at all, still changing.
   */
  after(ended: () => void, then: (changed: boolean, busy: boolean) => void): void;
  /** Whether anything changed so far. */
  changed(): boolean;
  stop(): void;
}

/** Script-driven movement sets these all the time; nothing that is read changes by it. */
function matters(record: MutationRecord): boolean {
  return record.type !== "attributes" || (record.attributeName !== "style" && record.attributeName !== "class");
}

/** Whether nothing but text changed: no frame brings more of that, as it may of elements, classes and styles. */
function textOnly(record: MutationRecord): boolean {
  if (record.type !== "childList") return record.type === "characterData";
  const isText = (node: Node) => !(node instanceof Element);
  return [...record.addedNodes].every(isText) && [...record.removedNodes].every(isText);
}

/** The frames that the page had asked for when it was last seen at rest. */
let restedAt = 0;

/**
 * Whether the next frame can bring something: the page asked for one since it was last at rest (it may draw all the
 * time), or for a timer since `before`, or something moves.
 */
function frameMatters(before: Asked): boolean {
  const now = asked();
  return now.frames > restedAt || now.timers > before.timers || document.getAnimations().length > 0;
}

/**
 * Watches what changes from now on, around `el` and in the document. `leads`: the page may be about to go elsewhere, and
 * has a frame's time to say so.
 */
export function watchQuiet(el: Element | null, leads: boolean): Quiet {
  let changed = false;
  let late = false;
  let plain = true;
  const before = asked();
  const unfinished = new Unfinished();
  const look = (records: MutationRecord[]) => {
    if (records.length === 0) return;
    changed = true;
    plain &&= records.every(textOnly);
    unfinished.note(records);
    late ||= records.some(matters);
  };
  const observer = new MutationObserver(look);
  const what = { subtree: true, childList: true, characterData: true, attributes: true };
  observer.observe(document, what);
  for (let root = el && rootOf(el); root instanceof ShadowRoot; root = rootOf(root.host)) observer.observe(root, what);
  let stopped = false;
  return {
    after(ended, then) {
      afterTask(() => {
        ended();
        // What the handlers did at once belongs to the act; only what comes later keeps us waiting.
        look(observer.takeRecords());
        let frames = 0;
        const step = () => {
          if (stopped) return;
          look(observer.takeRecords());
          frames += 1;
          if (late && frames < FRAMES) {
            late = false;
            afterFrame(step);
            return;
          }
          restedAt = asked().frames;
          then(changed, late);
        };
        late = false;
        if (leads || !plain || frameMatters(before)) afterFrame(step);
        else afterEverything(step);
      });
    },
    changed() {
      look(observer.takeRecords());
      return changed;
    },
    open() {
      look(observer.takeRecords());
      return unfinished.open();
    },
    stop() {
      stopped = true;
      observer.disconnect();
    },
  };
}

// Growth after the parser is done: what an application renders by itself.
let growing: MutationObserver | null = null;
let lastGrowth = 0;
let bursts = 0;
let longestGap = 0;
/** Whether a frame has come since the document was parsed: what was drawn with it has grown by now. */
let framed = false;

/** Nobody asks later than this after parsing whether the document still grows. */
const COUNTING_MS = 10_000;

/** Mutations closer together than this belong to one burst. */
const BURST_MS = 25;

/** Added in passing, and never read: code, styles, hints to fetch something. */
const UNREAD = new Set(["SCRIPT", "STYLE", "LINK", "META", "TEMPLATE"]);

/** Whether a reader would see it: no code, and no stroke of a drawing. */
function isRead(added: Node): boolean {
  if (!(added instanceof Element) || UNREAD.has(added.tagName)) return false;
  return !(added instanceof SVGElement && added.ownerSVGElement);
}

function grew(records: MutationRecord[]): void {
  for (const record of records) {
    for (const added of record.addedNodes) {
      if (!isRead(added)) continue;
      const now = performance.now();
      const gap = now - lastGrowth;
      if (gap > BURST_MS) {
        bursts += 1;
        // What a busy machine does to timers it does to the next ones too.
        if (bursts > 1) longestGap = Math.max(longestGap, gap);
      }
      lastGrowth = now;
      return;
    }
  }
}

/** Counts elements that are added once the document is parsed. */
export function installGrowth(): void {
  // A tab's own document is the one that is waited for.
  if (window.top !== window) return;
  const start = () => {
    if (growing) return;
    growing = new MutationObserver(grew);
    growing.observe(document, { subtree: true, childList: true });
    onFrame(() => {
      framed = true;
    });
    onTimer(() => {
      growing?.disconnect();
      growing = null;
    }, COUNTING_MS);
  };
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", start, { capture: true, once: true });
  else start();
}

/** How long nothing may have grown: after one burst, and where more than one was seen. */
const ONE_BURST_MS = 50;
const MANY_BURSTS_MS = 150;

/** A page that grows in steps gets twice its longest step so far, up to this. */
const LONGEST_REST_MS = 400;

/**
 * Resolves when the document has stopped growing, at once when it never grew after parsing. `fetched`:
 * it has asked a server for data, so that more may come in steps.
 */
export async function calm(fetched: boolean, capMs: number): Promise<{ calm: boolean; grown: number }> {
  installGrowth();
  const started = performance.now();
  for (let first = true; ; first = false) {
    // A page that draws all the time would only draw once more; code that has just arrived still runs.
    const drawn = first && framed && bursts === 0 && !fetched;
    await new Promise<void>(drawn ? afterEverything : afterFrame);
    if (growing) grew(growing.takeRecords());
    const now = performance.now();
    const steps = Math.min(Math.max(MANY_BURSTS_MS, 2 * longestGap), LONGEST_REST_MS);
    const rest = fetched || bursts > 1 ? steps : bursts === 1 ? ONE_BURST_MS : 0;
    const since = Math.max(lastGrowth, fetched ? started : 0);
    const still = now - since >= rest;
    if (still || now - started > capMs) {
      growing?.disconnect();
      growing = null;
      const grown = bursts;
      bursts = 0;
      longestGap = 0;
      return { calm: still, grown };
    }
  }
}

/** Resolves with true when nothing that was watched is unfinished any more, with false at the cap. */
export async function finished(watch: Quiet, capMs: number): Promise<boolean> {
  const started = performance.now();
  while (watch.open()) {
    if (performance.now() - started > capMs) return false;
    await new Promise<void>(afterFrame);
  }
  return true;
}

/** Watches since a control was set by script, until `settled` has been answered. */
let change: Quiet | null = null;

/** To be called before the events that tell the page of a changed control. */
export function beginChange(el: Element): void {
  change?.stop();
  change = watchQuiet(el, false);
}

/** Resolves after one frame in which nothing that is read changed, or when the cap is reached. */
export function quiet(capMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const watch = change ?? watchQuiet(null, true);
    const end = (still: boolean) => {
      clearTimeout(timer);
      if (watch !== change) watch.stop();
      resolve(still);
    };
    const timer = onTimer(() => end(false), capMs);
    watch.after(
      () => {},
      (_changed, busy) => end(!busy),
    );
  });
}

/** Waits for what a changed control left unfinished; then nothing is watched any more. */
export async function settled(capMs: number): Promise<boolean> {
  if (!change) return true;
  const watch = change;
  const done = await finished(watch, capMs);
  watch.stop();
  if (change === watch) change = null;
  return done;
}

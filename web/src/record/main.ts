// Records one document: every frame for itself, from its own isolated world. The events of a frame are put
// into its parent's element when they are shown.
//
// This much runs before the page does. The recorder itself is not even compiled before the page has loaded:
// a page that is recorded should load as fast as any.

import { later, whenIdle } from "./later";
import { flush } from "./send";
import { watchTyping } from "./typed";

/** A document whose pictures take longer than this after its text is recorded without waiting for them. */
const LOADING_MS = 1_000;
/** The page's own work after its load goes first, for so long. */
const IDLE_MS = 300;
/** A document whose text takes longer than this is recorded as far as it is. */
const READING_MS = 3_000;

type Recorder = typeof import("./document");
let recorder: Recorder | undefined;

function begin(): void {
  if (recorder || !document.documentElement) return;
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  recorder = require("./document") as Recorder;
  recorder.begin(watchLeaving);
}

function soon(): void {
  whenIdle(begin, 0);
  later(begin, IDLE_MS);
}

function leaves(): void {
  begin();
  flush();
}

function watchLeaving(): void {
  addEventListener("pagehide", leaves, true);
  addEventListener("visibilitychange", flush, true);
  // A page that comes back from the cache is another one than was shown last.
  addEventListener("pageshow", comesBack, true);
}

function comesBack(event: PageTransitionEvent): void {
  if (event.persisted) recorder?.picture();
}

// The same names as in the page script, where the same words of the browser's side call them.
const reins = Object.freeze({
  suspects: (): Element[] => recorder?.suspects() ?? [],
  adoptRoots: (...roots: ShadowRoot[]): number => recorder?.adopt(...roots) ?? 0,
  number: (node: Node): number => recorder?.number(node) ?? -1,
  picture: (): void => recorder?.picture(),
});

declare const require: (name: string) => unknown;

const world = globalThis as unknown as { __reins?: typeof reins };
if (!world.__reins) {
  world.__reins = reins;
  watchTyping();
  watchLeaving();
  if (document.readyState === "complete") {
    soon();
  } else {
    addEventListener("load", soon, { once: true });
    addEventListener("DOMContentLoaded", () => later(begin, LOADING_MS), { once: true });
    later(begin, READING_MS);
  }
}

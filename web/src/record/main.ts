// Records one document: every frame for itself, from its own isolated world. The events of a frame are put
// into its parent's element when they are shown.

import { record } from "@rrweb/record";
import { mask } from "./masks";
import { flush, send, tell } from "./send";
import { look, styleRules, suspects } from "./sweep";
import { stars, watchTyping } from "./typed";
import { adoptRoots, fitWorld } from "./world";

/** A document that is still loading after this long is recorded as far as it is. */
const LOADING_MS = 3_000;
/** How often is looked for what no event tells. */
const SWEEP_MS = 1_000;
/** Least time between two full pictures that only styles are the reason for. */
const STYLES_MS = 10_000;
/** A new picture waits this many times what the last one took, so that it never costs more than a part. */
const PICTURE_SHARE = 20;

let recording = false;
let pictured = 0;
let cost = 0;
let rules = 0;

let stop: (() => void) | undefined;

function begin(): void {
  if (recording || !document.documentElement) return;
  recording = true;
  removeEventListener("DOMContentLoaded", begin, true);
  // The recorder would wait for the end of loading, which some documents never reach.
  if (document.readyState === "loading") {
    Object.defineProperty(document, "readyState", { configurable: true, value: "interactive" });
  }
  start();
  new MutationObserver(reopened).observe(document, { childList: true });
  setTimeout(sweep, 0);
  setInterval(sweep, SWEEP_MS);
}

function start(): void {
  const began = performance.now();
  look();
  stop = record({
    emit: (event) => {
      mask(event, record.mirror);
      send(event);
    },
    // Whatever is not text but a value; which of them is masked again, by rules of our own.
    maskInputOptions: { input: true, textarea: true, select: true } as object,
    maskInputFn: (text, field) => stars(text, field),
    slimDOMOptions: { script: true, comment: true, headMetaHttpEquiv: true, headMetaVerification: true },
    sampling: { mousemove: 50, mousemoveCallback: 250, scroll: 150 },
    inlineStylesheet: true,
    recordCanvas: false,
    collectFonts: false,
    inlineImages: false,
    recordCrossOriginIframes: false,
    errorHandler: () => true,
  });
  pictured = performance.now();
  cost = pictured - began;
  rules = styleRules();
  // A short page may be gone before a batch is full.
  setTimeout(flush, 0);
}

/** A page that writes its document anew takes every listener away, and its root is one that nobody knows. */
function reopened(): void {
  if (!document.documentElement || record.mirror.getId(document.documentElement) !== -1) return;
  stop?.();
  watchTyping();
  watchLeaving();
  start();
}

function watchLeaving(): void {
  addEventListener("pagehide", flush, true);
  addEventListener("visibilitychange", flush, true);
  // A page that comes back from the cache is another one than was shown last.
  addEventListener("pageshow", comesBack, true);
}

function comesBack(event: PageTransitionEvent): void {
  if (event.persisted) picture();
}

function sweep(): void {
  if (document.hidden) return;
  const found = look();
  if (found.suspects) tell({ suspects: true });
  const now = performance.now();
  const since = now - pictured;
  if (since < cost * PICTURE_SHARE) return;
  const written = styleRules();
  if (found.roots || (written !== rules && since > STYLES_MS)) {
    rules = written;
    picture();
  }
}

/** A full picture: what the events since the last one did not tell is in it. */
function picture(): void {
  if (!recording) return;
  const began = performance.now();
  record.takeFullSnapshot();
  pictured = performance.now();
  cost = pictured - began;
  flush();
}

// The same names as in the page script, where the same words of the browser's side call them.
const reins = Object.freeze({
  suspects,
  adoptRoots: (...roots: ShadowRoot[]): number => {
    const fresh = adoptRoots(...roots);
    if (fresh > 0) {
      look();
      picture();
    }
    return fresh;
  },
  number: (node: Node): number => record.mirror.getId(node),
  picture,
});

const world = globalThis as unknown as { __reins?: typeof reins };
if (!world.__reins) {
  world.__reins = reins;
  fitWorld();
  watchTyping();
  watchLeaving();
  if (document.readyState === "loading") {
    addEventListener("DOMContentLoaded", begin, true);
    setTimeout(begin, LOADING_MS);
  } else {
    begin();
  }
}

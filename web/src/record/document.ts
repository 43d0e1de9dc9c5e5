// Records one document, once it is time to.

import { record } from "@rrweb/record";
import { later, whenIdle } from "./later";
import { mask } from "./masks";
import { flush, send, tell } from "./send";
import { look, styleRules, suspects } from "./sweep";
import { stars, watchTyping } from "./typed";
import { adoptRoots, fitWorld } from "./world";

/** How often is looked for what no event tells. */
const SWEEP_MS = 1_000;
/** Least time between two full pictures that only styles are the reason for. */
const STYLES_MS = 10_000;
/** A new picture waits this many times what the last one took, so that it never costs more than a part. */
const PICTURE_SHARE = 20;

let pictured = 0;
let cost = 0;
let rules = 0;
/** Something is there that no picture has. */
let owed = false;

let stop: (() => void) | undefined;

/** Begins, and goes on as long as the document is there. `leaving` is called when its listeners were lost. */
export function begin(leaving: () => void): void {
  fitWorld();
  // The recorder would wait for the end of loading, which some documents never reach.
  if (document.readyState === "loading") {
    Object.defineProperty(document, "readyState", { configurable: true, value: "interactive" });
  }
  start();
  new MutationObserver(() => reopened(leaving)).observe(document, { childList: true });
  whenIdle(sweeps, 0);
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
  later(flush, 0);
}

/** A page that writes its document anew takes every listener away, and its root is one that nobody knows. */
function reopened(leaving: () => void): void {
  if (!document.documentElement || record.mirror.getId(document.documentElement) !== -1) return;
  stop?.();
  watchTyping();
  leaving();
  start();
}

function sweeps(): void {
  later(sweeps, SWEEP_MS);
  sweep();
}

function sweep(): void {
  if (document.hidden) return;
  const found = look();
  if (found.suspects) tell({ suspects: true });
  owed ||= found.roots;
  const since = performance.now() - pictured;
  if (since < cost * PICTURE_SHARE) return;
  const written = styleRules();
  if (owed || (written !== rules && since > STYLES_MS)) {
    rules = written;
    picture();
  }
}

/** A full picture: what the events since the last one did not tell is in it. */
export function picture(): void {
  const began = performance.now();
  record.takeFullSnapshot();
  owed = false;
  pictured = performance.now();
  cost = pictured - began;
  flush();
}

/** Takes over closed roots that the browser found. */
export function adopt(...roots: ShadowRoot[]): number {
  const fresh = adoptRoots(...roots);
  if (fresh > 0) {
    look();
    picture();
  }
  return fresh;
}

export function number(node: Node): number {
  return record.mirror.getId(node);
}

export { suspects };

// Elements that are clickable by a script's listener only. Nothing in the document tells them from
// others, so the browser is asked; the dance is told in crates/reins-page/src/needs.rs.

import { documentElementOf, readyStateOf } from "./nodes";

/**
 * The browser's answer costs 20 µs an element, ten times as much while a page is still drawing, and the walk is done
 * again after it; above this it is not asked. Larger pages are the work of tool kits, which mark what can be clicked.
 */
const ASKED_ELEMENTS = 600;
/** Documents up to here are asked about again after a while: that costs next to nothing. */
const SMALL = 500;
/** Listeners come without a trace, so a small document's are looked for again after this, in ms. */
const AGAIN = 1_000;

const listening = new WeakSet<Element>();
/** Elements that were there when the browser was asked. */
const asked = new WeakSet<Element>();
let askedAt = -Infinity;
let unasked: Element[] = [];

/** Whether a script listens for clicks on this very element. */
export function listens(el: Element): boolean {
  return listening.has(el);
}

/** Elements of one walk that the browser has not been asked about. */
export class Unasked {
  private readonly list: Element[] = [];

  meet(el: Element): void {
    if (this.list.length <= ASKED_ELEMENTS && !asked.has(el)) this.list.push(el);
  }

  /** Whether the browser is to be asked, after a walk through so many elements. */
  isDue(visited: number): boolean {
    unasked = this.list;
    if (visited > ASKED_ELEMENTS || this.list.length > ASKED_ELEMENTS) return false;
    if (this.list.length > 0) return true;
    return visited <= SMALL && performance.now() - askedAt > AGAIN;
  }
}

/** Takes over what the browser answered. Returns how many of the elements are new. */
export function tellListeners(...found: Element[]): number {
  askedAt = performance.now();
  // Until the document is complete, scripts are about to add their listeners.
  if (readyStateOf(document) === "complete") for (const el of unasked) asked.add(el);
  unasked = [];
  const root = documentElementOf(document);
  let fresh = 0;
  for (const el of found) {
    // The page's own frame around everything listens for all that is inside it.
    if (!(el instanceof Element) || listening.has(el) || el === root) continue;
    listening.add(el);
    fresh++;
  }
  return fresh;
}

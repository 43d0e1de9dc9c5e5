// What no event tells: shadow roots that came later, closed roots, styles that a script wrote.

import { rootOf } from "./world";

/** Elements that are handed over to the browser in one go; each takes up to a tenth of a millisecond. */
const SUSPECTS = 100;

/** HTML elements that a page may give a root to, beside those with a name of its own. */
const HOSTS = new Set([
  "article", "aside", "blockquote", "body", "div", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "main",
  "nav", "p", "section", "span",
]);

const seenRoots = new WeakSet<ShadowRoot>();
const asked = new WeakSet<Element>();
let suspected: Element[] = [];

export interface Found {
  /** Roots that were not there at the last look. */
  roots: boolean;
  /** Elements that may have a closed root. */
  suspects: boolean;
}

/** Looks at all elements once. What was there when the recorder took its picture is not news. */
export function look(): Found {
  const found: Found = { roots: false, suspects: false };
  suspected = [];
  lookIn(document, found);
  found.suspects = suspected.length > 0;
  return found;
}

function lookIn(root: Document | ShadowRoot, found: Found): void {
  for (const el of root.querySelectorAll("*")) {
    const inside = rootOf(el);
    if (inside) {
      if (!seenRoots.has(inside)) {
        seenRoots.add(inside);
        found.roots = true;
      }
      lookIn(inside, found);
    } else if (!asked.has(el) && suspected.length < SUSPECTS && mayHide(el)) {
      suspected.push(el);
    }
  }
}

function mayHide(el: Element): boolean {
  const name = el.localName;
  if (name.includes("-")) return true;
  return HOSTS.has(name) && el.firstChild === null;
}

/** The elements to be asked about, each once. */
export function suspects(): Element[] {
  const list = suspected;
  suspected = [];
  for (const el of list) asked.add(el);
  return list;
}

/** A number that changes when a script writes styles. */
export function styleRules(): number {
  let count = 0;
  for (const sheet of [...document.styleSheets, ...document.adoptedStyleSheets]) {
    try {
      count = (count * 31 + sheet.cssRules.length + 1) | 0;
    } catch {
      // A sheet of another origin keeps its rules to itself.
    }
  }
  return count;
}

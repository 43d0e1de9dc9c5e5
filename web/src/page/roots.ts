// Shadow roots that this world cannot see: which elements may have one, and what was found out.
//
// The dance with the browser is told in crates/reins-page/src/needs.rs.

import { dataOf, elementsByTag, firstChildOf, localNameOf, nextSiblingOf, nodeTypeOf, queryAll } from "./nodes";

/** Counting costs less than a millisecond up to here; beyond it elements are asked one by one. */
const COUNTED_ELEMENTS = 8_000;
/** Elements handed over in one go. */
const SUSPECTS = 2_000;

/** Roots that the walk has met, so that what is in them can be counted. */
const known = new Set<WeakRef<ShadowRoot>>();
const counted = new WeakSet<ShadowRoot>();
/** Elements that had no closed root when the browser was asked. */
const cleared = new WeakSet<Element>();
let lastExcess = 0;

export function meet(root: ShadowRoot): void {
  if (counted.has(root)) return;
  counted.add(root);
  known.add(new WeakRef(root));
}

const LESS =
  "count(//text()[contains(., '<')]) + count(//comment()[contains(., '<')])";

function textsWithLess(root: ShadowRoot): number {
  if (!(root.textContent ?? "").includes("<")) return 0;
  const texts = document.createNodeIterator(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_COMMENT);
  let count = 0;
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    if (dataOf(text).includes("<")) count++;
  }
  return count;
}

/**
 * How many nodes the browser's own search for "<" finds in this document if there is no shadow
 * root that we do not know of: every element, and every text and comment with that character.
 * -1 for documents too big to count each time.
 */
export function searchable(): number {
  let count = elementsByTag(document, "*").length;
  if (count > COUNTED_ELEMENTS) return -1;
  count += evaluateXPath(document, LESS);
  for (const reference of known) {
    const root = reference.deref();
    if (!root) known.delete(reference);
    else if (root.isConnected) count += queryAll(root, "*").length + textsWithLess(root);
  }
  return count;
}

function evaluateXPath(at: Document, expression: string): number {
  return Document.prototype.evaluate.call(at, expression, at, null, XPathResult.NUMBER_TYPE, null)
    .numberValue;
}

/** Whether all that an element could show is in a root: nothing of its own to render. */
function isHollow(el: Element): boolean {
  for (let child = firstChildOf(el); child; child = nextSiblingOf(child)) {
    const type = nodeTypeOf(child);
    if (type === 1 || (type === 3 && /\S/.test(dataOf(child)))) return false;
  }
  return true;
}

/**
 * Which of the elements met by the last walk the browser is to be asked about.
 *
 * `excess` is by how much its count is above ours, -1 if nothing was counted. Elements without
 * content of their own and custom elements are asked about each time; all others once, and again
 * when there is more that we cannot see than before.
 */
export function suspectsAmong(hosts: Element[], excess: number): Element[] {
  const again = excess > lastExcess;
  if (excess >= 0) lastExcess = excess;
  const suspects = hosts
    .filter((el) => again || !cleared.has(el) || localNameOf(el).includes("-") || isHollow(el))
    .slice(0, SUSPECTS);
  for (const el of suspects) cleared.add(el);
  return suspects;
}

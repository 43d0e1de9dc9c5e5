// Where fields with secrets are, so that a picture of the page can leave them out.
import { LabelIndex } from "./labels";
import { flatParent, getter, localNameOf, queryAll, rectOf, rootIn } from "./nodes";
import { sensitivityOf } from "./secrets";

export interface Mask {
  x: number;
  y: number;
  width: number;
  height: number;
  /** Stays where it is on the screen when the page is scrolled or laid out taller. */
  fixed: boolean;
}

/** More fields than this are not for a picture any more; the caller then takes none. */
const FIELDS = 500;

const HOLDING = new Set(["input", "textarea", "select"]);
const inputValueOf = getter(HTMLInputElement.prototype, "value");
const areaValueOf = getter(HTMLTextAreaElement.prototype, "value");

function isEmpty(el: Element): boolean {
  if (el instanceof HTMLInputElement) return inputValueOf(el) === "";
  return el instanceof HTMLTextAreaElement && areaValueOf(el) === "";
}

/** Fields under a root, in the shadow roots that this world can see too. */
function fieldsIn(root: Document | ShadowRoot, into: Element[]): void {
  for (const el of queryAll(root, "*")) {
    if (HOLDING.has(localNameOf(el))) into.push(el);
    const inside = rootIn(el);
    if (inside) fieldsIn(inside, into);
  }
}

function isFixed(el: Element): boolean {
  for (let at: Element | null = el; at; at = flatParent(at)) {
    const { position } = getComputedStyle(at);
    if (position === "fixed" || position === "sticky") return true;
  }
  return false;
}

/**
 * The boxes of all fields that hold a secret, in this frame's viewport, and how wide that is with
 * its scroll bar; null: too many fields to tell.
 */
export function masks(): { boxes: Mask[]; wide: number } | null {
  const fields: Element[] = [];
  fieldsIn(document, fields);
  if (fields.length > FIELDS) return null;
  const labels = new LabelIndex();
  const found: Mask[] = [];
  for (const el of fields) {
    const kind = isEmpty(el) ? "" : sensitivityOf(el, labels.textOf(el));
    if (kind === "" || kind === "file") continue;
    const { x, y, width, height } = rectOf(el);
    if (width > 0 && height > 0) found.push({ x, y, width, height, fixed: isFixed(el) });
  }
  return { boxes: found, wide: innerWidth };
}

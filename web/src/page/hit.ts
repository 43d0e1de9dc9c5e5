// Where an element can be hit, and what is hit at a point: through shadow roots, open and adopted.
import { hrefOf } from "./forms";
import {
  attributeOf,
  documentElementOf,
  flatParent,
  hasAttribute,
  isRendered,
  localNameOf,
  matchesSelector,
  openRootOf,
  parentOf,
  rectOf,
  rootIn,
  rootOf,
} from "./nodes";

export interface Point {
  x: number;
  y: number;
}

const call = Function.prototype.call;
const hitInDocument = call.bind(Document.prototype.elementFromPoint) as (
  receiver: unknown,
  x: number,
  y: number,
) => Element | null;
// DocumentOrShadowRoot is a mixin: a shadow root has its own copy of the method.
const hitInRoot = call.bind(ShadowRoot.prototype.elementFromPoint) as typeof hitInDocument;
const queryDocument = call.bind(Document.prototype.querySelectorAll) as (
  receiver: unknown,
  selectors: string,
) => NodeListOf<Element>;
const rectsOf = call.bind(Element.prototype.getClientRects) as (receiver: unknown) => DOMRectList;
const scrollIntoView = call.bind(Element.prototype.scrollIntoView) as (
  receiver: unknown,
  options: ScrollIntoViewOptions,
) => void;

/** The innermost element at a point of the viewport. */
export function hitAt(x: number, y: number): Element | null {
  let found = hitInDocument(document, x, y);
  while (found) {
    const root = rootIn(found);
    const inner: Element | null = root ? hitInRoot(root, x, y) : null;
    if (!inner || inner === found || rootOf(inner) !== root) break;
    found = inner;
  }
  return found;
}

/** The innermost element an event is for. Closed roots hide it from the event's own path. */
export function targetOf(event: Event): Element | null {
  const first = event.composedPath()[0];
  let found: Element | null =
    first instanceof Element ? first : first instanceof Node ? flatParent(first) : null;
  while (found && !openRootOf(found)) {
    const root = rootIn(found);
    if (!root) break;
    const inner: Element | null =
      event instanceof MouseEvent ? hitInRoot(root, event.clientX, event.clientY) : root.activeElement;
    if (!inner || rootOf(inner) !== root) break;
    found = inner;
  }
  return found;
}

/** Whether `ancestor` is `inner` or holds it, across shadow roots and slots. */
export function holds(ancestor: Element, inner: Element): boolean {
  for (let at: Element | null = inner; at; at = flatParent(at)) if (at === ancestor) return true;
  return false;
}

/** The control a label is for. */
export function controlOf(label: Element): Element | null {
  return label instanceof HTMLLabelElement ? label.control : null;
}

/** The labels of a control. */
export function labelsOf(el: Element): Element[] {
  const labels =
    el instanceof HTMLInputElement ||
    el instanceof HTMLSelectElement ||
    el instanceof HTMLTextAreaElement ||
    el instanceof HTMLButtonElement ||
    el instanceof HTMLMeterElement ||
    el instanceof HTMLProgressElement ||
    el instanceof HTMLOutputElement
      ? el.labels
      : null;
  return labels ? Array.from(labels) : [];
}

/** Whether a click on it does something of its own, whatever holds it. */
function actsByItself(el: Element): boolean {
  switch (localNameOf(el)) {
    case "a":
    case "area":
      return hasAttribute(el, "href");
    case "button":
    case "select":
    case "textarea":
    case "option":
    case "iframe":
    case "frame":
    case "embed":
    case "object":
      return true;
    case "input":
      return (el as HTMLInputElement).type !== "hidden";
    case "summary":
      return parentOf(el) instanceof HTMLDetailsElement;
    case "label":
      return controlOf(el) !== null;
    case "video":
    case "audio":
      return hasAttribute(el, "controls");
    default:
      return false;
  }
}

/** Items that often hold the link which does their work. */
const ITEMS = new Set(["tab", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "treeitem"]);

/** Whether a link only leads to a place in this document, as those inside tabs do. */
function staysHere(link: Element): boolean {
  const href = hrefOf(link);
  return href !== null && href.includes("#") && href.split("#", 1)[0] === location.href.split("#", 1)[0];
}

/**
 * Whether a click that lands on `hit` is a click on `el`. A tab's own link to its panel is part of
 * the tab. Not so when something between them acts
 * by itself: a card's link is not the button inside it. A label and its control stand for each other.
 */
export function lands(hit: Element, el: Element): boolean {
  for (let at: Element | null = hit; at; at = flatParent(at)) {
    if (at === el) return true;
    if (ITEMS.has(attributeOf(el, "role") ?? "") && staysHere(at)) continue;
    if (actsByItself(at)) return controlOf(at) === el || controlOf(el) === at;
  }
  return false;
}

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

function viewport(): Box {
  const root = documentElementOf(document) as Element | null;
  // In quirks mode the root's client height is the content's, so the window's own bounds it.
  const width = Math.min(root?.clientWidth || innerWidth, innerWidth);
  return { left: 0, top: 0, right: width, bottom: innerHeight };
}

function clip(a: Box, b: Box): Box | null {
  const box = {
    left: Math.max(a.left, b.left),
    top: Math.max(a.top, b.top),
    right: Math.min(a.right, b.right),
    bottom: Math.min(a.bottom, b.bottom),
  };
  return box.right > box.left && box.bottom > box.top ? box : null;
}

/** At most this many boxes of one element are tried: a wrapped link has a few. */
const BOXES = 6;

/** The boxes an element is painted in. */
export function boxes(el: Element): Box[] {
  if (el instanceof HTMLAreaElement) return areaBoxes(el);
  let rects = Array.from(rectsOf(el));
  if (rects.every((r) => r.width === 0 || r.height === 0)) {
    // `display: contents`, or an inline box that only holds floats: its content stands for it.
    const range = document.createRange();
    range.selectNodeContents(el);
    rects = Array.from(range.getClientRects());
  }
  return rects.filter((r) => r.width > 0 && r.height > 0).slice(0, BOXES);
}

function areaBoxes(area: HTMLAreaElement): Box[] {
  const map = parentOf(area);
  const name = map instanceof Element ? attributeOf(map, "name") : null;
  const image = Array.from(queryDocument(document, "img[usemap]")).find(
    (img) => attributeOf(img, "usemap") === `#${name}`,
  );
  if (!image) return [];
  const on = rectOf(image);
  const c = (attributeOf(area, "coords") ?? "").split(",").map(Number);
  const box = (l: number, t: number, r: number, b: number): Box[] => [
    { left: on.left + l, top: on.top + t, right: on.left + r, bottom: on.top + b },
  ];
  const [a, b, r, d] = c;
  if (area.shape === "default") return [on];
  if (a === undefined || b === undefined || r === undefined || c.some(Number.isNaN)) return [];
  if (area.shape === "circle") return box(a - r / 2, b - r / 2, a + r / 2, b + r / 2);
  if (area.shape === "rect" && d !== undefined) return box(a, b, r, d);
  const xs = c.filter((_, i) => i % 2 === 0);
  const ys = c.filter((_, i) => i % 2 === 1);
  return box(Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys));
}

/** Middle first, then points towards the edges: one of them is free when something overlaps. */
const SPOTS: readonly (readonly [number, number])[] = [
  [0.5, 0.5],
  [0.25, 0.5],
  [0.75, 0.5],
  [0.5, 0.2],
  [0.5, 0.8],
  [0.05, 0.5],
  [0.95, 0.5],
  [0.1, 0.1],
  [0.9, 0.9],
];

export interface Spot extends Point {
  /** What is hit there. */
  hit: Element;
}

/** A point of the viewport where `el` is hit, or what is hit instead in its middle. */
export function spot(el: Element, stand: Element = el): { at: Spot } | { over: Element | null } {
  let over: Element | null = null;
  const view = viewport();
  for (const box of boxes(stand)) {
    const seen = clip(box, view);
    if (!seen) continue;
    for (const [fx, fy] of SPOTS) {
      const x = seen.left + (seen.right - seen.left) * fx;
      const y = seen.top + (seen.bottom - seen.top) * fy;
      const hit = hitAt(x, y);
      if (hit && lands(hit, el)) return { at: { x, y, hit } };
      over ??= hit;
    }
  }
  return { over };
}

/** Scrolls only where it must: a point that can be hit already is taken as it is. */
const WAYS: readonly ScrollIntoViewOptions[] = [
  { block: "center", inline: "center", behavior: "instant" },
  { block: "end", inline: "end", behavior: "instant" },
  { block: "start", inline: "start", behavior: "instant" },
];

export type Found =
  | { at: Spot }
  | { no: "not_visible" | "covered"; over: Element | null };

/** Scrolls the element into view if need be and finds a point where it is hit. */
export function reach(el: Element): Found {
  let over: Element | null = null;
  // A checkbox drawn by its label is itself tiny, transparent or elsewhere.
  for (const stand of [el, ...labelsOf(el)]) {
    if (boxes(stand).length === 0) continue;
    let got = spot(el, stand);
    for (const way of WAYS) {
      if ("at" in got) break;
      scrollIntoView(stand, way);
      const before: Element | null = got.over;
      got = spot(el, stand);
      over ??= before;
    }
    if ("at" in got) return got;
    over ??= got.over;
  }
  const shown = isRendered(el, { visibilityProperty: true, contentVisibilityAuto: true });
  if (!shown || boxes(el).length === 0 || !over) return { no: "not_visible", over: null };
  return { no: "covered", over };
}

/** Brings an element into view without a wish where, for fields that get the focus. */
export function show(el: Element): void {
  const view = viewport();
  const box = rectOf(el);
  const inside =
    box.top >= view.top && box.bottom <= view.bottom && box.left >= view.left && box.right <= view.right;
  if (!inside) scrollIntoView(el, { block: "center", inline: "nearest", behavior: "instant" });
}

/** Whether it or something around it is switched off, so that input does not reach it. */
export function isDisabled(el: Element): boolean {
  if (matchesSelector(el, ":disabled")) return true;
  for (let at: Element | null = el; at; at = flatParent(at)) if (hasAttribute(at, "inert")) return true;
  // A modal dialog makes everything outside it inert.
  const modal = Array.from(queryDocument(document, "dialog:modal")).pop();
  return modal !== undefined && !holds(modal, el);
}

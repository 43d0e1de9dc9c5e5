// What acting asks of a document: aim at an element and announce the gesture, put the focus, choose,
// set and scroll. Every answer says either what was done or, in `no`, the stable code of why not.
import { abandon, announce, changed, closeNow, type Gesture, type Leads, rest, verdict, withdraw } from "./guard";
import { boxes, hitAt, holds, isDisabled, type Point, reach, show, spot } from "./hit";
import { choose, checkedState, fieldOf, focus, isReadOnly, isRadio, lengthOf, place, setValue } from "./fields";
import { masks } from "./masks";
import { deepActiveElement, flatParent, isRendered, node, number, rectOf } from "./nodes";
import { seal } from "./seal";
import { afterFrame, calm, quiet } from "./settle";
import { waitText } from "./shown";

export interface No {
  no: string;
  /** The number of the element that is in the way. */
  by?: number;
  /** What the browser side should add to its own words. Never page text. */
  what?: string;
  options?: string[];
}

interface Target {
  n: number;
  seal: string;
}

export interface Aim extends Target {
  token: number;
  gesture: Gesture;
  /** How many clicks. */
  times: number;
  leads?: Leads;
  /** Hovering over something disabled is fine. */
  disabledToo?: boolean;
  /** Where a drag ends, if in this document. */
  drop?: Target;
}

type Aimed = Point & { label: boolean; drop?: Point };

function target({ n, seal: expected }: Target): Element | No {
  const el = node(n);
  if (!el) return { no: "detached" };
  return seal(el) === expected ? el : { no: "stale_ref" };
}

function spotOf(el: Element, disabledToo: boolean): (Point & { label: boolean }) | No {
  if (!disabledToo && isDisabled(el)) return { no: "disabled" };
  const found = reach(el);
  if ("no" in found) return found.over ? { no: found.no, by: number(found.over) } : { no: found.no };
  if (found.at.hit.localName === "iframe" && el.localName === "iframe") return { no: "is_frame" };
  return { x: found.at.x, y: found.at.y, label: !holds(el, found.at.hit) };
}

// Frames inside that are out of sight paint nothing and have slow timers; the tab itself always paints.
let painted = window.top !== window;

/** A document that has painted nothing after this many frames has nothing to paint. */
const UNPAINTED_FRAMES = 6;

/** Chromium swallows input for a document until its first frame is on screen. */
async function untilPainted(): Promise<void> {
  for (let frames = 0; frames < UNPAINTED_FRAMES && !painted; frames += 1) {
    painted = performance.getEntriesByType("paint").length > 0;
    if (!painted) await frame();
  }
  painted = true;
}

/** Aims as soon as the document takes input, which nearly always is at once. */
function aimReady(what: Aim): Aimed | No | Promise<Aimed | No> {
  return painted ? aim(what) : untilPainted().then(() => aim(what));
}

/** Finds a point where the element is hit, scrolling it into view, and announces the gesture. */
function aim(what: Aim): Aimed | No {
  const el = target(what);
  if ("no" in el) return el;
  const at = spotOf(el, what.disabledToo === true);
  if ("no" in at) return at;
  let drop: (Target & { el: Element }) | undefined;
  if (what.drop) {
    const to = target(what.drop);
    if ("no" in to) return to;
    drop = { ...what.drop, el: to };
  }
  tell(what, el, drop);
  if (!drop) return at;
  // Both ends must be in view at once; if the second one scrolled the first away, it is looked for again.
  const end = spotOf(drop.el, true);
  if ("no" in end) return end;
  const start = spotOf(el, true);
  return "no" in start ? start : { ...start, drop: { x: end.x, y: end.y } };
}

function tell(what: Aim, el: Element | null, drop?: { el: Element; seal: string }): void {
  const family = what.gesture === "keys" || what.gesture === "text" ? "keys" : "pointer";
  announce({
    token: what.token,
    gesture: what.gesture,
    family,
    el,
    seal: what.seal,
    times: what.times,
    leads: what.leads,
    drop,
  });
}

/** How far ahead of a moving element the pointer is aimed, in milliseconds: a dispatch takes about that. */
const AHEAD_MS = 6;

const frame = (): Promise<number> => new Promise((then) => afterFrame(() => then(performance.now())));

/** As `aim`, for an element that moved away: measures its speed and aims where it will be. */
async function aimAhead(what: Aim): Promise<Aimed | No> {
  const el = node(what.n);
  if (!el) return { no: "detached" };
  const t0 = await frame();
  const a = rectOf(el);
  const t1 = await frame();
  const b = rectOf(el);
  const at = aim(what);
  if ("no" in at || t1 <= t0) return at;
  const reachX = b.width * 0.45;
  const reachY = b.height * 0.45;
  const bound = (v: number, limit: number): number => Math.max(-limit, Math.min(limit, v));
  // Never aim outside the box as it is now: a mover that turned back is then still hit.
  const dx = bound(((b.x - a.x) / (t1 - t0)) * AHEAD_MS, reachX);
  const dy = bound(((b.y - a.y) / (t1 - t0)) * AHEAD_MS, reachY);
  const hit = hitAt(at.x + dx, at.y + dy);
  return hit && holds(el, hit) ? { ...at, x: at.x + dx, y: at.y + dy } : at;
}

/** Announces that a gesture goes on in another frame of the tab: nothing of it may arrive here. */
function elsewhere(token: number, family: "pointer" | "keys"): true {
  announce({ token, gesture: "none", family, el: null, seal: "", times: 0 });
  return true;
}

interface FrameAim {
  token: number;
  /** The iframe element. */
  n: number;
  /** The point in the child document's viewport. */
  x: number;
  y: number;
  /** A drag that starts or ends in the child passes through here. */
  family: "pointer" | "keys";
}

/** Where the point of a child document is in this one's viewport. */
function mapped(el: Element, x: number, y: number): Point {
  const box = rectOf(el);
  const style = getComputedStyle(el);
  const width = (el as HTMLElement).offsetWidth || box.width;
  const height = (el as HTMLElement).offsetHeight || box.height;
  // Scaling by transforms and zoom; rotations are told apart by `straight`.
  const sx = width ? box.width / width : 1;
  const sy = height ? box.height / height : 1;
  const px = (a: string, b: string): number => parseFloat(a) + parseFloat(b) || 0;
  return {
    x: box.left + (px(style.borderLeftWidth, style.paddingLeft) + x) * sx,
    y: box.top + (px(style.borderTopWidth, style.paddingTop) + y) * sy,
  };
}

/** Where a frame's content begins in its own box, and how large the box is, without transforms. */
function rim(n: number): { left: number; top: number; width: number; height: number } | No {
  const el = node(n);
  if (!(el instanceof HTMLElement)) return { no: "detached" };
  const style = getComputedStyle(el);
  const px = (a: string, b: string): number => parseFloat(a) + parseFloat(b) || 0;
  return {
    left: px(style.borderLeftWidth, style.paddingLeft),
    top: px(style.borderTopWidth, style.paddingTop),
    width: el.offsetWidth,
    height: el.offsetHeight,
  };
}

/** Whether no rotation or skew lies on the way to the viewport. */
function straight(el: Element): boolean {
  for (let at: Element | null = el; at; at = flatParent(at)) {
    const style = getComputedStyle(at);
    if (style.rotate !== "none" && style.rotate !== "") return false;
    if (style.transform === "none") continue;
    const m = new DOMMatrixReadOnly(style.transform);
    if (!m.is2D || m.b !== 0 || m.c !== 0) return false;
  }
  return true;
}

/** The frame's element as seen from here: where a point of the child is, and whether it is free. */
async function aimFrame(what: FrameAim): Promise<(Point & { straight: boolean }) | No> {
  const el = node(what.n);
  if (!el) return { no: "detached" };
  elsewhere(what.token, what.family);
  for (let tries = 0; ; tries += 1) {
    const at = mapped(el, what.x, what.y);
    if (!straight(el)) return { ...at, straight: false };
    const hit = hitAt(at.x, at.y);
    if (hit === el) return { ...at, straight: true };
    const inside = at.x >= 0 && at.y >= 0 && at.x < innerWidth && at.y < innerHeight;
    if (tries >= FRAME_TRIES) {
      if (!isRendered(el, { visibilityProperty: true })) return { no: "not_visible" };
      return inside && hit ? { no: "covered", by: number(hit) } : { no: "not_visible" };
    }
    // A scroll asked for in the child arrives here a little later when the child is another process;
    // if it does not, we scroll ourselves. A frame out of sight waits long for each of its frames.
    if (tries === 1) bring(el, at);
    else await frame();
  }
}

/** Looked at once, after a frame, after our own scrolling, and after one more frame. */
const FRAME_TRIES = 3;

/** Scrolls everything around `el` so that the point comes to the middle of each scroller. */
function bring(el: Element, at: Point): void {
  let { x, y } = at;
  for (let up = flatParent(el); up; up = flatParent(up)) {
    const style = getComputedStyle(up);
    const isRoot = up === document.scrollingElement;
    if (!isRoot && style.overflowX === "visible" && style.overflowY === "visible") continue;
    const box = isRoot ? new DOMRect(0, 0, innerWidth, innerHeight) : rectOf(up);
    const left = up.scrollLeft;
    const top = up.scrollTop;
    if (x < box.left || x > box.right) up.scrollLeft += x - (box.left + box.width / 2);
    if (y < box.top || y > box.bottom) up.scrollTop += y - (box.top + box.height / 2);
    x -= up.scrollLeft - left;
    y -= up.scrollTop - top;
  }
}

export interface TypeAim extends Target {
  token: number;
  text: string;
  all: boolean;
  /** The text is sent key by key. */
  keys: boolean;
  times: number;
  leads?: Leads;
}

interface TypeAimed {
  how: "insert" | "keys" | "set";
  /** How much the field held before. */
  had: number;
  changed?: boolean;
}

/** Puts the focus into a field and announces the text; sets it where no text can be typed. */
function aimText(what: TypeAim): TypeAimed | No {
  const el = target(what);
  if ("no" in el) return el;
  if (isDisabled(el)) return { no: "disabled" };
  const field = fieldOf(el);
  if (!field && !what.keys) return { no: "not_editable" };
  const into = field?.el ?? el;
  if (isReadOnly(into)) return { no: "read_only" };
  if (boxes(into).length === 0 || !isRendered(into, { visibilityProperty: true })) return { no: "not_visible" };
  show(into);
  if (!focus(into)) return { no: "no_focus" };
  // Handlers of the focus have run: page script may have changed what was approved.
  const still = target(what);
  if ("no" in still) return still;
  const had = lengthOf(into);
  if (field?.how === "set" && !what.keys) {
    return setValue(field.el, what.text)
      ? { how: "set", had, changed: true }
      : { no: "bad_value", what: field.form };
  }
  if (field?.how !== "set") place(into as HTMLElement, what.all);
  announce({
    token: what.token,
    gesture: what.keys ? "keys" : "text",
    family: "keys",
    el: into,
    seal: seal(into),
    times: what.times,
    leads: what.leads,
  });
  return { how: what.keys ? "keys" : "insert", had };
}

interface KeyAim {
  token: number;
  /** 0: the page itself, where nothing has the focus. */
  n: number;
  seal: string;
  times: number;
  leads?: Leads;
}

/** Announces key presses for an element, which gets the focus if it does not have it. */
function aimKeys(what: KeyAim): { ok: true } | No {
  let el: Element | null = null;
  if (what.n !== 0) {
    const found = target(what);
    if ("no" in found) return found;
    if (isDisabled(found)) return { no: "disabled" };
    el = found;
    const host = fieldOf(el)?.el ?? el;
    if (deepActiveElement() !== host) {
      show(host);
      if (!focus(host)) return { no: "no_focus" };
      const still = target(what);
      if ("no" in still) return still;
    }
    el = host;
  } else if (deepActiveElement()) return { no: "focus_moved" };
  const sealed = el ? seal(el) : "";
  announce({
    token: what.token,
    gesture: "keys",
    family: "keys",
    el,
    seal: sealed,
    times: what.times,
    leads: what.leads,
  });
  return { ok: true };
}

function select(what: Target & { options: string[] }): ReturnType<typeof choose> | No {
  const el = target(what);
  if ("no" in el) return el;
  if (isDisabled(el)) return { no: "disabled" };
  return choose(el, what.options);
}

/** The state of a box, and whether it is one that cannot be switched off by itself. */
function box(n: number): { state: string | null; radio: boolean } | No {
  const el = node(n);
  return el ? { state: checkedState(el), radio: isRadio(el) } : { no: "detached" };
}

export interface Scroll {
  /** 0: the page. */
  n: number;
  by?: { x: number; y: number };
  screens?: number;
  to?: "top" | "bottom" | "view";
}

interface Scrolled {
  moved: boolean;
  /** Nothing there can scroll that way; a wheel may still mean something to the page. */
  stuck: boolean;
  top: number;
  height: number;
  seen: number;
  /** Where a wheel would be turned. */
  x: number;
  y: number;
}

function scrollable(el: Element): boolean {
  if (el === document.scrollingElement) return el.scrollHeight > innerHeight || el.scrollWidth > innerWidth;
  const style = getComputedStyle(el);
  const way = (overflow: string, more: boolean): boolean => more && (overflow === "auto" || overflow === "scroll");
  return (
    way(style.overflowY, el.scrollHeight > el.clientHeight) || way(style.overflowX, el.scrollWidth > el.clientWidth)
  );
}

function scroll(what: Scroll): Scrolled | No {
  const from = what.n === 0 ? null : node(what.n);
  if (what.n !== 0 && !from) return { no: "detached" };
  const middle = { x: innerWidth / 2, y: innerHeight / 2 };
  if (from && what.to === "view") {
    const before = rectOf(from);
    show(from);
    const after = rectOf(from);
    const page = document.scrollingElement;
    return {
      moved: before.top !== after.top || before.left !== after.left,
      stuck: false,
      top: page?.scrollTop ?? 0,
      height: page?.scrollHeight ?? 0,
      seen: innerHeight,
      ...middle,
    };
  }
  // An application often scrolls a pane and not the page: the one in the middle is meant then.
  const start = from ?? (document.scrollingElement && scrollable(document.scrollingElement) ? null : hitAt(middle.x, middle.y));
  let scroller: Element | null = null;
  for (let at = start; at && !scroller; at = flatParent(at)) if (scrollable(at)) scroller = at;
  scroller ??= document.scrollingElement;
  const at = from ? spot(from) : null;
  const point = at && "at" in at ? { x: at.at.x, y: at.at.y } : middle;
  if (!scroller) return { moved: false, stuck: true, top: 0, height: 0, seen: innerHeight, ...point };
  const { scrollTop: top, scrollLeft: left } = scroller;
  const screen = scroller === document.scrollingElement ? innerHeight : scroller.clientHeight;
  // A little of the screen before stays in view, so that nothing is missed between two screens.
  const step = Math.max(screen * 0.9, screen - 80);
  const max = scroller.scrollHeight;
  const y =
    what.to === "top" ? -max : what.to === "bottom" ? max : what.screens !== undefined ? what.screens * step : (what.by?.y ?? 0);
  scroller.scrollBy({ left: what.by?.x ?? 0, top: y, behavior: "instant" });
  const moved = scroller.scrollTop !== top || scroller.scrollLeft !== left;
  return {
    moved,
    stuck: !moved && !scrollable(scroller),
    top: scroller.scrollTop,
    height: max,
    seen: screen,
    ...point,
  };
}

/** The element itself, for protocol calls that need it, or null when it is not what was approved. */
function element(n: number, expected?: string): Element | null {
  const el = node(n);
  return el && (expected === undefined || seal(el) === expected) ? el : null;
}

/** The element's box in the viewport, scrolled into view. */
function frameOf(n: number): { x: number; y: number; width: number; height: number } | No {
  const el = node(n);
  if (!el) return { no: "detached" };
  show(el);
  const all = boxes(el);
  if (all.length === 0) return { no: "not_visible" };
  const x = Math.min(...all.map((b) => b.left));
  const y = Math.min(...all.map((b) => b.top));
  return {
    x,
    y,
    width: Math.max(...all.map((b) => b.right)) - x,
    height: Math.max(...all.map((b) => b.bottom)) - y,
  };
}

/** What acting adds to the page script. */
export const acting = {
  aim: aimReady,
  aimAhead,
  aimFrame,
  rim,
  aimText,
  aimKeys,
  elsewhere,
  masks,
  withdraw,
  abandon,
  verdict,
  changed,
  closeNow,
  rest,
  select,
  box,
  scroll,
  element,
  frameOf,
  mapped: (n: number, x: number, y: number): Point | No => {
    const el = node(n);
    return el ? mapped(el, x, y) : { no: "detached" };
  },
  fieldLength: (n: number): number => {
    const el = node(n);
    return el ? lengthOf(fieldOf(el)?.el ?? el) : -1;
  },
  calm,
  waitText,
  quiet,
};

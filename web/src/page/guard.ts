// The guard inside the event.
//
// Before an input event is dispatched it is announced: the gesture, the element it is for, and the
// element's seal. When trusted events arrive, what is under them is compared with the announcement at
// that very moment. On a difference the event is cancelled before the page sees it, and so is the
// rest of the gesture. In frames where nothing is awaited, everything of the gesture is cancelled.
// A trusted event while nothing is announced is the person's own, and is reported.
//
// The listeners sit on `window` in the capture phase and are there before any page script, so they
// run first. `document.open()` drops them; each announcement puts them back.
import { holds, lands, targetOf } from "./hit";
import { connectedOf, deepActiveElement, knownNumber, number } from "./nodes";
import { seal } from "./seal";
import { finished, installGrowth, type Quiet, settled, watchQuiet } from "./settle";

declare global {
  // The binding of this world; the page has none.
  // eslint-disable-next-line no-var
  var __reinsSay: ((message: string) => void) | undefined;
}

/** What the gesture is made of. `none`: it is for another frame. `drop`: a drag ends here. */
export type Gesture = "pointer" | "keys" | "text" | "drag" | "drop" | "none";

/** Where an approved link or form leads. */
export interface Leads {
  link?: string;
  form?: string;
  /** The form's fields travel in the address, so its query is not known before. */
  get?: boolean;
}

export interface Announcement {
  token: number;
  gesture: Gesture;
  /** For `none`: what is going on elsewhere. */
  family: "pointer" | "keys";
  /** Null: the page itself, where nothing has the focus. */
  el: Element | null;
  seal: string;
  /** How often the gesture's last event comes: clicks, keys. */
  times: number;
  leads?: Leads | undefined;
  /** Where a drag ends, if in this frame. */
  drop?: { el: Element; seal: string } | undefined;
}

interface Live extends Announcement {
  /** Why the rest of the gesture is cancelled. */
  stopped: string | null;
  landed: boolean;
  left: number;
  /** The person pressed after it: from here on all input is theirs. */
  over: boolean;
  seen: Set<string>;
  quiet: Quiet | null;
  until: number;
}

/** An announcement nobody took back counts no longer; our own process is gone then. */
const FORGOTTEN_MS = 60_000;

/** The person's own input is reported at most this often. */
const PERSON_MS = 250;

let live: Live | null = null;
let personAt = -PERSON_MS;

function say(message: Record<string, unknown>): void {
  globalThis.__reinsSay?.(JSON.stringify(message));
}

function leadsOn(leads: Leads | undefined): boolean {
  return leads?.link !== undefined || leads?.form !== undefined;
}

/** Announces a gesture. The one before it is over. */
export function announce(what: Announcement): void {
  listen();
  live?.quiet?.stop();
  live = {
    ...what,
    stopped: null,
    landed: false,
    left: what.times,
    over: false,
    seen: new Set(),
    quiet: what.gesture === "none" ? null : watchQuiet(what.el, leadsOn(what.leads)),
    until: performance.now() + FORGOTTEN_MS,
  };
}

/** Takes an announcement back. Input of its kind is the person's again. */
export function withdraw(token: number): void {
  if (live?.token !== token) return;
  live.quiet?.stop();
  live = null;
}

/** Whether anything changed since the gesture was announced. */
export function changed(token: number): boolean {
  return live?.token === token && (live.quiet?.changed() === true || live.seen.has("input") || live.seen.has("change"));
}

/** Cancels whatever is left of a gesture: a held button is let go without a click. */
export function abandon(token: number): void {
  if (live?.token === token) live.stopped ??= "abandoned";
}

/** What has been seen of a gesture so far. */
export function verdict(token: number): Record<string, unknown> {
  if (live?.token !== token) return { v: "none" };
  return { v: live.stopped ?? (live.landed ? "landed" : "waiting"), s: [...live.seen] };
}

const ROOTS = new Set(["pointerdown", "mousedown", "keydown", "wheel", "touchstart"]);
const POINTER = new Set([
  "pointerdown",
  "mousedown",
  "pointerup",
  "mouseup",
  "click",
  "auxclick",
  "dblclick",
  "contextmenu",
  "touchstart",
  "dragstart",
  "drop",
  // Turned by us where nothing can be scrolled by script; it is never cancelled.
  "wheel",
]);
const KEYS = new Set(["keydown", "keypress", "beforeinput"]);

function hold(event: Event): void {
  event.preventDefault();
  event.stopImmediatePropagation();
}

function stop(a: Live, event: Event, why: string, by: Element | null): void {
  hold(event);
  if (a.stopped) return;
  a.stopped = why;
  say({ t: a.token, v: "stop", w: why, k: event.type, n: by ? number(by) : 0, d: a.landed });
}

function onEvent(event: Event): void {
  if (!event.isTrusted) return;
  if (live && performance.now() > live.until) withdraw(live.token);
  const a = live;
  const type = event.type;
  if (a && type === "wheel") return;
  if (a && pressedAgain(a, type)) a.over = true;
  if (!a || a.over) {
    if (ROOTS.has(type)) person(type);
    return;
  }
  const pointer = POINTER.has(type);
  const ours = a.family === "pointer" ? pointer : KEYS.has(type);
  if (a.gesture === "none") {
    if (ours && !fromKeyboard(event)) stop(a, event, "elsewhere", targetOf(event));
    else if (ROOTS.has(type)) person(type);
    return;
  }
  if (ROOTS.has(type) && !ours) {
    person(type);
    return;
  }
  if (a.stopped && (ours || type === "submit")) {
    hold(event);
    closeIfLast(a, event);
    return;
  }
  check(a, event);
  closeIfLast(a, event);
}

/**
 * Our process may be slower to take an announcement back than the person is to press. A click has exactly one press, so
 * no page can make another one of ours look like theirs.
 */
function pressedAgain(a: Live, type: string): boolean {
  return type === "pointerdown" && a.gesture === "pointer" && a.times === 1 && a.seen.has("pointerdown");
}

/** Enter and Space make a click of their own, without a pointer. */
function fromKeyboard(event: Event): boolean {
  return event.type === "click" && (event as PointerEvent).pointerId === -1;
}

function intact(el: Element | null, expected: string): boolean {
  return el === null || (connectedOf(el) && seal(el) === expected);
}

function check(a: Live, event: Event): void {
  const target = targetOf(event);
  switch (event.type) {
    case "pointerdown":
    case "mousedown":
    case "touchstart":
    case "contextmenu":
    case "dragstart":
      // A `drop` frame awaits no press.
      if (a.gesture === "drop" || !a.el || !target || !lands(target, a.el)) {
        stop(a, event, a.el && !connectedOf(a.el) ? "gone" : "missed", target);
      } else if (!intact(a.el, a.seal)) stop(a, event, "changed", target);
      else land(a, event);
      break;
    case "pointerup":
    case "mouseup":
      if (a.gesture === "drag" || a.gesture === "drop") checkDrop(a, event, target);
      else if (!intact(a.el, a.seal)) stop(a, event, a.el && connectedOf(a.el) ? "changed" : "gone", target);
      // A release on something that holds the element reaches nothing that a click on it would not.
      else if (!a.el || !target || !(lands(target, a.el) || holds(target, a.el))) stop(a, event, "slipped", target);
      else a.seen.add(event.type);
      break;
    case "drop":
      checkDrop(a, event, target);
      break;
    case "click":
    case "auxclick":
    case "dblclick":
      if (a.gesture === "drag" || a.gesture === "drop") a.seen.add(event.type);
      else if (!intact(a.el, a.seal)) stop(a, event, a.el && connectedOf(a.el) ? "changed" : "gone", target);
      else if (
        a.family === "pointer" &&
        (!a.el || !target || !(lands(target, a.el) || holds(target, a.el)))
      )
        stop(a, event, "slipped", target);
      else {
        a.seen.add(event.type);
        say({ t: a.token, v: "hit", k: event.type });
      }
      break;
    case "keydown":
    case "keypress":
    case "beforeinput":
      if (!focused(a, target)) stop(a, event, a.el && !connectedOf(a.el) ? "gone" : "focus", target);
      else if (!intact(a.el, a.seal)) stop(a, event, "changed", target);
      else land(a, event);
      break;
    case "submit":
      if (!intact(a.el, a.seal)) stop(a, event, "changed", target);
      else a.seen.add("submit");
      break;
    default:
      a.seen.add(event.type);
  }
}

function land(a: Live, event: Event): void {
  a.seen.add(event.type);
  if (a.landed) return;
  a.landed = true;
  say({ t: a.token, v: "down", k: event.type });
}

function checkDrop(a: Live, event: Event, target: Element | null): void {
  // A drag that ends in another frame ends here with a release outside.
  if (!a.drop) {
    a.seen.add(event.type);
    return;
  }
  // What is dragged often stays under the pointer; it was approved as well.
  const carried = event.type !== "drop" && a.el !== null && target !== null && holds(a.el, target) && intact(a.el, a.seal);
  if (!connectedOf(a.drop.el)) stop(a, event, "gone", target);
  else if (carried) {
    a.seen.add(event.type);
    say({ t: a.token, v: "hit", k: event.type });
  } else if (!target || !lands(target, a.drop.el)) stop(a, event, "slipped", target);
  else if (seal(a.drop.el) !== a.drop.seal) stop(a, event, "changed", target);
  else {
    a.seen.add(event.type);
    say({ t: a.token, v: "hit", k: event.type });
  }
}

/** Whether the focus is where the keys were announced for. */
function focused(a: Live, target: Element | null): boolean {
  if (a.el) return target === a.el || (target !== null && deepActiveElement() === a.el);
  return deepActiveElement() === null;
}

function closeIfLast(a: Live, event: Event): void {
  const last =
    a.gesture === "pointer"
      ? event.type === "pointerup" || event.type === "pointercancel"
      : a.gesture === "keys"
        ? event.type === "keyup"
        : a.gesture === "text"
          ? event.type === "input" || (event.type === "beforeinput" && a.stopped !== null)
          : event.type === "dragend" || event.type === "drop" || event.type === "mouseup";
  if (!last || a.left <= 0) return;
  a.left -= 1;
  if (a.left === 0) close(a);
}

/** The gesture is through. Says so when its handlers have run, and again when the page is quiet. */
function close(a: Live): void {
  const ended = () => say({ t: a.token, v: "end" });
  a.quiet?.after(ended, (changed, busy) => {
    const value = a.el instanceof HTMLInputElement || a.el instanceof HTMLTextAreaElement ? a.el.value : null;
    say({
      t: a.token,
      v: "quiet",
      m: changed || a.seen.has("input") || a.seen.has("change"),
      b: busy,
      o: a.quiet?.open() === true,
      s: [...a.seen],
      ...(value === null ? {} : { l: value.length }),
    });
  });
}

/** Waits for what the handlers of a gesture, or of a changed control, left unfinished by its own signs. */
export function rest(token: number, capMs: number): Promise<boolean> {
  return live?.token === token && live.quiet ? finished(live.quiet, capMs) : settled(capMs);
}

/** Ends the wait for a gesture whose last event does not come here. */
export function closeNow(token: number): void {
  if (live?.token !== token || live.left <= 0) return;
  live.left = 0;
  close(live);
}

function person(kind: string): void {
  const now = performance.now();
  if (now - personAt < PERSON_MS) return;
  personAt = now;
  say({ v: "person", k: kind });
}

interface NavigateEvent extends Event {
  readonly destination: { readonly url: string };
  readonly formData: FormData | null;
  readonly sourceElement?: Element | null;
}

/**
 * The last look: page script that runs after ours (in the click, submit or formdata event) can still
 * change where the element leads. The navigation itself comes after all of it.
 */
function onNavigate(event: Event): void {
  const a = live;
  const { destination, formData, sourceElement: source } = event as NavigateEvent;
  if (!a || !a.leads || !a.el || !source) return;
  const submits =
    formData !== null ||
    source instanceof HTMLFormElement ||
    source instanceof HTMLButtonElement ||
    source instanceof HTMLInputElement;
  let right = true;
  if (submits) {
    if (a.leads.form === undefined) return;
    right = sameAddress(destination.url, a.leads.form, a.leads.get === true);
  } else {
    if (a.leads.link === undefined || !(holds(source, a.el) || holds(a.el, source))) return;
    right = sameAddress(destination.url, a.leads.link, false);
  }
  if (right) return;
  event.preventDefault();
  if (a.stopped) return;
  a.stopped = "changed";
  say({ t: a.token, v: "stop", w: "changed", k: "navigate", n: knownNumber(a.el), d: true });
}

function sameAddress(a: string, b: string, anyQuery: boolean): boolean {
  try {
    const [x, y] = [new URL(a), new URL(b)];
    for (const url of [x, y]) if (anyQuery) url.search = url.hash = "";
    return x.href === y.href;
  } catch {
    return a === b;
  }
}

const WATCHED = [
  ...POINTER,
  ...KEYS,
  "keyup",
  "input",
  "change",
  "submit",
  "pointercancel",
  "dragend",
];

function listen(): void {
  // Adding a listener that is there already changes nothing, its place included.
  for (const type of WATCHED) addEventListener(type, onEvent, { capture: true, passive: type === "wheel" });
  (globalThis as { navigation?: EventTarget }).navigation?.addEventListener("navigate", onNavigate);
}

/** Installs the listeners. Must run before any script of the page. */
export function installGuard(): void {
  listen();
  installGrowth();
}

// A pointer over the picture, told in fractions of the page.
import { modifiers } from "./keys";
import type { Input } from "./wire";

const BUTTONS = ["left", "middle", "right"] as const;
/** As most desktops count a double click. */
const DOUBLE_MS = 500;
const DOUBLE_PX = 6;
/** A finger that moves further scrolls. */
const SCROLL_PX = 10;
const LINE_PX = 16;

export interface Point {
  x: number;
  y: number;
}

/** Where a point of the window lies in a box, from 0 to 1. */
export function fraction(point: { clientX: number; clientY: number }, box: { left: number; top: number; width: number; height: number }): Point {
  const within = (value: number, size: number) => (size > 0 ? Math.min(1, Math.max(0, value / size)) : 0);
  return { x: within(point.clientX - box.left, box.width), y: within(point.clientY - box.top, box.height) };
}

/** A page knows single, double and triple clicks. */
const MOST_CLICKS = 3;

/** Counts clicks at one place. */
export class Clicks {
  #last = { at: Number.NEGATIVE_INFINITY, x: 0, y: 0, button: -1, count: 0 };

  press(at: number, x: number, y: number, button: number): number {
    const last = this.#last;
    const again = at - last.at <= DOUBLE_MS && Math.hypot(x - last.x, y - last.y) <= DOUBLE_PX && button === last.button;
    this.#last = { at, x, y, button, count: again && last.count < MOST_CLICKS ? last.count + 1 : 1 };
    return this.#last.count;
  }
}

/** Sends what the pointer does over `view`. Answers what ends it and lets go of every button that is held. */
export function follow(view: HTMLElement, send: (input: Input) => void): () => void {
  const end = new AbortController();
  const options = { signal: end.signal };
  const clicks = new Clicks();
  let count = 1;
  let held = 0;
  let place: Point = { x: 0, y: 0 };
  let move: PointerEvent | null = null;
  let wheel: { x: number; y: number; dx: number; dy: number } | null = null;
  let finger: { id: number; x: number; y: number; scrolls: boolean } | null = null;
  let scheduled = 0;

  // A pointer reports more often than a page can be painted, so that the newest of each picture is sent.
  const flush = () => {
    scheduled = 0;
    if (move) send({ kind: "pointer", action: "move", ...place, buttons: move.buttons, modifiers: modifiers(move) });
    if (wheel) send({ kind: "wheel", ...wheel });
    move = null;
    wheel = null;
  };
  const soon = () => {
    scheduled ||= requestAnimationFrame(flush);
  };
  const at = (event: MouseEvent) => (place = fraction(event, view.getBoundingClientRect()));
  const scroll = (point: Point, dx: number, dy: number) => {
    wheel = { ...point, dx: (wheel?.dx ?? 0) + dx, dy: (wheel?.dy ?? 0) + dy };
    soon();
  };
  const button = (action: "down" | "up", event: PointerEvent, buttons: number) =>
    send({
      kind: "pointer",
      action,
      ...at(event),
      button: BUTTONS[event.button] ?? "left",
      buttons,
      clicks: count,
      modifiers: modifiers(event),
    });

  view.addEventListener("pointerdown", (event) => {
    if (event.button > 2) return;
    if (event.pointerType === "touch") {
      finger = { id: event.pointerId, x: event.clientX, y: event.clientY, scrolls: false };
      return;
    }
    event.preventDefault();
    view.setPointerCapture(event.pointerId);
    flush();
    held = event.buttons;
    count = clicks.press(event.timeStamp, event.clientX, event.clientY, event.button);
    button("down", event, event.buttons);
  }, options);
  view.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch") {
      if (finger?.id !== event.pointerId) return;
      const [dx, dy] = [finger.x - event.clientX, finger.y - event.clientY];
      if (!finger.scrolls && Math.hypot(dx, dy) < SCROLL_PX) return;
      finger = { ...finger, x: event.clientX, y: event.clientY, scrolls: true };
      scroll(at(event), dx, dy);
      return;
    }
    // A second button that goes down or up while one is held comes as a move.
    if (event.button >= 0 && event.button <= 2) button(event.buttons > held ? "down" : "up", event, event.buttons);
    held = event.buttons;
    at(event);
    move = event;
    soon();
  }, options);
  view.addEventListener("pointerup", (event) => {
    flush();
    if (event.pointerType === "touch") {
      if (finger?.id === event.pointerId && !finger.scrolls) {
        count = clicks.press(event.timeStamp, event.clientX, event.clientY, 0);
        button("down", event, 1);
        button("up", event, 0);
      }
      finger = null;
      return;
    }
    held = event.buttons;
    button("up", event, event.buttons);
  }, options);
  view.addEventListener("pointercancel", () => {
    finger = null;
    release();
  }, options);
  view.addEventListener("wheel", (event) => {
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : event.deltaMode === WheelEvent.DOM_DELTA_PAGE ? view.clientHeight : 1;
    scroll(at(event), event.deltaX * unit, event.deltaY * unit);
  }, { ...options, passive: false });
  // Else the press would move the focus away from the field that takes the keys.
  view.addEventListener("mousedown", (event) => event.preventDefault(), options);
  view.addEventListener("contextmenu", (event) => event.preventDefault(), options);

  const release = () => {
    for (const [bit, name] of [[1, "left"], [2, "right"], [4, "middle"]] as const) {
      if (held & bit) send({ kind: "pointer", action: "up", ...place, button: name, buttons: 0, clicks: 1, modifiers: 0 });
    }
    held = 0;
  };
  return () => {
    end.abort();
    if (scheduled) cancelAnimationFrame(scheduled);
    release();
  };
}

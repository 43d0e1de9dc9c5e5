// The canonical form of everything about an element that must stay the same until the event.

import { activationOf, enterSubmission, isDisabled } from "./forms";
import { attributeOf, getter, localNameOf, number } from "./nodes";

const inputTypeOf = getter(HTMLInputElement.prototype, "type");
const buttonTypeOf = getter(HTMLButtonElement.prototype, "type");

/** The `type` of an input or button as the browser understands it, else an empty string. */
export function typeOf(el: Element): string {
  if (el instanceof HTMLInputElement) return inputTypeOf(el);
  if (el instanceof HTMLButtonElement) return buttonTypeOf(el);
  return "";
}

/** Whether text can be typed into the element. */
export function isEditable(el: Element): boolean {
  if (el instanceof HTMLTextAreaElement) return !el.readOnly;
  if (el instanceof HTMLInputElement) {
    return !el.readOnly && !NOT_TYPED.has(inputTypeOf(el));
  }
  return el instanceof HTMLElement && el.isContentEditable;
}

const NOT_TYPED = new Set([
  "button", "checkbox", "color", "file", "hidden", "image", "radio", "range", "reset", "submit",
]);

/**
 * Compared byte for byte inside the event. It covers where a click or Enter leads and what kind
 * of control this is; text that may change by itself (names, values, counters) is not in it.
 */
export function seal(el: Element): string {
  const { link, submission, forwards } = activationOf(el);
  const enter = enterSubmission(el);
  return JSON.stringify([
    number(el),
    localNameOf(el),
    typeOf(el),
    attributeOf(el, "role") ?? "",
    isDisabled(el),
    isEditable(el),
    forwards,
    link && [link.url, link.target, link.download],
    submission && Object.values(submission),
    enter && Object.values(enter),
  ]);
}

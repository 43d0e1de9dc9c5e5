// What the person selected, for when they copy it (not for the model).
import { deepActiveElement, getter } from "./nodes";

const inputValueOf = getter(HTMLInputElement.prototype, "value");
const inputTypeOf = getter(HTMLInputElement.prototype, "type");
const inputStartOf = getter(HTMLInputElement.prototype, "selectionStart");
const inputEndOf = getter(HTMLInputElement.prototype, "selectionEnd");

/** The selected text of this document. Browsers give none of a password field, and neither does this. */
export function selected(): string {
  const active = deepActiveElement();
  if (active instanceof HTMLInputElement) {
    const [start, end] = [inputStartOf(active), inputEndOf(active)];
    if (inputTypeOf(active) === "password" || start === null || end === null) return "";
    return inputValueOf(active).slice(start, end);
  }
  if (active instanceof HTMLTextAreaElement) return active.value.slice(active.selectionStart, active.selectionEnd);
  return String(getSelection() ?? "");
}

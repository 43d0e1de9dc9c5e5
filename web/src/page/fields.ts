// Fields: what takes text and how, selects, and the states of boxes.
import { attributeOf, deepActiveElement, flatParent, hasAttribute, localNameOf, textOf } from "./nodes";
import { controlOf } from "./hit";
import { beginChange } from "./settle";

const giveFocus = Function.prototype.call.bind(HTMLElement.prototype.focus) as (
  receiver: unknown,
  options: FocusOptions,
) => void;
const setInput = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set;

/** Types whose value is not made of typed text. Their value is set in the canonical form. */
const SET_TYPES: Record<string, string> = {
  date: "YYYY-MM-DD",
  time: "HH:MM",
  month: "YYYY-MM",
  week: "YYYY-Www",
  "datetime-local": "YYYY-MM-DDTHH:MM",
  color: "#rrggbb",
  range: "a number within its bounds",
};

const NOT_TEXT = new Set(["button", "submit", "reset", "image", "checkbox", "radio", "file", "hidden"]);

export type Field =
  | { el: HTMLElement; how: "insert" }
  | { el: HTMLInputElement; how: "set"; form: string };

/** The element that takes text typed at `el`, and how. */
export function fieldOf(el: Element): Field | null {
  const inner = controlOf(el) ?? el;
  if (inner instanceof HTMLInputElement) {
    const form = SET_TYPES[inner.type];
    if (form !== undefined) return { el: inner, how: "set", form };
    return NOT_TEXT.has(inner.type) ? null : { el: inner, how: "insert" };
  }
  if (inner instanceof HTMLTextAreaElement) return { el: inner, how: "insert" };
  if (!(inner instanceof HTMLElement) || !inner.isContentEditable) return null;
  // Keys and text go to the outermost editable element: that one has the focus.
  let host: HTMLElement = inner;
  for (let at = flatParent(inner); at instanceof HTMLElement && at.isContentEditable; at = flatParent(at)) host = at;
  return { el: host, how: "insert" };
}

export function isReadOnly(el: Element): boolean {
  return (el instanceof HTMLInputElement || el instanceof HTMLTextAreaElement) && el.readOnly;
}

/** Gives the focus. False when the page took it away again, or it can't have it. */
export function focus(el: Element): boolean {
  if (deepActiveElement() !== el) giveFocus(el, { preventScroll: true });
  return deepActiveElement() === el;
}

/** Selects all of a field's content, or puts the caret at its end. */
export function place(el: HTMLElement, all: boolean): void {
  if (el instanceof HTMLInputElement || el instanceof HTMLTextAreaElement) {
    el.select();
    if (all) return;
    try {
      el.setSelectionRange(el.value.length, el.value.length);
    } catch {
      // Numbers and addresses have no ranges; the caret moves by itself.
      getSelection()?.modify("move", "forward", "documentboundary");
    }
    return;
  }
  const selection = getSelection();
  if (!selection) return;
  selection.selectAllChildren(el);
  if (!all) selection.collapseToEnd();
}

/** How much a field holds, in UTF-16 units. */
export function lengthOf(el: Element): number {
  if (el instanceof HTMLInputElement || el instanceof HTMLTextAreaElement) return el.value.length;
  return (textOf(el) as string | null)?.length ?? 0;
}

function tell(el: Element): void {
  beginChange(el);
  el.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  el.dispatchEvent(new Event("change", { bubbles: true }));
}

/** Sets the value of a field that takes no text. False when the browser does not accept it. */
export function setValue(el: HTMLInputElement, text: string): boolean {
  const before = el.value;
  const wanted = el.type === "color" ? text.toLowerCase() : text;
  setInput?.call(el, wanted);
  const takes = el.type === "range" ? el.value !== "" && !Number.isNaN(Number(text)) : el.value === wanted;
  if (!takes) {
    setInput?.call(el, before);
    return false;
  }
  if (el.value !== before) tell(el);
  return true;
}

const tidy = (text: string): string => text.replace(/\s+/g, " ").trim();

/** At most this many options are named when none fits. */
const NAMED_OPTIONS = 20;

export type Chosen =
  | { ok: true; changed: boolean; now: string[] }
  | { no: string; what: string; options?: string[] };

/** Chooses exactly these options, by value or label. */
export function choose(el: Element, wanted: string[]): Chosen {
  const select = controlOf(el) ?? el;
  if (!(select instanceof HTMLSelectElement)) {
    return { no: "not_a_select", what: "it is not a native select; click it and then click the option" };
  }
  const all = Array.from(select.options);
  const picked = new Set<HTMLOptionElement>();
  for (const want of wanted) {
    const label = tidy(want);
    const found =
      all.find((o) => o.value === want) ??
      all.find((o) => tidy(o.label) === label || tidy(o.text) === label) ??
      all.find((o) => tidy(o.label).toLowerCase() === label.toLowerCase());
    if (!found) {
      const options = all.filter((o) => !o.disabled).slice(0, NAMED_OPTIONS).map((o) => tidy(o.label));
      return { no: "no_option", what: "it has no such option", options };
    }
    if (found.matches(":disabled")) return { no: "disabled", what: "that option is disabled" };
    picked.add(found);
  }
  if (!select.multiple && picked.size > 1) return { no: "one_option", what: "it takes one option only" };
  const changed = all.some((o) => o.selected !== picked.has(o)) && (select.multiple || picked.size > 0);
  if (changed) {
    for (const option of all) {
      if (select.multiple) option.selected = picked.has(option);
      else if (picked.has(option)) option.selected = true;
    }
    tell(select);
  }
  return { ok: true, changed, now: Array.from(select.selectedOptions, (o) => tidy(o.label)) };
}

/** The state of a checkbox, radio or switch; null when it has none. */
export function checkedState(el: Element): "true" | "false" | "mixed" | null {
  const box = controlOf(el) ?? el;
  if (box instanceof HTMLInputElement && (box.type === "checkbox" || box.type === "radio")) {
    return box.indeterminate ? "mixed" : box.checked ? "true" : "false";
  }
  for (const name of ["aria-checked", "aria-pressed", "aria-selected"]) {
    if (!hasAttribute(el, name)) continue;
    const state = attributeOf(el, name);
    return state === "true" || state === "mixed" ? state : "false";
  }
  return localNameOf(el) === "option" ? ((el as HTMLOptionElement).selected ? "true" : "false") : null;
}

export function isRadio(el: Element): boolean {
  const box = controlOf(el) ?? el;
  return (box instanceof HTMLInputElement && box.type === "radio") || attributeOf(el, "role") === "radio";
}

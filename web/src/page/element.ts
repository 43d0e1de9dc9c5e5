// Raw facts of one element: attributes that matter, live values, references. No judgement here.

import { activationOf, hrefOf, submits } from "./forms";
import { attributeOf, byId, getter, hasAttribute, matchesSelector, rootOf } from "./nodes";
import { KEY_INDEX, Flag, key } from "./facts";
import type { LabelIndex } from "./labels";
import { sensitivityOf } from "./secrets";

/** One attribute or value is cut here, so that a hostile page cannot fill the capture with one. */
const VALUE_CHARS = 1_000;
/** Addresses are compared exactly, so they are cut only where no real one is that long. */
const URL_CHARS = 8_192;

const inputTypeOf = getter(HTMLInputElement.prototype, "type");
const inputValueOf = getter(HTMLInputElement.prototype, "value");
const checkedOf = getter(HTMLInputElement.prototype, "checked");
const indeterminateOf = getter(HTMLInputElement.prototype, "indeterminate");
const filesOf = getter(HTMLInputElement.prototype, "files");
const areaValueOf = getter(HTMLTextAreaElement.prototype, "value");
const selectedOf = getter(HTMLOptionElement.prototype, "selected");

const HREF = key("href");
const VALUE = key("value");
const LIVE_VALUE = key("=value");
const LABELS = key("=labels");
const BEFORE = key("=before");
const AFTER = key("=after");
const SECRET = key("=secret");
const SUBMISSION = key("=submission");
const INTERNALS = key("=internals");
const INTERNALS_LABEL = key("=internals-label");
const FILES = key("=files");

const REFERENCES = new Set(
  ["aria-labelledby", "aria-describedby", "aria-owns", "aria-errormessage", "aria-details",
   "aria-activedescendant"].map((name) => KEY_INDEX.get(name) ?? -1),
);
const REFLECTED: Record<number, "ariaLabelledByElements" | "ariaDescribedByElements"
  | "ariaOwnsElements"> = {
  [key("aria-labelledby")]: "ariaLabelledByElements",
  [key("aria-describedby")]: "ariaDescribedByElements",
  [key("aria-owns")]: "ariaOwnsElements",
};

/** Controls that can have labels. */
const LABELABLE = new Set([
  "button", "input", "meter", "output", "progress", "select", "textarea",
]);
/** Elements that `:disabled` can match, custom elements apart. */
const CAN_BE_DISABLED = new Set([
  "button", "input", "select", "textarea", "option", "optgroup", "fieldset",
]);

/** Role and label that the browser knows of custom elements through their internals. */
export const internals = new WeakMap<Element, [role: string, label: string]>();

/**
 * Whether the browser has to be asked for a custom element's internals: it takes part in forms or
 * looks as if it could be acted on, says no role, and was not asked about before.
 */
export function wantsInternals(el: Element, tag: string, names: string[], flags: number): boolean {
  if (!tag.includes("-") || names.includes("role") || internals.has(el)) return false;
  return (
    (flags & Flag.Pointer) !== 0 ||
    names.includes("tabindex") ||
    matchesSelector(el, ":enabled, :disabled")
  );
}

export type Out = (number | string)[];

export function clean(text: string, limit = VALUE_CHARS): string {
  return (text.length > limit ? text.slice(0, limit) : text).toWellFormed();
}

/** What reading an element needs from the walk around it. */
export interface Context {
  labels: LabelIndex;
  /** Remembers that this element is referred to, so that it is captured as well. */
  refer(el: Element): number;
}

/** The numbers of the elements that an attribute with ids refers to. */
function references(el: Element, k: number, ids: string, context: Context): string {
  const found: number[] = [];
  const reflected = ids === "" ? REFLECTED[k] : undefined;
  if (reflected) {
    // Set by script as elements, without ids.
    for (const target of (el as unknown as Record<string, Element[] | null>)[reflected] ?? []) {
      found.push(context.refer(target));
    }
  } else {
    const root = rootOf(el);
    for (const id of ids.split(/\s+/)) {
      const target = id ? byId(root, id) : null;
      if (target) found.push(context.refer(target));
    }
  }
  return found.join(" ");
}

/** Generated text of `::before` and `::after`, where a name can be made from content. */
export function generated(el: Element, out: Out): number {
  let count = 0;
  for (const [k, pseudo] of [[BEFORE, "::before"], [AFTER, "::after"]] as const) {
    const style = getComputedStyle(el, pseudo);
    const content = style.content;
    if (content === "none" || content === "normal" || content === "" || content === '""') continue;
    if (style.display === "none") continue;
    const text = content.replace(/attr\(\s*([\w-]+)[^)]*\)/g, (_, name: string) =>
      JSON.stringify(attributeOf(el, name) ?? ""),
    );
    out.push(k, clean((style.display.startsWith("inline") ? "" : " ") + text));
    count++;
  }
  return count;
}

/** Appends the element's attribute facts; returns how many and the flags they imply. */
export function facts(
  el: Element,
  tag: string,
  names: string[],
  context: Context,
  out: Out,
): { count: number; flags: number } {
  let count = 0;
  let flags = 0;
  for (const name of names) {
    const k = KEY_INDEX.get(name);
    if (k === undefined) continue;
    let value = attributeOf(el, name) ?? "";
    if (REFERENCES.has(k)) {
      value = references(el, k, value, context);
      if (value === "") continue;
    } else if (k === HREF) {
      value = hrefOf(el) ?? "";
      out.push(k, clean(value, URL_CHARS));
      count++;
      continue;
    } else if (k === VALUE && tag !== "li" && tag !== "option" && tag !== "button") {
      continue;
    }
    out.push(k, clean(value));
    count++;
  }
  const told = internals.get(el);
  if (told) {
    if (told[0]) out.push(INTERNALS, told[0]);
    if (told[1]) out.push(INTERNALS_LABEL, clean(told[1]));
    count += (told[0] ? 1 : 0) + (told[1] ? 1 : 0);
  }
  if (CAN_BE_DISABLED.has(tag) || tag.includes("-")) {
    if (matchesSelector(el, ":disabled")) flags |= Flag.Disabled;
  }
  if ((tag === "button" || tag === "input") && submits(el)) {
    flags |= Flag.Submits;
    out.push(SUBMISSION, JSON.stringify(activationOf(el).submission).toWellFormed());
    count++;
  }
  if (LABELABLE.has(tag)) {
    const labels = context.labels.of(el);
    if (labels.length > 0) {
      out.push(LABELS, labels.map((label) => context.refer(label)).join(" "));
      count++;
    }
  }
  if (el instanceof HTMLInputElement) {
    const type = inputTypeOf(el);
    if (type === "checkbox" || type === "radio") {
      if (checkedOf(el)) flags |= Flag.Checked;
      if (indeterminateOf(el)) flags |= Flag.Indeterminate;
    } else {
      const secret = sensitivityOf(el, context.labels.textOf(el));
      if (secret) {
        out.push(SECRET, secret);
        count++;
      }
      if (type === "file") {
        const files = filesOf(el);
        if (files && files.length > 0) {
          out.push(FILES, clean(Array.from(files, (file) => file.name).join(", ")));
          count++;
        }
      } else {
        const value = inputValueOf(el);
        if (value !== "") {
          // The value of a secret stays here; only that there is one goes out.
          out.push(LIVE_VALUE, secret ? "" : clean(value));
          count++;
        }
      }
    }
    if (el.required) flags |= Flag.Required;
    if (el.readOnly) flags |= Flag.ReadOnly;
  } else if (el instanceof HTMLTextAreaElement) {
    const secret = sensitivityOf(el, context.labels.textOf(el));
    const value = areaValueOf(el);
    if (secret) {
      out.push(SECRET, secret);
      count++;
    }
    if (value !== "") {
      out.push(LIVE_VALUE, secret ? "" : clean(value));
      count++;
    }
    if (el.required) flags |= Flag.Required;
    if (el.readOnly) flags |= Flag.ReadOnly;
  } else if (el instanceof HTMLOptionElement) {
    if (selectedOf(el)) flags |= Flag.Selected;
  } else if (el instanceof HTMLSelectElement) {
    const secret = sensitivityOf(el, context.labels.textOf(el));
    if (secret) {
      out.push(SECRET, secret);
      count++;
    }
    if (el.required) flags |= Flag.Required;
  } else if (el instanceof HTMLProgressElement || el instanceof HTMLMeterElement) {
    if (el instanceof HTMLMeterElement || hasAttribute(el, "value")) {
      out.push(LIVE_VALUE, String(el.value));
      count++;
    }
  }
  return { count, flags };
}


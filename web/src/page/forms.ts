// What a click or Enter would start: links and submissions with every override resolved.

import {
  attributeOf,
  baseAddressOf,
  comparePosition,
  flatParent,
  getter,
  hasAttribute,
  localNameOf,
  matchesSelector,
  number,
  queryAll,
  rootOf,
  textOf,
} from "./nodes";

export interface LinkFacts {
  url: string;
  target: string;
  download: boolean;
}

export interface SubmissionFacts {
  action: string;
  method: string;
  target: string;
  enctype: string;
  /** The number of the submitting control, 0 for none. */
  submitter: number;
  caption: string | null;
  form: number;
}

const inputTypeOf = getter(HTMLInputElement.prototype, "type");
const inputValueOf = getter(HTMLInputElement.prototype, "value");
const inputFormOf = getter(HTMLInputElement.prototype, "form");
const inputFormAction = getter(HTMLInputElement.prototype, "formAction");
const inputFormMethod = getter(HTMLInputElement.prototype, "formMethod");
const inputFormEnctype = getter(HTMLInputElement.prototype, "formEnctype");
const buttonTypeOf = getter(HTMLButtonElement.prototype, "type");
const buttonFormOf = getter(HTMLButtonElement.prototype, "form");
const buttonFormAction = getter(HTMLButtonElement.prototype, "formAction");
const buttonFormMethod = getter(HTMLButtonElement.prototype, "formMethod");
const buttonFormEnctype = getter(HTMLButtonElement.prototype, "formEnctype");
const formAction = getter(HTMLFormElement.prototype, "action");
const formMethod = getter(HTMLFormElement.prototype, "method");
const formEnctype = getter(HTMLFormElement.prototype, "enctype");
const formElementsOf = getter(HTMLFormElement.prototype, "elements");
const labelControlOf = getter(HTMLLabelElement.prototype, "control");
const anchorHref = getter(HTMLAnchorElement.prototype, "href");
const areaHref = getter(HTMLAreaElement.prototype, "href");

const XLINK = "http://www.w3.org/1999/xlink";

/** The `target` that applies to the document where an element names none. */
function baseTarget(): string {
  for (const base of queryAll(document, "base[target]")) return attributeOf(base, "target") ?? "";
  return "";
}

/** The absolute address of a link element (HTML or SVG), or null when it is none. */
export function hrefOf(el: Element): string | null {
  if (el instanceof HTMLAnchorElement) return hasAttribute(el, "href") ? anchorHref(el) : null;
  if (el instanceof HTMLAreaElement) return hasAttribute(el, "href") ? areaHref(el) : null;
  if (el instanceof SVGAElement) {
    const raw = attributeOf(el, "href") ?? el.getAttributeNS(XLINK, "href");
    if (raw === null) return null;
    try {
      return new URL(raw, baseAddressOf(document)).href;
    } catch {
      return raw;
    }
  }
  return null;
}

function linkOf(el: Element): LinkFacts | null {
  const url = hrefOf(el);
  if (url === null) return null;
  return {
    url,
    target: attributeOf(el, "target") ?? baseTarget(),
    download: hasAttribute(el, "download"),
  };
}

type Submitter = HTMLInputElement | HTMLButtonElement;

/** A control whose activation submits its form. */
function asSubmitter(el: Element): Submitter | null {
  if (el instanceof HTMLButtonElement) return buttonTypeOf(el) === "submit" ? el : null;
  if (el instanceof HTMLInputElement) {
    const type = inputTypeOf(el);
    return type === "submit" || type === "image" ? el : null;
  }
  return null;
}

/** Whether a click on the control submits a form. */
export function submits(el: Element): boolean {
  const submitter = asSubmitter(el);
  return submitter !== null && formOf(submitter) !== null;
}

function formOf(el: Element): HTMLFormElement | null {
  if (el instanceof HTMLInputElement) return inputFormOf(el);
  if (el instanceof HTMLButtonElement) return buttonFormOf(el);
  return null;
}

function captionOf(submitter: Submitter): string {
  if (submitter instanceof HTMLInputElement) {
    const text =
      inputTypeOf(submitter) === "image" ? attributeOf(submitter, "alt") : inputValueOf(submitter);
    return text || attributeOf(submitter, "aria-label") || "Submit";
  }
  const text = (textOf(submitter) ?? "").replace(/\s+/g, " ").trim();
  return (attributeOf(submitter, "aria-label") || text || "").slice(0, 200);
}

function submissionOf(form: HTMLFormElement, by: Submitter | null): SubmissionFacts {
  const input = by instanceof HTMLInputElement ? by : null;
  const button = by instanceof HTMLButtonElement ? by : null;
  const own = (name: string) => by !== null && hasAttribute(by, name);
  let action = formAction(form);
  if (own("formaction")) action = input ? inputFormAction(input) : buttonFormAction(button);
  let method: string = formMethod(form);
  if (own("formmethod")) method = input ? inputFormMethod(input) : buttonFormMethod(button);
  let enctype: string = formEnctype(form);
  if (own("formenctype")) enctype = input ? inputFormEnctype(input) : buttonFormEnctype(button);
  const target =
    (by && attributeOf(by, "formtarget")) ?? attributeOf(form, "target") ?? baseTarget();
  return {
    action,
    method,
    target,
    enctype,
    submitter: by ? number(by) : 0,
    caption: by ? captionOf(by) : null,
    form: number(form),
  };
}

/** The form's default button: its first submit button in tree order, image buttons included. */
function defaultButton(form: HTMLFormElement): Submitter | null {
  let first: Submitter | null = null;
  // `elements` leaves image buttons out for historical reasons.
  for (const el of formElementsOf(form)) {
    first = asSubmitter(el);
    if (first) break;
  }
  const images = queryAll(rootOf(form), "input[type=image i]");
  for (const image of images) {
    if (!(image instanceof HTMLInputElement) || inputFormOf(image) !== form) continue;
    const before = Node.DOCUMENT_POSITION_PRECEDING;
    if (!first || comparePosition(first, image) & before) first = image;
    break;
  }
  return first;
}

// HTML, "implicit submission": with no submit button, a second field of these kinds blocks it.
const BLOCKING = new Set([
  "text", "search", "tel", "url", "email", "password", "date", "month", "week", "time",
  "datetime-local", "number",
]);
const NOT_BY_ENTER = new Set(["button", "reset", "submit", "image", "hidden", "file", "color"]);

/** The submission that Enter in this field would start. */
export function enterSubmission(el: Element): SubmissionFacts | null {
  const submitter = asSubmitter(el);
  if (submitter) {
    const form = formOf(submitter);
    return form && !isDisabled(submitter) ? submissionOf(form, submitter) : null;
  }
  if (!(el instanceof HTMLInputElement) || NOT_BY_ENTER.has(inputTypeOf(el))) return null;
  const form = inputFormOf(el);
  if (!form) return null;
  const button = defaultButton(form);
  if (button) return isDisabled(button) ? null : submissionOf(form, button);
  let blocking = 0;
  for (const other of formElementsOf(form)) {
    if (other instanceof HTMLInputElement && BLOCKING.has(inputTypeOf(other))) blocking++;
  }
  return blocking > 1 ? null : submissionOf(form, null);
}

/** Whether the element is disabled by itself, by its fieldset, or inert. */
export function isDisabled(el: Element): boolean {
  if (matchesSelector(el, ":disabled")) return true;
  for (let at: Element | null = el; at; at = flatParent(at)) {
    if (hasAttribute(at, "inert")) return true;
  }
  return false;
}

export interface Activation {
  link: LinkFacts | null;
  submission: SubmissionFacts | null;
  /** The control that a label hands the click to, 0 for none. */
  forwards: number;
}

/**
 * What a click on the element would start by itself: the nearest activatable element upwards in
 * the flat tree decides, and a label hands the click to its control.
 */
export function activationOf(el: Element): Activation {
  const nothing: Activation = { link: null, submission: null, forwards: 0 };
  for (let at: Element | null = el; at; at = flatParent(at)) {
    const link = linkOf(at);
    if (link) return { ...nothing, link };
    const tag = localNameOf(at);
    if (at instanceof HTMLLabelElement) {
      const control = labelControlOf(at);
      if (!control) continue;
      const submitter = asSubmitter(control);
      const form = submitter && !isDisabled(submitter) ? formOf(submitter) : null;
      return {
        link: null,
        submission: form ? submissionOf(form, submitter) : null,
        forwards: number(control),
      };
    }
    if (at instanceof HTMLInputElement || at instanceof HTMLButtonElement) {
      const submitter = asSubmitter(at);
      const form = submitter && !isDisabled(submitter) ? formOf(submitter) : null;
      return form ? { ...nothing, submission: submissionOf(form, submitter) } : nothing;
    }
    if (tag === "select" || tag === "textarea" || tag === "summary") return nothing;
  }
  return nothing;
}

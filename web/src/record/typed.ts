// Where a person or an agent typed, for as long as the document lives. Values stay in here: they are only
// compared with what is about to leave.

import { sensitivityOf } from "../page/secrets";

/** Texts of secret fields that are looked for in what leaves; the oldest go first. */
const SECRETS = 40;
/** Shorter texts are in every page. */
const SHORTEST = 4;

/** Elements that someone edited: their text stays masked when the page ends the editing. */
const edited = new WeakSet<Node>();
let anyEdited = false;

const secrets = new Map<string, string>();

/** Fields that held something else than the caption of a button at any time. */
const fields = new WeakSet<Element>();

const CAPTIONED = new Set(["button", "submit", "reset", "image"]);

/** Whether the value of an input is the caption of a button, and always was. */
export function isCaption(field: HTMLInputElement): boolean {
  if (CAPTIONED.has(field.type) && !fields.has(field)) return true;
  fields.add(field);
  return false;
}

/** Whether the text in an element is, or was, typed text. */
export function isEdited(at: Node | null): boolean {
  for (let node: Node | null = at; node; node = node.parentNode ?? (node as ShadowRoot).host ?? null) {
    if (anyEdited && edited.has(node)) return true;
    if (node instanceof HTMLElement && node.isContentEditable) {
      mark(node);
      return true;
    }
  }
  return false;
}

/** Whether editing begins at an element, or did once. */
export function beginsEditing(at: Node | null): boolean {
  if (anyEdited && at && edited.has(at)) return true;
  if (!(at instanceof HTMLElement)) return false;
  const own = at.getAttribute("contenteditable");
  return own !== null && own.toLowerCase() !== "false";
}

/** Typed text stays typed text in the whole of what could be edited. */
function mark(node: HTMLElement): void {
  let host: Node = node;
  for (let up = node.parentElement; up?.isContentEditable; up = up.parentElement) host = up;
  edited.add(host);
  edited.add(node);
  anyEdited = true;
}

/** Stars in the place of a value. Where the length would tell something it is not told. */
export function stars(value: string, field: Element | null): string {
  if (value === "") return "";
  if (field && isSecret(field)) return "********";
  return "*".repeat(Math.min(value.length, 200));
}

function isSecret(field: Element): boolean {
  const kind = sensitivityOf(field, "");
  return kind !== "" && kind !== "file";
}

/** Takes secrets out that the page shows elsewhere, such as a password that it repeats in its text. */
export function scrub(json: string): string {
  for (const [secret, hidden] of secrets) {
    if (json.includes(secret)) json = json.split(secret).join(hidden);
  }
  return json;
}

/** Style alone makes text editable as well. */
function isEditable(el: HTMLElement): boolean {
  return el.isContentEditable || getComputedStyle(el).getPropertyValue("-webkit-user-modify").startsWith("read-write");
}

function note(field: Element | undefined): void {
  if (field instanceof HTMLElement && isEditable(field)) mark(field);
  if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)) return;
  const value = field.value;
  if (field instanceof HTMLInputElement) isCaption(field);
  if (value.length < SHORTEST || /^\*+$/.test(value) || !isSecret(field)) return;
  // As it stands in JSON, where it is looked for.
  const written = JSON.stringify(value).slice(1, -1);
  secrets.delete(written);
  secrets.set(written, "********");
  const oldest = secrets.keys().next();
  if (secrets.size > SECRETS && !oldest.done) secrets.delete(oldest.value);
}

function typed(event: Event): void {
  note(event.composedPath()[0] as Element | undefined);
}

/** May be called again: a listener that is there already is not added twice. */
export function watchTyping(): void {
  // On the window, so that it is heard before the recorder, and before the page.
  for (const kind of ["beforeinput", "input", "change"]) {
    addEventListener(kind, typed, { capture: true, passive: true });
  }
}

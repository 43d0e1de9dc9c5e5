// What of an event must not leave the page (S-102, S-104). All that was typed is replaced by stars; what only
// the page's own working needs is left out.

import type { eventWithTime, serializedNodeWithId } from "@rrweb/types";
import { beginsEditing, isCaption, isEdited, stars } from "./typed";

type Mirror = { getNode(id: number): Node | null };
type Attributes = Record<string, unknown>;

const FULL_SNAPSHOT = 2;
const INCREMENTAL = 3;
const META = 4;
const MUTATION = 0;
const INPUT = 5;

const ELEMENT = 2;
const TEXT = 3;

/** Elements whose `value` is the page's own. */
const OWN_VALUES = new Set(["OPTION", "LI", "PROGRESS", "METER", "BUTTON", "DATA", "PARAM"]);

/** Attributes that are addresses. A query or fragment may carry a key, and a replay loads nothing anyway. */
const ADDRESSES = new Set([
  "href", "src", "action", "formaction", "cite", "data", "poster", "background", "longdesc", "manifest",
  "rr_src", "xlink:href",
]);

/** Attributes that say nothing about what is on the screen. */
const DROPPED = new Set(["srcdoc", "nonce", "integrity", "ping", "srcset", "imagesrcset"]);

/** What is kept of an element in edited text: its looks, nothing that someone could have pasted. */
const SHAPE = new Set(["class", "dir", "role", "contenteditable", "hidden", "open", "rows", "cols", "colspan", "rowspan"]);

/** A picture in an attribute above this is left out: it weighs more than it shows. */
const LARGEST_DATA = 64 << 10;

export function withoutQuery(address: string): string {
  if (address.startsWith("#") || address.startsWith("data:")) return address;
  const end = address.search(/[?#]/);
  return end < 0 ? address : address.slice(0, end);
}

function maskAttributes(attributes: Attributes, at: Node | null, edited: boolean): void {
  for (const [name, value] of Object.entries(attributes)) {
    const lower = name.toLowerCase();
    if (lower.startsWith("on") || DROPPED.has(lower) || (edited && !SHAPE.has(lower) && !lower.startsWith("rr_"))) {
      delete attributes[name];
    } else if (typeof value === "string") {
      if (ADDRESSES.has(lower)) attributes[name] = value.length > LARGEST_DATA ? "" : withoutQuery(value);
      else if (lower === "value" && at instanceof Element) attributes[name] = maskValue(value, at);
    }
  }
}

function maskValue(value: string, at: Element): string {
  if (OWN_VALUES.has(at.tagName)) return value;
  if (at instanceof HTMLInputElement && isCaption(at)) return value;
  return stars(value, at);
}

function maskNode(node: serializedNodeWithId, mirror: Mirror, editedAbove: boolean): void {
  if (node.type === TEXT) {
    if (editedAbove) node.textContent = blank(node.textContent);
    return;
  }
  let edited = editedAbove;
  if (node.type === ELEMENT) {
    const at = mirror.getNode(node.id);
    // The walk comes from above, so only the element itself has to be looked at.
    edited ||= beginsEditing(at);
    maskAttributes(node.attributes as Attributes, at, edited);
    if (node.tagName === "textarea") edited = true;
  }
  if ("childNodes" in node) for (const child of node.childNodes) maskNode(child, mirror, edited);
}

function blank(text: string): string {
  return text.replace(/\S/g, "*");
}

export function mask(event: eventWithTime, mirror: Mirror): void {
  if (event.type === META) {
    event.data.href = withoutQuery(event.data.href);
  } else if (event.type === FULL_SNAPSHOT) {
    maskNode(event.data.node, mirror, document.designMode === "on");
  } else if (event.type === INCREMENTAL && event.data.source === MUTATION) {
    for (const add of event.data.adds) maskNode(add.node, mirror, isEdited(mirror.getNode(add.parentId)));
    for (const text of event.data.texts) {
      const parent = mirror.getNode(text.id)?.parentNode ?? null;
      if (text.value && (isEdited(parent) || parent instanceof HTMLTextAreaElement)) text.value = blank(text.value);
    }
    for (const change of event.data.attributes) {
      const at = mirror.getNode(change.id);
      maskAttributes(change.attributes as Attributes, at, isEdited(at));
    }
  } else if (event.type === INCREMENTAL && event.data.source === INPUT) {
    const at = mirror.getNode(event.data.id);
    const shown = at instanceof HTMLInputElement && isCaption(at);
    if (!shown) event.data.text = stars(event.data.text, at instanceof Element ? at : null);
  }
}

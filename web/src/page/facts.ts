// The record format that travels to the core. crates/reins-page/src/wire.rs is its other half.
//
// A capture is one flat list, in flat-tree order, of three kinds of record:
//   element  tag ≥ 0, depth, number, display, flags, [x, y, width, height unless inline or contents], n, n × (key, value)
//   text     -1, depth, flags, text
//   gap      -2, depth, how many sibling subtrees were left out here (-1: not counted)
//   screen   -4        everything after it was reached only because it is on screen
//   aside    -3        everything after it was left out of the page's own order, but is referred to
// `tag` is an index into the capture's own list of tag names.

/** Record kinds other than elements. */
export const TEXT = -1;
export const GAP = -2;
export const ASIDE = -3;
export const SCREEN = -4;

/** Attributes and facts by key. The position in this list is the key: only ever append. */
export const KEYS = [
  "role", "aria-label", "aria-labelledby", "aria-describedby", "aria-description", "aria-level",
  "aria-checked", "aria-selected", "aria-expanded", "aria-pressed", "aria-disabled",
  "aria-required", "aria-readonly", "aria-invalid", "aria-current", "aria-haspopup",
  "aria-modal", "aria-live", "aria-busy", "aria-valuenow", "aria-valuemin", "aria-valuemax",
  "aria-valuetext", "aria-sort", "aria-roledescription", "aria-placeholder", "aria-multiline",
  "aria-multiselectable", "aria-orientation", "aria-owns", "aria-activedescendant",
  "aria-rowcount", "aria-colcount", "aria-rowindex", "aria-colindex", "aria-posinset",
  "aria-setsize", "aria-hidden", "alt", "title", "placeholder", "href", "type", "name", "value",
  "target", "download", "scope", "colspan", "rowspan", "headers", "open", "tabindex",
  "contenteditable", "for", "src", "usemap", "label", "start", "onclick", "min", "max", "step",
  "multiple", "size", "list", "autocomplete", "accept", "inputmode", "popover", "controls",
  "lang", "dir", "summary", "cite", "datetime", "low", "high", "optimum", "aria-details",
  "aria-errormessage", "aria-controls", "aria-keyshortcuts", "aria-braillelabel",
  "aria-brailleroledescription", "xlink:href", "draggable", "maxlength",
  // Facts that are no attributes.
  "=value", "=labels", "=before", "=after", "=secret", "=files", "=internals", "=more", "=submission", "=internals-label", "xlink:title",
] as const;

export type Key = (typeof KEYS)[number];

export const KEY_INDEX = new Map<string, number>(KEYS.map((key, index) => [key, index]));

/** The index of a key, checked by the compiler. */
export function key(name: Key): number {
  return KEY_INDEX.get(name) ?? -1;
}

/** How an element takes part in layout. */
export const enum Display {
  Block = 0,
  Inline = 1,
  InlineBlock = 2,
  Contents = 3,
  Table = 4,
  TableRow = 5,
  TableCell = 6,
  TableRows = 7,
  ListItem = 8,
  TableCaption = 9,
}

/** What is true of an element or text. */
export const enum Flag {
  /** The box has been measured. */
  Box = 1,
  /** Some of it is in the viewport now. */
  OnScreen = 2,
  /** `visibility` hides its own text; children may be visible. */
  Invisible = 4,
  /** Its text is painted with a transparent colour. */
  Transparent = 8,
  /** Its font is too small to read. */
  TinyFont = 16,
  /** It cuts off what sticks out of its box. */
  Clips = 32,
  /** It has a hand as its cursor and its parent has not. */
  Pointer = 64,
  Disabled = 128,
  Checked = 256,
  Indeterminate = 512,
  Selected = 1024,
  Required = 2048,
  ReadOnly = 4096,
  Focused = 8192,
  /** Text can be typed here (contenteditable). */
  Editable = 16384,
  /** It was left out of the page's rendering: only reached as something referred to. */
  Hidden = 32768,
  /** Its text is moved out of sight by `text-indent`. */
  Indented = 65536,
  /** White space is kept. */
  Preformatted = 131072,
  /** It hosts a shadow root that this script sees. */
  Host = 262144,
  /** It scrolls: content goes on beyond its box. */
  Scrolls = 524288,
  /** A click on it submits a form. */
  Submits = 1048576,
  /** Only there for context: its children were not gone through. */
  Bare = 2097152,
  /** A script listens for clicks on it. */
  Listens = 4194304,
}

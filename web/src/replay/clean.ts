// What a page wrote must neither run nor load anything where it is shown. The frame it is shown in has no
// script and a policy that lets nothing in; this takes out what no policy covers, such as connections that
// are opened ahead, and what would only be refused.

import type { serializedNodeWithId } from "@rrweb/types";

type Attributes = Record<string, unknown>;

/** Elements that are shown as if they were nothing. */
const INERT = new Set(["script", "object", "embed", "applet", "base", "portal", "frame", "fencedframe"]);

const ADDRESSES = new Set([
  "src", "srcset", "href", "xlink:href", "action", "formaction", "data", "poster", "background", "ping", "manifest",
  "cite", "longdesc", "codebase", "archive", "imagesrcset", "srcdoc", "rr_src", "http-equiv",
]);

export function cleanAttributes(tag: string, attributes: Attributes): Attributes {
  const out: Attributes = {};
  for (const [name, value] of Object.entries(attributes)) {
    const lower = name.toLowerCase();
    if (lower.startsWith("on") || lower === "target" || lower === "rel" || lower === "is") continue;
    if (tag === "iframe" && SHUT.has(lower)) continue;
    if (!ADDRESSES.has(lower)) out[name] = value;
    else if (typeof value !== "string") continue;
    else if (value.startsWith("data:image/") || value.startsWith("#")) out[name] = value;
    // A link should look like one and lead nowhere.
    else if (tag === "a" || tag === "area") out[name] = "#";
  }
  return out;
}

/** Attributes of frames that would shut out what is to be shown in them. They stay within the frame around them. */
const SHUT = new Set(["sandbox", "csp", "allow", "credentialless", "loading", "name"]);

/** A copy of a node and all below it, with the numbers that `number` gives. */
export function cleanNode(
  node: serializedNodeWithId,
  number: (id: number) => number,
  root: number | undefined,
): serializedNodeWithId {
  const copy = { ...node, id: number(node.id) } as serializedNodeWithId & {
    rootId?: number | undefined;
    childNodes?: serializedNodeWithId[];
    attributes?: Attributes;
    tagName?: string;
  };
  if (root !== undefined && node.type !== 0) copy.rootId = root;
  if (copy.tagName !== undefined) {
    const tag = copy.tagName.toLowerCase();
    copy.attributes = cleanAttributes(tag, copy.attributes ?? {});
    if (INERT.has(tag)) copy.tagName = "noscript";
  }
  if (copy.childNodes) copy.childNodes = copy.childNodes.map((child) => cleanNode(child, number, root));
  return copy;
}

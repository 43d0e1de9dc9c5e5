// Numbers for nodes, and readers that a hostile page cannot bend.
//
// The script runs in an isolated world: page script cannot see it or replace its built-ins. What
// a page *can* still do is clobber: `<form><input name=getAttribute>` makes `form.getAttribute`
// an element, in every world. So nothing is read off a node by plain property access where a
// form or the document could be the receiver; the prototype's own getters are called instead.

type AnyFunction = (this: never, ...args: never[]) => unknown;
type Uncurried<F> = F extends (this: infer _T, ...args: infer A) => infer R
  ? (receiver: unknown, ...args: A) => R
  : never;

const callOf = Function.prototype.call;

/** A method as a function that takes its receiver first. */
function method<F extends AnyFunction>(f: F): Uncurried<F> {
  return callOf.bind(f) as Uncurried<F>;
}

/** A prototype's getter as a function. */
export function getter<T extends object, K extends keyof T & string>(
  prototype: T,
  name: K,
): (receiver: unknown) => T[K] {
  const get = Object.getOwnPropertyDescriptor(prototype, name)?.get;
  if (!get) throw new Error(`no getter ${name}`);
  return callOf.bind(get) as (receiver: unknown) => T[K];
}

export const attributeOf = method(Element.prototype.getAttribute);
export const hasAttribute = method(Element.prototype.hasAttribute);
export const attributeNames = method(Element.prototype.getAttributeNames);
export const rectOf = method(Element.prototype.getBoundingClientRect);
export const closestOf = method(Element.prototype.closest) as (
  receiver: unknown,
  selectors: string,
) => Element | null;
export const matchesSelector = method(Element.prototype.matches);
export const isRendered = method(Element.prototype.checkVisibility);
export const localNameOf = getter(Element.prototype, "localName");
export const namespaceOf = getter(Element.prototype, "namespaceURI");
export const openRootOf = getter(Element.prototype, "shadowRoot");
export const assignedSlotOf = getter(Element.prototype, "assignedSlot");
export const childElementsOf = getter(Element.prototype, "children");
export const scrollWidthOf = getter(Element.prototype, "scrollWidth");
export const scrollHeightOf = getter(Element.prototype, "scrollHeight");
export const clientWidthOf = getter(Element.prototype, "clientWidth");
export const clientHeightOf = getter(Element.prototype, "clientHeight");
export const nodeTypeOf = getter(Node.prototype, "nodeType");
export const parentOf = getter(Node.prototype, "parentNode");
export const firstChildOf = getter(Node.prototype, "firstChild");
export const nextSiblingOf = getter(Node.prototype, "nextSibling");
export const previousSiblingOf = getter(Node.prototype, "previousSibling");
export const connectedOf = getter(Node.prototype, "isConnected");
export const textOf = getter(Node.prototype, "textContent");
export const rootOf = method(Node.prototype.getRootNode);
export const containsNode = method(Node.prototype.contains);
export const comparePosition = method(Node.prototype.compareDocumentPosition);
export const dataOf = getter(CharacterData.prototype, "data");
export const bodyOf = getter(Document.prototype, "body");
export const documentElementOf = getter(Document.prototype, "documentElement");
export const titleOf = getter(Document.prototype, "title");
export const readyStateOf = getter(Document.prototype, "readyState");
export const scrollingElementOf = getter(Document.prototype, "scrollingElement");
export const elementsByTag = method(Document.prototype.getElementsByTagName) as (
  receiver: unknown,
  name: string,
) => HTMLCollectionOf<Element>;
export const baseAddressOf = getter(Node.prototype, "baseURI");
export const firstElementChildOf = getter(Element.prototype, "firstElementChild");
export const activeElementOf = getter(Document.prototype, "activeElement");
export const assignedNodesOf = method(HTMLSlotElement.prototype.assignedNodes);

const byIdInDocument = method(Document.prototype.getElementById);
const byIdInFragment = method(DocumentFragment.prototype.getElementById);

const queryElement = method(Element.prototype.querySelectorAll);
const queryDocument = method(Document.prototype.querySelectorAll);
const queryFragment = method(DocumentFragment.prototype.querySelectorAll);

/** All elements below `root` (a document, shadow root or element) that match. */
export function queryAll(root: Node, selectors: string): NodeListOf<Element> {
  if (root instanceof Document) return queryDocument(root, selectors) as NodeListOf<Element>;
  if (root instanceof DocumentFragment) return queryFragment(root, selectors) as NodeListOf<Element>;
  return queryElement(root, selectors) as NodeListOf<Element>;
}

/** The element with this id in the tree (document or shadow root) that `root` is. */
export function byId(root: Node, id: string): Element | null {
  if (root instanceof Document) return byIdInDocument(root, id) as Element | null;
  if (root instanceof DocumentFragment) return byIdInFragment(root, id) as Element | null;
  return null;
}

const numbers = new WeakMap<Node, number>();
const nodes: (WeakRef<Node> | undefined)[] = [undefined];

/** The node's number in this document: stable, never reused, no mark in the page. */
export function number(node: Node): number {
  const known = numbers.get(node);
  if (known !== undefined) return known;
  const fresh = nodes.length;
  nodes.push(new WeakRef(node));
  numbers.set(node, fresh);
  return fresh;
}

/** The number a node already has, 0 if it was never read. */
export function knownNumber(node: Node): number {
  return numbers.get(node) ?? 0;
}

/** The element with this number, or null when it is no longer in the document. */
export function node(n: number): Element | null {
  const found = nodes[n]?.deref();
  return found instanceof Element && connectedOf(found) ? found : null;
}

/** Closed shadow roots that the protocol resolved for us. */
const adopted = new WeakMap<Element, ShadowRoot>();

/** The element's shadow root: open, or closed and adopted. */
export function rootIn(host: Element): ShadowRoot | null {
  return openRootOf(host) ?? adopted.get(host) ?? null;
}

/** Hands over closed shadow roots. Returns how many of them are new. */
export function adoptRoots(...roots: ShadowRoot[]): number {
  let fresh = 0;
  for (const root of roots) {
    if (!(root instanceof ShadowRoot) || rootIn(root.host) === root) continue;
    adopted.set(root.host, root);
    fresh++;
  }
  return fresh;
}

/** The parent in the flat tree: through slots and shadow roots, up to the document element. */
export function flatParent(child: Node): Element | null {
  const slot = child instanceof Element ? assignedSlotOf(child) : (child as Text).assignedSlot;
  if (slot) return slot;
  const parent = parentOf(child);
  // The slot of a closed root is not told; an adopted root can be searched for it.
  const closed = parent instanceof Element ? adopted.get(parent) : undefined;
  if (closed) {
    for (const inside of queryAll(closed, "slot") as NodeListOf<HTMLSlotElement>) {
      if (assignedNodesOf(inside).includes(child as Element | Text)) return inside;
    }
  }
  if (parent instanceof ShadowRoot) return parent.host;
  return parent instanceof Element ? parent : null;
}

/** The element that has the focus, through open and adopted shadow roots; null for none. */
export function deepActiveElement(): Element | null {
  let active: Element | null = activeElementOf(document);
  while (active) {
    const root = rootIn(active);
    const inner = root?.activeElement ?? null;
    if (!inner) break;
    active = inner;
  }
  return active && active !== bodyOf(document) && active !== documentElementOf(document)
    ? active
    : null;
}

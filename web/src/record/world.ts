// What the recorder is given of this isolated world. Prototypes are changed here only: the page's own
// world has its own, and sees nothing of it.

/** Closed roots that the browser handed over, by host. */
const closedRoots = new WeakMap<Element, ShadowRoot>();

function getter<T extends object>(of: T, name: string): (this: unknown) => unknown {
  const get = Object.getOwnPropertyDescriptor(of, name)?.get;
  if (!get) throw new Error(`${name} has no getter`);
  return get;
}

const openRoot = getter(Element.prototype, "shadowRoot") as (this: Element) => ShadowRoot | null;

/** The shadow root of an element, open or closed, as far as it is known. */
export function rootOf(host: Element): ShadowRoot | null {
  return openRoot.call(host) ?? closedRoots.get(host) ?? null;
}

/** Takes over closed roots. How many were new. */
export function adoptRoots(...roots: ShadowRoot[]): number {
  let fresh = 0;
  for (const root of roots) {
    if (closedRoots.has(root.host)) continue;
    closedRoots.set(root.host, root);
    fresh++;
  }
  return fresh;
}

/** Must run before the recorder looks at anything. */
export function fitWorld(): void {
  Object.defineProperty(Element.prototype, "shadowRoot", {
    configurable: true,
    get(this: Element) {
      return rootOf(this);
    },
  });
  // There is no registry in this world. The recorder would throw and catch for every element.
  if (!(globalThis.customElements as CustomElementRegistry | null)) {
    Object.defineProperty(globalThis, "customElements", { configurable: true, value: { get: () => undefined } });
  }
  // Every frame records itself, whatever its origin; the recorder must not reach into them as well.
  for (const name of ["contentDocument", "contentWindow"]) {
    Object.defineProperty(HTMLIFrameElement.prototype, name, { configurable: true, get: () => null });
  }
  // The recorder looks for prototypes that nobody has changed in a frame that it would put into the
  // page. There is nobody else in this world; refused, it takes those that are here.
  const create = Document.prototype.createElement;
  Document.prototype.createElement = function (this: Document, name: string, options?: ElementCreationOptions) {
    if (name === "iframe") throw new Error("no frames");
    return create.call(this, name, options);
  } as typeof create;
  // It also marks fields in the page that were for passwords. Nothing of ours may show there, and
  // masking does not depend on it.
  const set = Element.prototype.setAttribute;
  Element.prototype.setAttribute = function (this: Element, name: string, value: string) {
    if (name !== "data-rr-is-password") set.call(this, name, value);
  };
}

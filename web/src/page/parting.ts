// A touched page that goes away: which sockets it may open with its last words.
//
// Rules that the browser has for a tab do not hold a document any more when it says them. A policy of its own
// does: it takes effect at once, and leaves everything but sockets alone.

let allowed: readonly string[] | undefined;

/** Sockets may go to these hosts and those below them only; `null`: anywhere. */
export function limitSockets(hosts: readonly string[] | null): void {
  allowed = hosts ?? undefined;
  listen();
}

function onParting(event: Event): void {
  if (event.isTrusted) setPolicy();
}

function setPolicy(): void {
  if (!allowed) return;
  const sources = ["http:", "https:", "data:", "blob:", "filesystem:"];
  // An address in brackets is no source of a policy.
  for (const host of allowed.filter((name) => !name.startsWith("["))) {
    for (const name of [host, `*.${host}`]) sources.push(`ws://${name}:*`, `wss://${name}:*`);
  }
  const meta = create("meta");
  meta.setAttribute("http-equiv", "Content-Security-Policy");
  meta.setAttribute("content", `connect-src ${sources.join(" ")}`);
  const head = document.head;
  if (head) {
    head.append(meta);
    meta.remove();
    return;
  }
  // A policy counts in a head only. One that a page took away is lent to it.
  const [html, lent, root] = [create("html"), create("head"), document.documentElement];
  html.append(lent);
  if (root) root.replaceWith(html);
  else document.append(html);
  lent.append(meta);
  if (root) html.replaceWith(root);
  else html.remove();
}

function create(name: string): Element {
  return document.createElementNS("http://www.w3.org/1999/xhtml", name);
}

/** Installs the listener. Must run before any script of the page. */
export function installParting(): void {
  listen();
  // A document that is opened anew loses its listeners. The page could put its own first, so it gets the
  // policy at once.
  let root: Element | null = document.documentElement;
  const onRoot = () => {
    const before = root;
    root = document.documentElement;
    if (before && before !== root) setPolicy();
  };
  new MutationObserver(onRoot).observe(document, { childList: true });
}

function listen(): void {
  addEventListener("pagehide", onParting, { capture: true });
}

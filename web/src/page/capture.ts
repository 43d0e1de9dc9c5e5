// Entry points for reading: the whole page within a budget, or one element with its surroundings.

import { internals } from "./element";
import { searchable, suspectsAmong } from "./roots";
import { Walk } from "./walk";
import {
  deepActiveElement,
  documentElementOf,
  elementsByTag,
  isRendered,
  knownNumber,
  node,
  number,
  readyStateOf,
  scrollingElementOf,
  titleOf,
} from "./nodes";
import { activationOf, enterSubmission, isDisabled } from "./forms";
import { isEditable, seal, typeOf } from "./seal";
import { sensitivityOf } from "./secrets";

export interface CaptureOptions {
  /** Bytes of text that the snapshot may have. */
  budget?: number;
  /** No budget: everything. */
  full?: boolean;
  /** Numbers that were published before: which of them are gone is part of the answer. */
  known?: number[];
}

/** Collected beyond the budget, since the core's lines are shorter or longer than estimated. */
const MARGIN = 1.3;

/** Elements with internals that are asked about in one go; each costs the browser a call. */
const INTERNALS = 20;

let hosts: Element[] = [];

/** Raw facts of the page as JSON; the format is described in facts.ts. */
export function capture(options: CaptureOptions = {}): string {
  const full = options.full === true;
  const room = full ? Infinity : (options.budget ?? 32_768) * MARGIN;
  const walk = new Walk({ room, screenRoom: room, full });
  const root = documentElementOf(document);
  if (root) {
    walk.page(root);
    walk.asides();
  }
  hosts = walk.hosts;
  const gone: number[] = [];
  for (const n of options.known ?? []) {
    const el = node(n);
    if (!el || !isRendered(el)) gone.push(n);
  }
  const active = deepActiveElement();
  const scroller = scrollingElementOf(document) ?? root;
  return JSON.stringify({
    v: 1,
    url: location.href.slice(0, 8_192),
    title: titleOf(document).slice(0, 1_000).toWellFormed(),
    ready: readyStateOf(document),
    view: [
      innerWidth,
      innerHeight,
      Math.round(scrollX),
      Math.round(scrollY),
      scroller?.scrollWidth ?? 0,
      scroller?.scrollHeight ?? 0,
      root && getComputedStyle(root).direction === "rtl" ? 1 : 0,
    ],
    focus: active ? knownNumber(active) : 0,
    total: walk.short ? elementsByTag(document, "*").length : walk.visited,
    visited: walk.visited,
    withheld: walk.withheld,
    short: walk.short,
    hosts: walk.certain.map((host) => number(host)),
    internals: walk.internals.slice(0, INTERNALS),
    nodes: searchable(),
    listeners: !walk.short && walk.unasked.isDue(walk.visited),
    gone,
    tags: walk.tags,
    s: walk.out,
  });
}

/** Elements of the last capture that could host a closed shadow root (see roots.ts). */
export function suspects(excess: number): Element[] {
  return suspectsAmong(hosts, excess);
}

/** Takes over what the browser's accessibility tree says of elements with internals. */
export function tellInternals(told: [n: number, role: string, label: string][]): void {
  for (const [n, role, label] of told) {
    const el = node(n);
    if (el) internals.set(el, [role, label]);
  }
}

/** Raw facts of one element and of what its name, role and form need; "" when it is gone. */
export function facts(n: number): string {
  const el = node(n);
  if (!el) return "";
  const walk = new Walk({ room: 8_192, screenRoom: 0, full: false });
  walk.target(el);
  walk.asides();
  const labels = walk.labels.textOf(el);
  const { link, submission, forwards } = activationOf(el);
  return JSON.stringify({
    v: 1,
    n,
    type: typeOf(el),
    link,
    submission,
    enter: enterSubmission(el),
    forwards,
    secret: sensitivityOf(el, labels),
    editable: isEditable(el),
    disabled: isDisabled(el),
    seal: seal(el),
    tags: walk.tags,
    s: walk.out,
  });
}

// One stream out of those of all frames of a tab: what a frame shows is put into its element in the document
// around it. The numbers of its nodes are given anew, since every document counts for itself.

import type { eventWithTime, serializedNodeWithId } from "@rrweb/types";
import { cleanAttributes, cleanNode } from "./clean";
import type { Dom, Placed, Stored } from "./events";

const FULL = 2;
const INCREMENTAL = 3;
const META = 4;

// Sources of incremental events.
const MUTATION = 0;
const MOUSE_MOVE = 1;
const MOUSE = 2;
const SCROLL = 3;
const RESIZE = 4;
const INPUT = 5;
const TOUCH_MOVE = 6;
const MEDIA = 7;
const STYLE_RULE = 8;
const DRAG = 12;
const STYLE_DECLARATION = 13;
const SELECTION = 14;
const ADOPTED = 15;

/** Numbers of nodes in frames begin here; no document has so many of its own. */
const FIRST = 1 << 30;

/** What an event changes, as far as this file looks into it. */
interface Change {
  source: number;
  id?: number;
  styleId?: number;
  adds?: { parentId: number; nextId: number | null; previousId?: number | null; node: serializedNodeWithId }[];
  removes?: { parentId: number; id: number }[];
  texts?: { id: number; value: string | null }[];
  attributes?: { id: number; attributes: Record<string, unknown> }[];
  positions?: { id: number }[];
  ranges?: { start: number; end: number }[];
  styles?: { styleId: number }[];
  styleIds?: number[];
}

interface Shown {
  id: string;
  main: boolean;
  within?: string;
  node?: number;
  /** What its own numbers have become. */
  numbers: Map<number, number>;
  styles: Map<number, number>;
  root: number | undefined;
  /** Nodes that it was told to have. */
  nodes: Set<number>;
  /** Tags of them, for cleaning what changes later. */
  tags: Map<number, string>;
  /** Everything since its last full picture, the picture included. */
  since: eventWithTime[];
  attached: boolean;
}

export class Merge {
  private readonly documents = new Map<string, Shown>();
  private current: Shown | undefined;
  private next = FIRST;
  private out: eventWithTime[] = [];

  /** Events of one tab, in order of time; what they become. */
  add(events: Stored[]): eventWithTime[] {
    this.out = [];
    for (const { kind, data } of events) {
      if (kind !== "placed") continue;
      const placed = data as Placed;
      const shown = this.document(placed.document, false);
      shown.within = placed.within;
      shown.node = placed.node;
    }
    // A place that became known late holds for what came before it.
    for (const shown of this.documents.values()) {
      if (!shown.attached && shown.since.length > 0) this.attach(shown, this.current?.since.at(-1)?.timestamp ?? 0);
    }
    for (const { tab, kind, data } of events) {
      if (kind !== "rrweb") continue;
      const dom = data as Dom;
      this.take(this.document(dom.document, dom.frame === tab), dom.event);
    }
    return this.out;
  }

  private document(id: string, main: boolean): Shown {
    let shown = this.documents.get(id);
    if (!shown) {
      shown = {
        id,
        main,
        numbers: new Map(),
        styles: new Map(),
        root: undefined,
        nodes: new Set(),
        tags: new Map(),
        since: [],
        attached: false,
      };
      this.documents.set(id, shown);
    }
    shown.main ||= main;
    return shown;
  }

  private take(shown: Shown, event: eventWithTime): void {
    if (event.type === FULL) {
      shown.since = [];
      shown.nodes.clear();
      if (!shown.main) {
        shown.numbers.clear();
        shown.styles.clear();
      }
    }
    this.learn(shown, event);
    if (event.type === META && shown.main) {
      this.out.push(event);
      return;
    }
    if (event.type !== FULL && event.type !== INCREMENTAL) return;
    shown.since.push(event);
    if (shown.main && event.type === FULL) {
      this.current = shown;
      for (const other of this.documents.values()) other.attached = other === shown;
    }
    if (shown.attached) {
      this.emit(shown, event, event.timestamp);
    } else if (!shown.main) {
      this.attach(shown, event.timestamp);
    }
    this.attachWithin(shown, event);
  }

  /** Frames whose elements are there now. */
  private attachWithin(shown: Shown, event: eventWithTime): void {
    if (!shown.attached) return;
    const whole = event.type === FULL;
    const adds = event.type === INCREMENTAL && (event.data as unknown as Change).adds?.length;
    if (!whole && !adds) return;
    for (const child of this.documents.values()) {
      if (child.within !== shown.id) continue;
      // A full picture of the document around it has an empty element in its place.
      if (whole) child.attached = false;
      this.attach(child, event.timestamp);
    }
  }

  private attach(shown: Shown, at: number): void {
    if (shown.attached || shown.main || shown.since[0]?.type !== FULL) return;
    const parent = shown.within === undefined ? undefined : this.documents.get(shown.within);
    if (!parent?.attached || shown.node === undefined || !parent.nodes.has(shown.node)) return;
    // An object or a frameset shows documents as well; here they are shown as nothing.
    if (parent.tags.get(shown.node) !== "iframe") return;
    shown.attached = true;
    for (const event of shown.since) this.emit(shown, event, Math.max(at, event.timestamp));
    for (const child of this.documents.values()) {
      if (child.within !== shown.id) continue;
      child.attached = false;
      this.attach(child, at);
    }
  }

  private number(shown: Shown, id: number): number {
    if (shown.main || id < 0) return id;
    let number = shown.numbers.get(id);
    if (number === undefined) {
      number = this.next++;
      shown.numbers.set(id, number);
    }
    return number;
  }

  private style(shown: Shown, id: number): number {
    if (shown.main) return id;
    let number = shown.styles.get(id);
    if (number === undefined) {
      number = this.next++;
      shown.styles.set(id, number);
    }
    return number;
  }

  /** Which nodes there are, and of what kind. */
  private learn(shown: Shown, event: eventWithTime): void {
    const note = (node: serializedNodeWithId): void => {
      shown.nodes.add(node.id);
      if ("tagName" in node) shown.tags.set(node.id, node.tagName.toLowerCase());
      if ("childNodes" in node) node.childNodes.forEach(note);
    };
    if (event.type === FULL) note(event.data.node);
    else if (event.type === INCREMENTAL) (event.data as unknown as Change).adds?.forEach((add) => note(add.node));
  }

  private emit(shown: Shown, event: eventWithTime, at: number): void {
    const n = (id: number): number => this.number(shown, id);
    if (event.type === FULL) {
      const root = shown.main ? undefined : n(event.data.node.id);
      shown.root = root;
      const node = cleanNode(event.data.node, n, root);
      if (shown.main) {
        this.out.push({ ...event, timestamp: at, data: { ...event.data, node } });
        return;
      }
      const parent = this.documents.get(shown.within ?? "");
      if (!parent || shown.node === undefined) return;
      const adds = [{ parentId: this.number(parent, shown.node), nextId: null, node }];
      const data = { source: MUTATION, adds, removes: [], texts: [], attributes: [], isAttachIframe: true };
      this.out.push({ type: INCREMENTAL, timestamp: at, data } as eventWithTime);
      return;
    }
    const data = this.change(shown, event.data as unknown as Change, n);
    if (data) this.out.push({ type: INCREMENTAL, timestamp: at, data } as unknown as eventWithTime);
  }

  private change(shown: Shown, change: Change, n: (id: number) => number): Change | undefined {
    const copy: Change = { ...change };
    if (change.id !== undefined) copy.id = n(change.id);
    switch (change.source) {
      case MUTATION:
        copy.adds = (change.adds ?? []).map((add) => ({
          ...add,
          parentId: n(add.parentId),
          nextId: add.nextId === null ? null : n(add.nextId),
          node: cleanNode(add.node, n, shown.root),
        }));
        copy.removes = (change.removes ?? []).map((gone) => ({ ...gone, parentId: n(gone.parentId), id: n(gone.id) }));
        copy.texts = (change.texts ?? []).map((text) => ({ ...text, id: n(text.id) }));
        copy.attributes = (change.attributes ?? []).map(({ id, attributes }) => ({
          id: n(id),
          attributes: cleanAttributes(shown.tags.get(id) ?? "", attributes),
        }));
        return copy;
      case MOUSE_MOVE:
      case TOUCH_MOVE:
      case DRAG:
        copy.positions = (change.positions ?? []).map((at) => ({ ...at, id: n(at.id) }));
        return copy;
      case RESIZE:
        return shown.main ? copy : undefined;
      case SELECTION:
        copy.ranges = (change.ranges ?? []).map((range) => ({ ...range, start: n(range.start), end: n(range.end) }));
        return copy;
      case STYLE_RULE:
      case STYLE_DECLARATION:
        if (change.styleId !== undefined) copy.styleId = this.style(shown, change.styleId);
        return copy;
      case ADOPTED:
        copy.styleIds = (change.styleIds ?? []).map((id) => this.style(shown, id));
        if (change.styles) {
          copy.styles = change.styles.map((style) => ({ ...style, styleId: this.style(shown, style.styleId) }));
        }
        return copy;
      case MOUSE:
      case SCROLL:
      case INPUT:
      case MEDIA:
        return copy;
      default:
        // Canvas commands, fonts and whatever later versions record are not shown.
        return undefined;
    }
  }
}

// The walk: facts of what is on screen first, then of the rest in document order, within a budget.
//
// Its cost grows with what it says. While there is room it goes through the flat tree in order.
// When the room is used up it goes on only into what is on screen now: children are judged by
// their boxes, and long lists of children are searched, not scanned. The rest is counted.

import { clean, facts, generated, wantsInternals, type Context, type Out } from "./element";
import { ASIDE, Display, Flag, GAP, SCREEN, TEXT } from "./facts";
import { LabelIndex } from "./labels";
import { listens, Unasked } from "./listeners";
import { meet } from "./roots";
import {
  assignedNodesOf,
  attributeNames,
  attributeOf,
  childElementsOf,
  containsNode,
  dataOf,
  deepActiveElement,
  firstChildOf,
  firstElementChildOf,
  flatParent,
  hasAttribute,
  knownNumber,
  localNameOf,
  nextSiblingOf,
  nodeTypeOf,
  number,
  rootIn,
} from "./nodes";

import {
  clipOf,
  cuts,
  displayOf,
  firstBelow,
  isTransparent,
  kindOf,
  overlaps,
  siblings,
  textEnds,
  type Clip,
} from "./styles";
import {
  DRAWN,
  HOSTS,
  KIND_SAMPLES,
  LEAVES,
  LIVE,
  NAMED,
  NATIVE,
  PLAIN,
  REPLACED,
  SKIPPED,
  SPACES,
} from "./tags";

/** Deeper trees than this are not followed; the parser itself stops at 512. */
const MAX_DEPTH = 600;
/** Records of one capture, even a full one: beyond this a page is not for reading any more. */
const MAX_RECORDS = 400_000;
/** Elements gone through in document order: markup that says nothing must not cost without end. */
const VISITS = 5_000;
/** A text node is cut here unless everything was asked for. */
const TEXT_CHARS = 4_000;
/** Options of one select; more are counted. */
const OPTIONS = 60;
/** Elements numbered only for their text; more would be no search result either. */
const NUMBERED_TEXTS = 20_000;
/** Lists up to this length are scanned box by box when only the screen matters. */
const SCAN = 64;
/** Boxes looked at beyond the last one on screen before a search gives up. */
const PATIENCE = 4;

/** A box that content sits in. It is measured once something in it needs to know, not before. */
interface Block {
  el: Element;
  style: CSSStyleDeclaration;
  /** Where the record's box and flags are. */
  boxAt: number;
  flagsAt: number;
  /** The region that is visible here, and the one that is visible to what is inside. */
  clip: Clip;
  inner: Clip;
  box: Clip | null;
  on: boolean;
}

/** What a child needs to know of the element around it. */
interface Place {
  el: Element;
  style: CSSStyleDeclaration;
  /** Where the record's flags are, so that what is found out later can be added. */
  flagsAt: number;
  /** The nearest box around the content. */
  block: Block;
  inline: boolean;
  pointer: boolean;
  naming: boolean;
  /** Whether the style of its own text has been looked at. */
  textKnown: boolean;
  preformatted: boolean;
}

export interface Limits {
  /** Room for the walk in document order, in bytes of output. */
  room: number;
  /** Room for what is on screen after that. */
  screenRoom: number;
  full: boolean;
}

export class Walk implements Context {
  readonly out: Out = [];
  readonly tags: string[] = [];
  readonly labels = new LabelIndex();
  /** Possible hosts of shadow roots that this script cannot see, met on the way. */
  readonly hosts: Element[] = [];
  /** Those among `hosts` whose light children are not rendered: certainly hosts. */
  readonly certain: Element[] = [];
  /** Custom elements whose internals the browser is to be asked for. */
  readonly internals: number[] = [];
  /** Elements whose listeners are not known. */
  readonly unasked = new Unasked();
  /** Elements passed over because assistive technology is not to see them. */
  withheld = 0;
  visited = 0;
  /** Whether something was left out. */
  short = false;

  private readonly tagIndex = new Map<string, number>();
  /** Numbers of the records so far, and where their flags are. */
  private readonly written = new Map<number, number>();
  private readonly referred = new Map<number, Element>();
  private readonly focus = deepActiveElement();
  private readonly screen: Clip;
  private screenBegun = false;
  /** Tag and class of elements asked for generated text in vain, and how often. */
  private readonly quietKinds = new Map<string, number>();
  /** Whether a white-space-only text here would separate words. */
  private inlineBefore = false;
  private numbered = 0;

  constructor(private readonly limits: Limits) {
    this.screen = {
      left: 0,
      top: 0,
      right: innerWidth,
      bottom: innerHeight,
    };
  }

  refer(el: Element): number {
    const n = number(el);
    this.referred.set(n, el);
    return n;
  }

  page(root: Element): void {
    this.visit(root, 0, this.outside(root, false), null);
  }

  /** The place of something that the walk begins with. */
  private outside(el: Element, naming: boolean): Place {
    const style = getComputedStyle(el);
    const { screen } = this;
    return {
      el,
      style,
      flagsAt: -1,
      block: {
        el, style, boxAt: -1, flagsAt: -1, clip: screen, inner: screen, box: screen, on: true,
      },
      inline: false,
      pointer: false,
      naming,
      textKnown: true,
      preformatted: false,
    };
  }

  /** One element with everything inside it, below its bare ancestors. */
  target(el: Element): void {
    number(el);
    const path: Element[] = [];
    for (let at: Element | null = el; at; at = flatParent(at)) path.unshift(at);
    // What a header cell heads depends on its whole row.
    if (localNameOf(el) === "th" && path.length > 1) el = path.at(-2)!;
    if (el !== path.at(-1)) path.pop();
    const first = Math.max(0, path.length - MAX_DEPTH);
    path.slice(first, -1).forEach((at, depth) => {
      const style = getComputedStyle(at);
      const display = displayOf(style.display);
      const start = this.out.push(this.tagOf(localNameOf(at)), depth, number(at), display, 0) - 1;
      if (display !== Display.Inline && display !== Display.Contents) this.out.push(0, 0, 0, 0);
      const countAt = this.out.push(0) - 1;
      const found = facts(at, localNameOf(at), attributeNames(at), this, this.out);
      this.out[countAt] = found.count;
      this.out[start] = found.flags | Flag.Bare;
    });
    this.visit(el, path.length - 1 - first, this.outside(flatParent(el) ?? el, true), null);
  }

  /** Adds what was referred to but not reached, so that names can be computed from it. */
  asides(): void {
    for (let rounds = 0; rounds < 4; rounds++) {
      const missing = [...this.referred].filter((entry) => this.isMissing(...entry)).slice(0, 500);
      if (missing.length === 0) return;
      if (rounds === 0) this.out.push(ASIDE);
      for (const [, el] of missing) this.aside(el, 0, 200);
    }
  }

  /** Hidden content counts where it is referred to, and the walk has not gone into it. */
  private isMissing(n: number, el: Element): boolean {
    const at = this.written.get(n);
    if (at === undefined) return true;
    const flags = this.out[at] as number;
    if (flags & (Flag.Bare | Flag.Hidden) || getComputedStyle(el).visibility === "visible") {
      return false;
    }
    this.out[at] = flags | Flag.Bare;
    return true;
  }

  private tagOf(tag: string): number {
    const known = this.tagIndex.get(tag);
    if (known !== undefined) return known;
    const index = this.tags.push(tag) - 1;
    this.tagIndex.set(tag, index);
    return index;
  }

  private spend(bytes: number): void {
    if (this.limits.room > 0) this.limits.room -= bytes;
    else this.limits.screenRoom -= bytes;
  }

  private gap(depth: number, count: number): void {
    this.short = true;
    if (count !== 0) this.out.push(GAP, depth, count);
  }

  private visit(el: Element, depth: number, up: Place, known: Clip | null): void {
    const tag = localNameOf(el);
    if (SKIPPED.has(tag)) return;
    if (depth > MAX_DEPTH || this.out.length > MAX_RECORDS * 10) return this.gap(depth, 1);
    if (++this.visited === VISITS && !this.limits.full) this.limits.room = 0;
    const names = attributeNames(el);
    let hasId = false;
    let hasRole = false;
    let plain = true;
    for (let i = 0; i < names.length; i++) {
      const name = names[i]!;
      if (name === "class" || name === "style") continue;
      if (name === "id") hasId = true;
      else {
        plain = false;
        if (name === "role") hasRole = true;
        else if ((name === "aria-hidden" || name === "inert") && this.isWithheld(el, tag, name)) {
          this.withheld++;
          return;
        }
      }
    }
    const style = getComputedStyle(el);
    const shown = style.display;
    if ((shown === "none" && tag !== "area") || shown === "") return;
    let display = displayOf(shown);
    if (display === Display.Inline && REPLACED.has(tag)) display = Display.InlineBlock;
    let inline = display === Display.Inline || display === Display.Contents;
    const custom = tag.includes("-");
    let flags = 0;
    const isPlain = PLAIN.has(tag);
    if ((!isPlain || hasRole) && style.visibility !== "visible") flags |= Flag.Invisible;
    const pointer = style.cursor === "pointer";
    if (pointer && !up.pointer) flags |= Flag.Pointer;
    if (listens(el)) {
      flags |= Flag.Listens;
      // A shape or a picture made by style has a box of its own, though it is inline.
      if (inline && (el instanceof SVGElement || firstChildOf(el) === null)) {
        display = Display.InlineBlock;
        inline = false;
      }
    } else if (!pointer && !NATIVE.has(tag)) this.unasked.meet(el);
    if (el === this.focus) flags |= Flag.Focused;
    const naming = up.naming || hasRole || NAMED.has(tag);
    const root = custom || HOSTS.has(tag) ? rootIn(el) : null;
    const first = firstChildOf(root ?? el);

    // The record. Flags, box and the number of facts are filled in afterwards.
    const out = this.out;
    const start = out.length;
    const flagsAt = start + 4;
    out.push(this.tagOf(tag), depth, 0, display, 0);
    let { block } = up;
    if (inline) {
      if (this.measure(block)) flags |= Flag.OnScreen;
    } else {
      const boxAt = out.push(0, 0, 0, 0) - 4;
      // A cell without a style of its own is where its row is.
      if (display !== Display.TableCell || names.length > 0 || known) {
        const clip = block.inner;
        block = { el, style, boxAt, flagsAt, clip, inner: clip, box: null, on: false };
      }
      if (display === Display.InlineBlock) this.measure(up.block);
    }
    const countAt = out.push(0) - 1;
    let count = 0;
    if (!plain || LIVE.has(tag) || custom) {
      const found = facts(el, tag, names, this, out);
      count = found.count;
      flags |= found.flags;
      if (!plain && el instanceof HTMLElement && el.isContentEditable === true) {
        if (names.includes("contenteditable")) flags |= Flag.Editable;
      }
    }
    if (naming && !LEAVES.has(tag) && this.mayGenerate(el, tag, hasId)) {
      const generatedFacts = generated(el, out);
      if (generatedFacts > 0) this.quietKinds.delete(kindOf(el, tag));
      count += generatedFacts;
    }
    if (root) {
      flags |= Flag.Host;
      meet(root);
    } else if (custom || HOSTS.has(tag)) this.hosts.push(el);
    if (custom && wantsInternals(el, tag, names, flags)) this.internals.push(number(el));
    const wanted = Flag.Pointer | Flag.Listens | Flag.Focused | Flag.Host;
    // An empty cell can be what is to be filled in: pages open a field there on a double click.
    const empty = tag === "td" && first === null && this.numbered < NUMBERED_TEXTS;
    if (empty) this.numbered += 1;
    if (hasId || count > 0 || flags & wanted || !isPlain || empty || knownNumber(el) !== 0) {
      const n = number(el);
      out[start + 2] = n;
      this.written.set(n, flagsAt);
    }
    out[countAt] = count;
    out[flagsAt] = flags;
    let bytes = out[start + 2] === 0 || isPlain ? 3 : 16;
    for (let i = countAt + 2; i < out.length; i += 2) {
      bytes += Math.min(60, (out[i] as string).length) + 2;
    }
    this.spend(bytes);
    if (!inline && block.el === el) {
      if (known) this.place(block, known);
      else if (first === null || flags & (Flag.Pointer | Flag.Listens) || LEAVES.has(tag)) this.measure(block);
    }

    if (display !== Display.Inline) this.inlineBefore = display === Display.InlineBlock;
    if (!LEAVES.has(tag) && (first !== null || tag === "slot")) {
      const place: Place = {
        el,
        style,
        flagsAt,
        block,
        inline,
        pointer,
        naming,
        textKnown: false,
        preformatted: up.preformatted || tag === "pre",
      };
      this.children(el, tag, root, first, depth + 1, place, display);
    }
    this.inlineBefore = display === Display.Inline || display === Display.InlineBlock;
  }

  /** Whether generated text is worth asking for: not where many of the same kind have had none. */
  private mayGenerate(el: Element, tag: string, hasId: boolean): boolean {
    if (hasId) return true;
    const kind = kindOf(el, tag);
    const quiet = this.quietKinds.get(kind) ?? 0;
    this.quietKinds.set(kind, quiet + 1);
    return quiet < KIND_SAMPLES;
  }

  private isWithheld(el: Element, tag: string, name: string): boolean {
    if (tag === "body" || tag === "html") return false;
    if (name !== "aria-hidden") return true;
    if (attributeOf(el, name) !== "true") return false;
    // A page that hides the element with the focus made a mistake; browsers ignore it too.
    return !(this.focus && containsNode(el, this.focus));
  }

  /** Measures a block if that has not been done; returns whether it is on screen. */
  private measure(block: Block): boolean {
    if (!block.box) this.place(block, clipOf(block.el));
    return block.on;
  }

  private place(block: Block, box: Clip): void {
    block.box = box;
    block.on = overlaps(box, block.clip);
    const { out } = this;
    if (block.boxAt < 0) return;
    const width = box.right - box.left;
    const height = box.bottom - box.top;
    out[block.boxAt] = Math.round(box.left);
    out[block.boxAt + 1] = Math.round(box.top);
    out[block.boxAt + 2] = Math.round(width);
    out[block.boxAt + 3] = Math.round(height);
    let flags = Flag.Box;
    if (block.on) flags |= Flag.OnScreen;
    if (width <= 1 || height <= 1) flags |= cuts(block.style);
    this.flag(block.flagsAt, flags);
  }

  private flag(at: number, flags: number): void {
    if (at >= 0) this.out[at] = (this.out[at] as number) | flags;
  }

  /** If the box cuts off or scrolls what exceeds it, less is visible inside. */
  private lookForCuts(block: Block): void {
    const flag = cuts(block.style);
    if (!flag) return;
    this.flag(block.flagsAt, flag);
    this.measure(block);
    const { clip, box } = block;
    if (!box) return;
    block.inner = {
      left: Math.max(clip.left, box.left),
      top: Math.max(clip.top, box.top),
      right: Math.min(clip.right, box.right),
      bottom: Math.min(clip.bottom, box.bottom),
    };
  }

  private children(
    el: Element,
    tag: string,
    root: ShadowRoot | null,
    first: Node | null,
    depth: number,
    place: Place,
    display: Display,
  ): void {
    if (tag === "select") return this.options(el, depth, place);
    if (tag === "details" && !root && !hasAttribute(el, "open")) {
      for (const child of childElementsOf(el)) {
        if (localNameOf(child) === "summary") return this.visit(child, depth, place, null);
      }
      return;
    }
    let list: Node[] | null = null;
    if (tag === "slot") {
      const assigned = assignedNodesOf(el);
      if (assigned.length > 0) list = assigned;
      else if (!first) return;
    }
    const inner = firstElementChildOf(el) !== null || root !== null || list !== null;
    const own = place.block.el === el;
    if (inner && own && display !== Display.TableRow && display !== Display.TableRows) {
      if (place.style.contentVisibility === "hidden") return;
      this.lookForCuts(place.block);
    }
    if (this.limits.room <= 0) {
      this.measure(place.block);
      const { box } = place.block;
      const tall = own && box !== null && box.bottom - box.top > 3 * this.screen.bottom;
      if (tall || display === Display.Contents) {
        return this.screenOnly(list ?? siblings(first), depth, place);
      }
    }
    const drawn = tag === "svg" || (el instanceof SVGElement && tag !== "foreignObject");
    let rendered = false;
    let unrendered = false;
    let index = 0;
    let child: Node | null = list ? list[0]! : first;
    while (child) {
      const type = nodeTypeOf(child);
      if (type === 3) {
        this.text(child as Text, depth, place);
      } else if (type === 1) {
        if (this.limits.room <= 0) {
          const rest = list ? list.slice(index) : siblings(child);
          return this.screenOnly(rest, depth, place);
        }
        if (!drawn || DRAWN.has(localNameOf(child as Element)) || listens(child as Element)) {
          const before = this.out.length;
          this.visit(child as Element, depth, place, null);
          if (this.out.length > before) rendered = true;
          else unrendered = true;
        } else if (!place.pointer) this.unasked.meet(child as Element);
      }
      child = list ? (list[++index] ?? null) : nextSiblingOf(child);
    }
    if (unrendered && !rendered && !root && (HOSTS.has(tag) || tag.includes("-"))) {
      const light = firstElementChildOf(el);
      if (light && getComputedStyle(light).display === "") this.certain.push(el);
    }
  }

  private options(el: Element, depth: number, place: Place): void {
    let count = 0;
    const all = childElementsOf(el);
    for (const child of all) {
      if (count >= OPTIONS && !this.limits.full) break;
      this.visit(child, depth, place, null);
      count++;
    }
    if (count < all.length) this.out.push(GAP, depth, all.length - count);
  }

  private text(node: Text, depth: number, place: Place): void {
    let data = dataOf(node);
    const limit = this.limits.full ? Infinity : TEXT_CHARS;
    if (data.length > limit) {
      data = data.slice(0, limit);
      this.gap(depth, -1);
    }
    if (data.trim() === "") {
      if (!this.inlineBefore || !(place.inline || nextSiblingOf(node))) return;
      this.out.push(TEXT, depth, " ");
      this.spend(1);
      return;
    }
    if (!place.textKnown) this.lookAtText(place, node);
    if (this.limits.full && this.numbered < NUMBERED_TEXTS) this.numberText(place);
    if (SPACES.test(data)) {
      // Whether white space is kept matters only where there is some to keep.
      if (!place.preformatted && place.style.whiteSpace.startsWith("pre")) place.preformatted = true;
      if (place.preformatted) this.flag(place.flagsAt, Flag.Preformatted);
      else data = data.replace(/[ \t\n\r\f]+/g, " ");
    }
    // Names are what is read on screen, so they follow its letter case.
    if (place.naming) data = transformed(data, place.style.textTransform);
    this.out.push(TEXT, depth, data.toWellFormed());
    this.spend(data.length + 3);
    this.inlineBefore = true;
  }

  /** Where everything is read, what shows text can be pointed at: a search may find it. */
  private numberText(place: Place): void {
    const at = place.flagsAt - 2;
    if (at < 0 || this.out[at] !== 0) return;
    this.numbered++;
    const n = number(place.el);
    this.out[at] = n;
    this.written.set(n, place.flagsAt);
  }

  /** Reads the style that decides whether text of this element can be seen. */
  private lookAtText(place: Place, node: Text): void {
    place.textKnown = true;
    const { style } = place;
    let flags = 0;
    if (this.measure(place.block)) flags |= Flag.OnScreen;
    if (style.visibility !== "visible") flags |= Flag.Invisible;
    // Text filled by its background is painted, though its own colour is transparent.
    if (
      isTransparent(style.webkitTextFillColor) &&
      !style.getPropertyValue("background-clip").includes("text")
    ) {
      flags |= Flag.Transparent;
    }
    if (parseFloat(style.fontSize) < 2) flags |= Flag.TinyFont;
    if (!place.inline && parseFloat(style.textIndent) < -900) flags |= Flag.Indented;
    // A wide box that begins far to the left may still show its end, but not its text.
    if (place.block.box!.left < -900 && textEnds(node) <= 0) flags |= Flag.Indented;
    this.flag(place.flagsAt, flags);
  }

  /** Goes on only into the children that are on screen now. */
  private screenOnly(all: Node[], depth: number, place: Place): void {
    const list = all.filter((node) => nodeTypeOf(node) === 1) as Element[];
    if (list.length === 0) return;
    if (!this.screenBegun) {
      this.screenBegun = true;
      this.out.push(SCREEN);
    }
    if (this.limits.screenRoom <= 0) return this.gap(depth, list.length);
    let from = 0;
    if (list.length > SCAN) from = Math.max(0, firstBelow(list, place.block.inner.top) - 1);
    let skipped = from;
    let misses = 0;
    for (let i = from; i < list.length; i++) {
      const child = list[i]!;
      const box = this.limits.screenRoom > 0 ? this.mayShow(child, place) : null;
      if (box) {
        if (skipped > 0) this.gap(depth, skipped);
        skipped = 0;
        misses = 0;
        this.visit(child, depth, place, box);
      } else {
        skipped++;
        if (list.length > SCAN && ++misses > PATIENCE) {
          skipped += list.length - 1 - i;
          break;
        }
      }
    }
    if (skipped > 0) this.gap(depth, skipped);
  }

  private mayShow(el: Element, place: Place): Clip | null {
    const box = clipOf(el);
    if (box.right > box.left && box.bottom > box.top) {
      return overlaps(box, place.block.inner) ? box : null;
    }
    // No box of its own (contents, or only floating or fixed children): look inside.
    return firstElementChildOf(el) !== null || rootIn(el) !== null ? box : null;
  }

  /** Writes a subtree that only names refer to; hidden content included, since names may use it. */
  private aside(el: Element, depth: number, left: number): number {
    const tag = localNameOf(el);
    if (left <= 0 || depth > 40 || tag === "script" || tag === "style") return left;
    const names = attributeNames(el);
    const style = getComputedStyle(el);
    let flags = 0;
    if (style.display === "none" || style.display === "") flags |= Flag.Hidden;
    if (style.visibility === "hidden" || style.visibility === "collapse") flags |= Flag.Invisible;
    const out = this.out;
    const n = number(el);
    const start = out.length;
    this.written.set(n, start + 4);
    const display = displayOf(style.display);
    out.push(this.tagOf(tag), depth, n, display, flags);
    if (display !== Display.Inline && display !== Display.Contents) out.push(0, 0, 0, 0);
    const countAt = out.push(0) - 1;
    const found = facts(el, tag, names, this, out);
    found.count += generated(el, out);
    out[start + 4] = flags | found.flags;
    out[countAt] = found.count;
    left--;
    const root = rootIn(el);
    let nodes: Node[] = siblings(firstChildOf(root ?? el));
    if (!root && el instanceof HTMLSlotElement) {
      const assigned = assignedNodesOf(el);
      if (assigned.length > 0) nodes = assigned;
    }
    for (const child of nodes) {
      const type = nodeTypeOf(child);
      if (type === 1) left = this.aside(child as Element, depth + 1, left);
      else if (type === 3) out.push(TEXT, depth + 1, clean(dataOf(child).replace(/[ \t\n\r\f]+/g, " ")));
    }
    return left;
  }
}

function transformed(text: string, how: string): string {
  switch (how) {
    case "uppercase": return text.toUpperCase();
    case "lowercase": return text.toLowerCase();
    case "capitalize": return text.replace(/(^|[^\p{L}\p{N}'’])\p{L}/gu, (first) => first.toUpperCase());
  }
  return text;
}

// Reading computed styles and boxes.

import { Display, Flag } from "./facts";
import { attributeOf, nextSiblingOf, rectOf } from "./nodes";

export interface Clip {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export function overlaps(a: Clip, b: Clip): boolean {
  return a.left < b.right && a.right > b.left && a.top < b.bottom && a.bottom > b.top;
}

export function clipOf(el: Element): Clip {
  const { x, y, width, height } = rectOf(el);
  return { left: x, top: y, right: x + width, bottom: y + height };
}

export function displayOf(display: string): Display {
  switch (display) {
    case "block": return Display.Block;
    case "inline": case "ruby": case "ruby-text": return Display.Inline;
    case "contents": return Display.Contents;
    case "table": return Display.Table;
    case "table-row": return Display.TableRow;
    case "table-cell": return Display.TableCell;
    case "table-row-group": case "table-header-group": case "table-footer-group":
      return Display.TableRows;
    case "list-item": return Display.ListItem;
    case "table-caption": return Display.TableCaption;
  }
  return display.startsWith("inline") ? Display.InlineBlock : Display.Block;
}

/** The right end of a text, in pixels from the left edge of the page. */
export function textEnds(node: Text): number {
  const range = document.createRange();
  range.selectNodeContents(node);
  return range.getBoundingClientRect().right + scrollX;
}

export function kindOf(el: Element, tag: string): string {
  return tag + " " + (attributeOf(el, "class") ?? "");
}

/** 0 when content may stick out of the box, else whether it is cut off or scrolls. */
export function cuts(style: CSSStyleDeclaration): number {
  const { overflow } = style;
  if (overflow === "visible") return 0;
  return overflow.includes("auto") || overflow.includes("scroll") ? Flag.Scrolls : Flag.Clips;
}

export function siblings(from: Node | null): Node[] {
  const list: Node[] = [];
  for (let node = from; node; node = nextSiblingOf(node)) list.push(node);
  return list;
}

export function isTransparent(color: string): boolean {
  return (color.startsWith("rgba") && color.endsWith(", 0)")) || color.endsWith("/ 0)");
}

/**
 * The first child whose box ends below `top`, by halving. Boxes of siblings in normal flow go
 * downwards; where they do not, the search may miss, and what it misses is counted as left out.
 */
export function firstBelow(list: Element[], top: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    let probe = middle;
    let box = rectOf(list[probe]);
    while (box.height === 0 && probe + 1 < high) box = rectOf(list[++probe]);
    if (box.height === 0 || box.bottom > top) high = middle;
    else low = probe + 1;
  }
  return low;
}

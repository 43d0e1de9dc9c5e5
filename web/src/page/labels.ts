// Which labels belong to which control.

import { getter, queryAll, rootOf, textOf } from "./nodes";

const controlOf = getter(HTMLLabelElement.prototype, "control");

/**
 * Labels by control, per tree. Built once per capture: the browser's own `labels` list walks the
 * whole document again for every control.
 */
export class LabelIndex {
  private readonly trees = new Map<Node, Map<Element, HTMLLabelElement[]>>();

  of(control: Element): HTMLLabelElement[] {
    const root = rootOf(control);
    let tree = this.trees.get(root);
    if (!tree) {
      tree = new Map();
      for (const label of queryAll(root, "label") as NodeListOf<HTMLLabelElement>) {
        const target = controlOf(label);
        if (!target) continue;
        const list = tree.get(target);
        if (list) list.push(label);
        else tree.set(target, [label]);
      }
      this.trees.set(root, tree);
    }
    return tree.get(control) ?? [];
  }

  /** The text of a control's labels, for evidence only. */
  textOf(control: Element): string {
    return this.of(control)
      .map((label) => textOf(label) ?? "")
      .join(" ");
  }
}

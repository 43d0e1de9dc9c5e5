// Installs the page script once per document, in the isolated world `reins`.

import { acting } from "./act";
import { capture, facts, suspects, tellInternals } from "./capture";
import { installGuard } from "./guard";
import { tellListeners } from "./listeners";
import { installParting, limitSockets } from "./parting";
import { adoptRoots, deepActiveElement, node, number } from "./nodes";
import { seal } from "./seal";
import { selected } from "./selected";

const reading = {
  capture,
  facts,
  suspects,
  tellInternals,
  tellListeners,
  node,
  number,
  adoptRoots,
  seal,
  selected,
  limitSockets,
  focused: (): number => {
    const active = deepActiveElement();
    return active ? number(active) : 0;
  },
};

export type Reins = typeof reading & typeof acting;

declare global {
  // eslint-disable-next-line no-var
  var __reins: Reins | undefined;
}

// A document can get the script twice: at its creation and, when we attach late, by evaluation.
// The first one holds the numbers, so it stays.
if (!globalThis.__reins) {
  globalThis.__reins = Object.freeze({ ...reading, ...acting });
  installGuard();
  installParting();
}

// Whose the keyboard is: pure rules, no DOM.

/** Two presses further apart than this are two single ones. */
export const TWICE_MS = 800;

/** Escape twice gives up the keyboard, not the control (S-066). The first one still reaches the page. */
export class EscapeTwice {
  #last = Number.NEGATIVE_INFINITY;

  press(key: string, at: number): "send" | "leave" {
    if (key !== "Escape") {
      this.#last = Number.NEGATIVE_INFINITY;
      return "send";
    }
    const twice = at - this.#last <= TWICE_MS;
    this.#last = twice ? Number.NEGATIVE_INFINITY : at;
    return twice ? "leave" : "send";
  }
}

export interface KeyFacts {
  key: string;
  isComposing: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

/**
 * Where a key press goes. `text` leaves it to the field's own input events: input methods, dead keys and on-screen keyboards
 * name no key. `paste` lets the browser's paste event happen, which brings the text.
 */
export function way(key: KeyFacts): "key" | "text" | "paste" {
  if (key.isComposing || ["Unidentified", "Process", "Dead"].includes(key.key)) return "text";
  const command = key.ctrlKey !== key.metaKey && !key.altKey;
  if (command && key.key.toLowerCase() === "v") return "paste";
  return "key";
}

/** Whether a key press copies or cuts. */
export function copies(key: KeyFacts): boolean {
  return key.ctrlKey !== key.metaKey && !key.altKey && ["c", "x"].includes(key.key.toLowerCase());
}

/** As the DevTools protocol counts modifiers. */
export function modifiers(event: { altKey: boolean; ctrlKey: boolean; metaKey: boolean; shiftKey: boolean }): number {
  return (event.altKey ? 1 : 0) | (event.ctrlKey ? 2 : 0) | (event.metaKey ? 4 : 0) | (event.shiftKey ? 8 : 0);
}

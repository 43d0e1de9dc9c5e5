// A text field that stands for the page's keyboard: it takes keys, input methods, on-screen keyboards and paste.
import { EscapeTwice, copies, modifiers, way } from "./keys";
import type { Input } from "./wire";

/** The daemon takes this much at once. */
const TEXT_CHARS = 2000;

/** Parts that fit, none of which ends within a character. */
export function parts(text: string): string[] {
  const characters = [...text];
  const count = Math.ceil(characters.length / TEXT_CHARS);
  return Array.from({ length: count }, (_, n) => characters.slice(n * TEXT_CHARS, (n + 1) * TEXT_CHARS).join(""));
}

/**
 * Sends what is typed in `field`. `leave` is called when Escape was pressed twice, `copy` when the person copies or cuts.
 * Answers what ends it.
 */
export function type(
  field: HTMLTextAreaElement,
  send: (input: Input) => void,
  does: { leave: () => void; copy: () => void },
): () => void {
  const end = new AbortController();
  const options = { signal: end.signal };
  const escape = new EscapeTwice();
  const held = new Map<string, { key: string; code: string }>();

  const key = (action: "down" | "up", name: string, code: string, mods: number) =>
    send({ kind: "key", action, key: name, code, modifiers: mods });
  const press = (name: string) => {
    key("down", name, name, 0);
    key("up", name, name, 0);
  };
  const write = (text: string) => {
    for (const part of parts(text)) send({ kind: "text", text: part });
  };
  const release = () => {
    for (const one of held.values()) key("up", one.key, one.code, 0);
    held.clear();
  };

  field.addEventListener("keydown", (event) => {
    const goes = way(event);
    if (goes === "text" || goes === "paste") return;
    event.preventDefault();
    event.stopPropagation();
    if (!event.repeat && escape.press(event.key, event.timeStamp) === "leave") {
      does.leave();
      return;
    }
    // Before the key reaches the page: a cut takes the selection away.
    if (copies(event)) does.copy();
    held.set(event.code, { key: event.key, code: event.code });
    key("down", event.key, event.code, modifiers(event));
  }, options);
  field.addEventListener("keyup", (event) => {
    event.stopPropagation();
    if (!held.delete(event.code)) return;
    event.preventDefault();
    key("up", event.key, event.code, modifiers(event));
  }, options);
  field.addEventListener("beforeinput", (event) => {
    if (event.isComposing || event.inputType === "insertCompositionText") return;
    event.preventDefault();
    if (event.inputType === "deleteContentBackward") press("Backspace");
    else if (event.inputType === "deleteContentForward") press("Delete");
    else if (event.inputType === "insertLineBreak" || event.inputType === "insertParagraph") press("Enter");
    else if (event.inputType === "insertText" && event.data) write(event.data);
  }, options);
  field.addEventListener("compositionend", (event) => {
    if (event.data) write(event.data);
    // After the browser's own insertion, which follows this event.
    queueMicrotask(() => (field.value = ""));
  }, options);
  field.addEventListener("paste", (event) => {
    event.preventDefault();
    const text = event.clipboardData?.getData("text/plain");
    if (text) write(text);
  }, options);
  field.addEventListener("blur", release, options);

  return () => {
    end.abort();
    release();
    field.value = "";
  };
}

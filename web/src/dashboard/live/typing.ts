// A text field that stands for the page's keyboard: it takes keys, input methods, on-screen keyboards and paste.
import { EscapeTwice, modifiers, way } from "./keys";
import type { Input } from "./wire";

/** Sends what is typed in `field`. `leave` is called when Escape was pressed twice. Answers what ends it. */
export function type(field: HTMLTextAreaElement, send: (input: Input) => void, leave: () => void): () => void {
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
      leave();
      return;
    }
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
    else if (event.inputType === "insertText" && event.data) send({ kind: "text", text: event.data });
  }, options);
  field.addEventListener("compositionend", (event) => {
    if (event.data) send({ kind: "text", text: event.data });
    // After the browser's own insertion, which follows this event.
    queueMicrotask(() => (field.value = ""));
  }, options);
  field.addEventListener("paste", (event) => {
    event.preventDefault();
    const text = event.clipboardData?.getData("text/plain");
    if (text) send({ kind: "text", text });
  }, options);
  field.addEventListener("blur", release, options);

  return () => {
    end.abort();
    release();
    field.value = "";
  };
}

// Whether a text is shown: rendered text of the document and of the shadow roots in it.
import { onTimer } from "./asked";
import { bodyOf, rootIn } from "./nodes";

const tidy = (text: string): string => text.replace(/\s+/g, " ").trim();

/** Hosts looked into at most, so that a page of nothing but components stays cheap. */
const HOSTS = 2_000;

function shows(text: string): boolean {
  const body = bodyOf(document) as HTMLElement | null;
  if (!body) return false;
  if (tidy(body.innerText).includes(text)) return true;
  let hosts = 0;
  const look = (root: ParentNode): boolean => {
    const walker = document.createTreeWalker(root as Node, NodeFilter.SHOW_ELEMENT);
    for (let at = walker.nextNode(); at && hosts < HOSTS; at = walker.nextNode()) {
      const shadow = rootIn(at as Element);
      if (!shadow) continue;
      hosts += 1;
      for (const child of Array.from(shadow.children)) {
        if (child instanceof HTMLElement && tidy(child.innerText).includes(text)) return true;
      }
      if (look(shadow)) return true;
    }
    return false;
  };
  return look(body);
}

interface Wanted {
  text: string;
  gone: boolean;
  ms: number;
}

/** Resolves once the text is shown (or gone), or when the time is over, with whether it is so. */
export function waitText({ text, gone, ms }: Wanted): Promise<boolean> {
  const wanted = tidy(text);
  const holds = (): boolean => shows(wanted) !== gone;
  return new Promise((resolve) => {
    if (holds()) return resolve(true);
    let queued = false;
    const end = (held: boolean) => {
      observer.disconnect();
      clearTimeout(timer);
      resolve(held);
    };
    const look = () => {
      queued = false;
      if (holds()) end(true);
    };
    const observer = new MutationObserver(() => {
      // A busy page is looked at once a frame at most.
      if (queued) return;
      queued = true;
      onTimer(look, 16);
    });
    observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
    const timer = onTimer(() => end(holds()), ms);
  });
}

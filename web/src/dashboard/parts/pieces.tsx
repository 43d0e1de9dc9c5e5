// Small pieces that several pages show.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { when } from "./time";

/** The heading of a page. It takes the focus when the page is opened, so that a screen reader starts there. */
export function Title({ children, aside }: { children: ComponentChildren; aside?: ComponentChildren }) {
  return (
    <div class="title">
      <h1 tabIndex={-1} data-page-title>{children}</h1>
      {aside}
    </div>
  );
}

/** Where the focus goes when what had it is no longer there. */
export function focusTitle(): void {
  document.querySelector<HTMLElement>("[data-page-title]")?.focus({ preventScroll: true });
}

export function Failure({ text, children }: { text: string | undefined; children?: ComponentChildren }) {
  if (!text) return null;
  return (
    <div class="failure" role="alert">
      <span>{text}</span>
      {children}
    </div>
  );
}

export function Time({ at }: { at: string | null | undefined }) {
  if (!at) return null;
  return <time dateTime={at} title={new Date(at).toLocaleString()}>{when(at)}</time>;
}

const TONES: Record<string, string> = {
  running: "good",
  ready: "good",
  completed: "good",
  done: "good",
  complete: "good",
  unfinished: "bad",
  interrupted: "bad",
  starting: "busy",
  booting: "busy",
  working: "busy",
  waiting: "busy",
  recording: "busy",
  failed: "bad",
  error: "bad",
  cut_short: "bad",
  unknown: "bad",
  refused: "bad",
};

/** A status in a word. The colour only repeats what the word says. */
export function Chip({ status }: { status: string }) {
  return (
    <span class={`chip ${TONES[status] ?? ""}`}>
      <i aria-hidden="true" />
      {status.replace(/_/g, " ")}
    </span>
  );
}

/** A link to an address that came from elsewhere: only web addresses become links. */
export function Address({ url }: { url: string }) {
  if (!/^https?:\/\//i.test(url)) return <span class="address">{url}</span>;
  return <a class="address" href={url} target="_blank" rel="noopener noreferrer">{url}</a>;
}

export interface Question {
  title: string;
  text: string;
  action: string;
}

/** Asks before something that cannot be undone. The focus starts on "Cancel". */
export function Confirm({ question, busy, onYes, onNo }: {
  question: Question;
  busy?: boolean;
  onYes: () => void;
  onNo: () => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const asker = document.activeElement;
    dialog.current?.showModal();
    return () => asker instanceof HTMLElement && asker.isConnected ? asker.focus() : undefined;
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby="question-title" aria-describedby="question-text" onClose={onNo}>
      <h2 id="question-title">{question.title}</h2>
      <p id="question-text">{question.text}</p>
      <div class="buttons">
        <button type="button" autofocus onClick={onNo}>Cancel</button>
        <button type="button" class="danger" disabled={busy} onClick={onYes}>{question.action}</button>
      </div>
    </dialog>
  );
}

// Words for a screen reader: politely, or at once for what waits for an answer.
import { signal } from "@preact/signals";

const polite = signal("");
const assertive = signal("");

export function announce(text: string, urgent = false): void {
  const region = urgent ? assertive : polite;
  // The same words twice are spoken only if the region changed in between.
  region.value = "";
  requestAnimationFrame(() => (region.value = text));
}

export function Announcer() {
  return (
    <div class="only-read">
      <div role="status" aria-live="polite">{polite}</div>
      <div role="alert" aria-live="assertive">{assertive}</div>
    </div>
  );
}

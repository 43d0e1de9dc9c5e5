// What happens in a sandbox, as the daemon tells it.
import { useEffect, useReducer } from "preact/hooks";
import { eventsAddress } from "../api/calls";
import type { Card, Step } from "../api/types";

export interface Happenings {
  steps: Step[];
  cards: Card[];
  /** Counts what changed the browser, its refusals or its runs, so that pages read them again. */
  browser: number;
  refusals: number;
  runs: number;
}

type Told =
  | { kind: "step"; step: Step }
  | { kind: "card"; card: Card }
  | { kind: "card_answered"; id: string }
  | { kind: "changed"; what: "browser" | "refusals" | "runs" };

/** Enough for a long look back; the run's own page has all of them. */
const STEPS_KEPT = 500;

export function apply(state: Happenings, told: Told): Happenings {
  switch (told.kind) {
    case "step": {
      const steps = state.steps.filter((step) => step.id !== told.step.id);
      return { ...state, steps: [...steps, told.step].slice(-STEPS_KEPT) };
    }
    case "card":
      return { ...state, cards: [...state.cards.filter((card) => card.id !== told.card.id), told.card] };
    case "card_answered":
      return { ...state, cards: state.cards.filter((card) => card.id !== told.id) };
    case "changed":
      return { ...state, [told.what]: state[told.what] + 1 };
  }
}

const NOTHING: Happenings = { steps: [], cards: [], browser: 0, refusals: 0, runs: 0 };

export function useHappenings(sandbox: string): [Happenings, (answered: string) => void] {
  const [state, tell] = useReducer(apply, NOTHING);
  useEffect(() => {
    const source = new EventSource(eventsAddress(sandbox));
    const hear = (name: string, make: (data: unknown) => Told) =>
      source.addEventListener(name, (event: MessageEvent<string>) => {
        try {
          tell(make(JSON.parse(event.data)));
        } catch {
          // What cannot be read is left out; the next reading of the page shows what holds.
        }
      });
    hear("step", (data) => ({ kind: "step", step: data as Step }));
    hear("card", (data) => ({ kind: "card", card: data as Card }));
    hear("card_answered", (data) => ({ kind: "card_answered", id: (data as { id: string }).id }));
    hear("browser", () => ({ kind: "changed", what: "browser" }));
    hear("takeover", () => ({ kind: "changed", what: "browser" }));
    hear("refusal", () => ({ kind: "changed", what: "refusals" }));
    hear("run", () => ({ kind: "changed", what: "runs" }));
    return () => source.close();
  }, [sandbox]);
  return [state, (id) => tell({ kind: "card_answered", id })];
}

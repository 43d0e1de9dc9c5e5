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

/** Old events are told again at the start, so that a card may be followed at once by its answer. */
const CARD_STAYS_MS = 150;

/** A stream that was refused is asked for again. */
const AGAIN_MS = 5000;

export function useHappenings(sandbox: string): [Happenings, (answered: string) => void] {
  const [state, tell] = useReducer(apply, NOTHING);
  useEffect(() => {
    const cards = new Map<string, ReturnType<typeof setTimeout>>();
    let source: EventSource;
    let again: ReturnType<typeof setTimeout> | undefined;
    const hear = (name: string, take: (data: unknown) => void) =>
      source.addEventListener(name, (event: MessageEvent<string>) => {
        try {
          take(JSON.parse(event.data));
        } catch {
          // What cannot be read is left out; the next reading of the page shows what holds.
        }
      });
    const open = () => {
      source = new EventSource(eventsAddress(sandbox));
      source.onerror = () => {
        if (source.readyState === EventSource.CLOSED) again = setTimeout(open, AGAIN_MS);
      };
      hear("step", (data) => tell({ kind: "step", step: data as Step }));
      hear("card", (data) => {
        const card = data as Card;
        cards.set(card.id, setTimeout(() => tell({ kind: "card", card }), CARD_STAYS_MS));
      });
      hear("card_answered", (data) => {
        const { id } = data as { id: string };
        clearTimeout(cards.get(id));
        tell({ kind: "card_answered", id });
      });
      hear("browser", () => tell({ kind: "changed", what: "browser" }));
      hear("refusal", () => tell({ kind: "changed", what: "refusals" }));
      hear("run", () => tell({ kind: "changed", what: "runs" }));
    };
    open();
    return () => {
      source.close();
      clearTimeout(again);
      for (const timer of cards.values()) clearTimeout(timer);
    };
  }, [sandbox]);
  return [state, (id) => tell({ kind: "card_answered", id })];
}

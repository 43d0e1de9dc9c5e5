// Rows of steps: equal neighbours become one row with a count, failures never do.
import type { Step } from "../api/types";

export interface Row {
  /** The last step of the row. */
  step: Step;
  /** The first one's id: a row that grows stays the same row, and stays open. */
  key: number;
  times: number;
  ms: number;
  all: Step[];
}

export const failed = (step: Step): boolean => step.outcome === "error" || step.outcome === "unknown" || step.outcome === "refused";

/** Steps in the order they started, each once with its newest state. */
export function inOrder(steps: readonly Step[]): Step[] {
  const newest = new Map<number, Step>();
  for (const step of steps) newest.set(step.id, step);
  return [...newest.values()].sort((a, b) => a.started_at.localeCompare(b.started_at) || a.id - b.id);
}

export function rows(steps: readonly Step[]): Row[] {
  const rows: Row[] = [];
  for (const step of inOrder(steps)) {
    const last = rows.at(-1);
    if (last && last.step.tool === step.tool && last.step.label === step.label && !failed(step) && !failed(last.step)) {
      last.step = step;
      last.times += 1;
      last.ms += step.ms ?? 0;
      last.all.push(step);
    } else {
      rows.push({ step, key: step.id, times: 1, ms: step.ms ?? 0, all: [step] });
    }
  }
  return rows;
}

/** How a step ended, in words. A step is told as done only if it was. */
export function ending(step: Step, over: boolean): string {
  switch (step.outcome) {
    case "completed":
      return "done";
    case "refused":
      return "refused";
    case "unknown":
      return "may have happened";
    case "error":
      return "failed";
    case "running":
      return over ? "not done" : "working";
    default:
      return step.outcome;
  }
}

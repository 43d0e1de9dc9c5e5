import { useState } from "preact/hooks";
import type { Step } from "../api/types";
import { ending, failed, inOrder, rows, type Row } from "./steps";
import { count, lasting } from "./time";

/**
 * The steps of a reply as one quiet row with its detail on click. While it works the current step is shown and
 * earlier ones open above it; afterwards the count is shown and the steps open below.
 */
export function StepRows({ steps, over, label }: { steps: readonly Step[]; over: boolean; label: string }) {
  const [open, setOpen] = useState(false);
  const ordered = inOrder(steps);
  const current = over ? undefined : ordered.at(-1);
  const before = rows(current ? ordered.slice(0, -1) : ordered);
  const failures = ordered.filter(failed).length;
  if (!ordered.length) return <p class="quiet">{over ? "No step was taken." : "No step yet."}</p>;

  const toggle = (
    <button type="button" class="toggle" aria-expanded={open} disabled={!before.length} onClick={() => setOpen(!open)}>
      {current
        ? count(before.length ? ordered.length - 1 : 0, "earlier step")
        : count(ordered.length, "step")}
      {failures ? <span class="bad">, {failures} not done as asked</span> : null}
    </button>
  );
  const list = open && before.length
    ? <ol class="steps" aria-label={label}>{before.map((row) => <StepRow key={row.key} row={row} over={over} />)}</ol>
    : null;
  return current
    ? <div class="step-rows">{before.length ? toggle : null}{list}
        <ol class="steps" aria-label="Current step"><StepRow key={current.id} row={rows([current])[0] as Row} over={false} /></ol>
      </div>
    : <div class="step-rows">{toggle}{list}</div>;
}

function StepRow({ row, over }: { row: Row; over: boolean }) {
  const { step } = row;
  const end = ending(step, over);
  const more = [...new Set(row.all.flatMap((one) => [one.detail, one.error]))].filter((text) => !!text);
  const line = (
    <>
      <span class={`end ${failed(step) ? "bad" : ""}`}>{end}</span>
      <span class="label">{step.label}</span>
      {row.times > 1 ? <span class="times">× {row.times}</span> : null}
      {step.outcome !== "running" && row.ms ? <span class="ms">{lasting(row.ms)}</span> : null}
    </>
  );
  return (
    <li>
      {more.length
        ? <details open={failed(step)}><summary>{line}</summary><pre>{more.join("\n")}</pre></details>
        : <div class="line">{line}</div>}
    </li>
  );
}

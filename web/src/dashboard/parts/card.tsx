import { useEffect, useRef, useState } from "preact/hooks";
import { answerCard } from "../api/calls";
import type { Card, CardAnswer } from "../api/types";
import { announce } from "./announce";
import { Failure, focusTitle } from "./pieces";
import { useDeed } from "./resource";
import { left } from "./time";

/** A click that was on its way to something else when the card appeared must not allow it. */
const SETTLE_MS = 700;

/** One question of the guard. Nothing in it has the focus by itself, and its text is only ever text. */
export function CardView({ sandbox, card, onAnswered }: { sandbox: string; card: Card; onAnswered: (id: string) => void }) {
  const deed = useDeed();
  const shownAt = useRef(performance.now());
  const [settled, setSettled] = useState(false);
  useEffect(() => {
    announce(`The agent asks: ${card.title}`, true);
    const timer = setTimeout(() => setSettled(true), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [card.id]);

  const answer = (choice: CardAnswer) => async () => {
    const allows = choice === "allow" || choice === "always";
    if (allows && performance.now() - shownAt.current < SETTLE_MS) return;
    if (await deed.run(() => answerCard(sandbox, card.id, choice))) {
      announce(allows ? "Allowed." : choice === "stop" ? "Stopped." : "Not allowed.");
      onAnswered(card.id);
      focusTitle();
    }
  };
  const titleId = `card-${card.id}`;
  return (
    <section
      class="card"
      aria-labelledby={titleId}
      onKeyDown={(event) => {
        if (event.key === "Escape" && !event.repeat) void answer("stop")();
      }}
    >
      <h2 id={titleId}>{card.title}</h2>
      {card.lines.map((line, n) => <p key={n}>{line}</p>)}
      {card.expires_at ? <p class="quiet">Without an answer it is not allowed ({left(card.expires_at)}).</p> : null}
      <Failure text={deed.error} />
      <div class="buttons">
        <button type="button" disabled={deed.busy} onClick={answer("deny")}>Don’t allow</button>
        <button type="button" disabled={deed.busy} aria-disabled={!settled} onClick={answer("allow")}>Allow once</button>
        {card.offers_always
          ? <button type="button" disabled={deed.busy} aria-disabled={!settled} onClick={answer("always")}>Always on this site</button>
          : null}
        <button type="button" class="danger" disabled={deed.busy} onClick={answer("stop")}>Stop the agent</button>
      </div>
    </section>
  );
}

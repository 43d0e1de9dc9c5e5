import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { me } from "../api/client";
import { announce } from "../parts/announce";
import { Failure, Time } from "../parts/pieces";
import { LiveView } from "./connection";
import { follow } from "./pointer";
import { type } from "./typing";

/** Watching a browser, and driving it. */
export function Live({ sandbox, session }: { sandbox: string; session: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const stage = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const [typing, setTyping] = useState(false);
  const live = useMemo(
    () =>
      new LiveView(sandbox, (picture) => {
        const at = canvas.current;
        if (!at) return;
        if (at.width !== picture.width || at.height !== picture.height) {
          at.width = picture.width;
          at.height = picture.height;
        }
        at.getContext("2d")?.drawImage(picture, 0, 0);
      }),
    [sandbox, session],
  );
  useEffect(() => {
    live.watch();
    return () => live.stop();
  }, [live]);

  const watching = live.watching.value;
  const driver = live.driver.value;
  const drives = driver?.you === true;
  const waiting = live.waiting.value;
  const about = live.about.value;
  const mayTakeOver = me.value?.scopes.includes("take_over") ?? false;

  useEffect(() => {
    if (!drives || !canvas.current || !field.current || !stage.current) return;
    announce("You are driving. Press Escape twice to get your keyboard back.");
    const send = live.input.bind(live);
    const around = stage.current;
    const ends = [
      follow(canvas.current, send),
      type(field.current, send, {
        leave: () => {
          around.focus();
          announce("The keyboard is yours again. You still hold control.");
        },
        copy: () => live.copy(),
      }),
    ];
    field.current.focus({ preventScroll: true });
    return () => {
      // The field goes away with the control; the focus stays near it.
      if (around.contains(document.activeElement)) around.focus();
      for (const end of ends) end();
    };
  }, [drives, live]);

  // A click outside gives up the keyboard even where it lands on nothing that takes the focus (S-066).
  useEffect(() => {
    if (!typing) return;
    const outside = (event: PointerEvent) => {
      if (event.target instanceof Node && !stage.current?.contains(event.target)) field.current?.blur();
    };
    document.addEventListener("pointerdown", outside, true);
    return () => document.removeEventListener("pointerdown", outside, true);
  }, [typing]);

  useEffect(() => {
    if (waiting && drives) announce("The agent waits for you to hand back.", true);
  }, [waiting, drives]);

  const on = watching.state === "on";
  // A name of one's own without the control on this connection: another tab, or this one before a reload.
  const own = driver !== null && !driver.you && driver.name === me.value?.name;
  return (
    <section class="live" aria-label="Live view">
      <div class="live-bar">
        <div class="live-who" role="status">
          {watching.state === "connecting" ? (watching.again ? "Connecting again…" : "Connecting…") : null}
          {watching.state === "off" ? "Not watching." : null}
          {on && !driver ? "Watching. Nobody holds control." : null}
          {on && driver && !drives ? <>Held by <b>{driver.name}</b> since <Time at={driver.since} /></> : null}
          {drives ? <b>You are driving.</b> : null}
        </div>
        <div class="buttons">
          {on && !drives && mayTakeOver
            ? <button type="button" class="main" onClick={() => void live.takeOver()}>
                {own || live.mayContinue.value ? "Continue driving here" : "Take over"}
              </button>
            : null}
          {drives
            ? <button type="button" class="main" onClick={() => live.handBack()}>Hand back</button>
            : null}
          {watching.state === "off" || watching.state === "lost"
            ? <button type="button" onClick={() => live.watch()}>Watch</button>
            : <button type="button" onClick={() => live.stop()}>Stop watching</button>}
        </div>
      </div>
      {waiting
        ? <p class="banner" role="status">
            The agent waits to go on ({waiting.tool}). {drives ? "Hand back when you are done." : `${driver?.name ?? "Somebody"} holds control.`}
          </p>
        : null}
      <Failure text={watching.state === "lost" ? watching.why : (live.notice.value ?? undefined)} />
      <div ref={stage} tabIndex={-1} class={`stage ${drives ? "drives" : ""} ${typing ? "typing" : ""}`} aria-label={drives ? "The page you are driving" : undefined} role="group">
        <canvas
          ref={canvas}
          width="1280"
          height="800"
          role="img"
          aria-label={about ? `Picture of the page ${about.title || about.url}` : "No picture of the page yet"}
          onPointerDown={() => {
            if (drives) field.current?.focus({ preventScroll: true });
          }}
        />
        <textarea
          ref={field}
          hidden={!drives}
          class="keyboard"
          aria-label="Keyboard of the page. Escape twice gives it up."
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          onFocus={() => setTyping(true)}
          onBlur={() => setTyping(false)}
        />
        {about || watching.state === "off" ? null : <p class="stage-empty" aria-hidden="true">{on ? "The page has shown nothing yet." : ""}</p>}
      </div>
      <p class="live-about">
        {about ? <><span class="page-title">{about.title}</span> <span class="address">{about.url}</span></> : null}
      </p>
      {drives
        ? <p class="quiet">
            {typing ? "Keys go to the page. Press Escape twice, or click outside, to get them back." : "Click the page, or move into it with Tab, to type there. You still hold control."}
          </p>
        : null}
    </section>
  );
}

// The page that shows a recording: a file of its own with everything in it, or a frame of the dashboard that is
// told what to show.

import type { Stored } from "./events";
import { Player } from "./player";
import { showFile } from "./viewer";

const stage = document.getElementById("stage");
const held = document.getElementById("recording");

if (stage && held) {
  showFile(stage, JSON.parse(held.textContent ?? "{}"));
} else if (stage) {
  const tell = (what: object): void => parent.postMessage(what, location.origin === "null" ? "*" : location.origin);
  const player = new Player(stage, {
    time: (at_ms, tab) => tell({ type: "time", at_ms, tab }),
    end: () => tell({ type: "end" }),
    tabs: (tabs, tab) => tell({ type: "tabs", tabs, tab }),
  });
  addEventListener("message", (message) => {
    if (message.source !== parent) return;
    const said = message.data as { type: string; events?: Stored[]; at_ms?: number; speed?: number; tab?: string };
    if (said.type === "events") player.add(said.events ?? []);
    else if (said.type === "seek") player.seek(said.at_ms ?? 0);
    else if (said.type === "play") player.play(said.speed);
    else if (said.type === "pause") player.pause();
    else if (said.type === "tab") player.show(said.tab ?? "");
  });
  tell({ type: "ready" });
}

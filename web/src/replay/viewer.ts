// An exported recording: the replay, its controls, and what happened beside it.

import type { Stored } from "./events";
import { Player } from "./player";

interface File {
  about: { app_url: string; started_at_ms: number; status: string; end_reason?: string | null };
  events: Stored[];
}

function element<K extends keyof HTMLElementTagNameMap>(tag: K, text: string, into: HTMLElement): HTMLElementTagNameMap[K] {
  const el = document.createElement(tag);
  el.textContent = text;
  into.append(el);
  return el;
}

function clock(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")}`;
}

function describe(event: Stored): string | undefined {
  const data = event.data as Record<string, string | undefined>;
  switch (event.kind) {
    case "action":
      return `${data["label"] ?? data["tool"] ?? ""}: ${data["outcome"] ?? ""}`;
    case "marker":
      return `${(data["what"] ?? "").replaceAll("_", " ")}: ${data["url"] ?? data["text"] ?? ""}`;
    case "takeover":
      return `${(data["what"] ?? "").replaceAll("_", " ")}: ${data["who"] ?? ""} ${data["why"] ?? ""}`;
    case "console":
      return `console ${data["level"] ?? ""}: ${data["text"] ?? ""}`;
    case "frame":
      return "picture";
    default:
      return undefined;
  }
}

export function showFile(stage: HTMLElement, file: File): void {
  const begin = file.about.started_at_ms;
  const bar = document.getElementById("bar");
  const list = document.getElementById("list");
  if (!bar || !list) return;
  const last = file.events.reduce((most, event) => Math.max(most, event.at_ms), begin);

  const button = element("button", "Play", bar);
  const slider = element("input", "", bar);
  slider.type = "range";
  slider.min = "0";
  slider.max = String(last - begin);
  slider.value = "0";
  slider.setAttribute("aria-label", "Time");
  const time = element("output", clock(0), bar);
  const speed = element("select", "", bar);
  speed.setAttribute("aria-label", "Speed");
  for (const rate of [1, 2, 4, 8]) element("option", `${rate}×`, speed).value = String(rate);
  const tabs = element("select", "", bar);
  tabs.setAttribute("aria-label", "Tab");
  const filter = element("input", "", bar);
  filter.type = "search";
  filter.placeholder = "Filter events";
  filter.setAttribute("aria-label", "Filter events");
  if (file.about.status !== "complete") {
    element("strong", `Not complete: ${file.about.end_reason ?? file.about.status}`, bar);
  }

  let playing = false;
  const set = (on: boolean): void => {
    playing = on;
    button.textContent = on ? "Pause" : "Play";
  };
  const player = new Player(stage, {
    time: (at) => {
      slider.value = String(at - begin);
      time.textContent = clock(at - begin);
    },
    end: () => set(false),
    tabs: (ids, shown) => {
      tabs.replaceChildren(...ids.map((id, n) => new Option(`Tab ${n + 1}`, id, false, id === shown)));
      tabs.hidden = ids.length < 2;
    },
  });
  button.onclick = () => {
    set(!playing);
    if (playing) player.play(Number(speed.value));
    else player.pause();
  };
  slider.oninput = () => player.seek(begin + Number(slider.value));
  speed.onchange = () => playing && player.play(Number(speed.value));
  tabs.onchange = () => player.show(tabs.value);

  const picture = element("img", "", list);
  picture.alt = "Picture of the screen";
  picture.hidden = true;
  const rows = element("ol", "", list);
  for (const event of file.events) {
    const text = describe(event);
    if (text === undefined) continue;
    const row = element("li", "", rows);
    row.className = event.kind;
    const jump = element("button", `${clock(event.at_ms - begin)} ${text}`, row);
    jump.onclick = () => {
      if ([...tabs.options].some((option) => option.value === event.tab)) player.show(event.tab);
      player.seek(event.at_ms);
      picture.hidden = event.kind !== "frame";
      if (event.kind === "frame") picture.src = `data:image/jpeg;base64,${(event.data as { jpeg: string }).jpeg}`;
    };
  }
  filter.oninput = () => {
    const words = filter.value.toLowerCase();
    for (const row of rows.children as HTMLCollectionOf<HTMLElement>) {
      row.hidden = !(row.textContent ?? "").toLowerCase().includes(words);
    }
  };
  player.add(file.events);
  document.body.dataset["ready"] = "yes";
}

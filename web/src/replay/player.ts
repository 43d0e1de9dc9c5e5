// Shows recorded events: a replay for each tab, one of them in sight.

import { Replayer } from "@rrweb/replay";
import type { eventWithTime } from "@rrweb/types";
import type { Stored } from "./events";
import { Merge } from "./merge";

interface Tab {
  id: string;
  merge: Merge;
  place: HTMLElement;
  /** Until there are enough to begin with. */
  waiting: eventWithTime[];
  replayer: Replayer | undefined;
  first: number;
  last: number;
}

export interface Told {
  time: (atMs: number, tab: string) => void;
  end: () => void;
  tabs: (ids: string[], shown: string) => void;
}

export class Player {
  private readonly tabs = new Map<string, Tab>();
  private shown: Tab | undefined;
  private atMs = 0;
  private speed = 1;
  private playing = false;

  constructor(
    private readonly stage: HTMLElement,
    private readonly told: Told,
  ) {
    new ResizeObserver(() => this.fit()).observe(stage);
    setInterval(() => this.tick(), 100);
  }

  /** More events, in order. */
  add(events: Stored[]): void {
    const byTab = new Map<string, Stored[]>();
    for (const event of events) {
      if (event.kind !== "rrweb" && event.kind !== "placed") continue;
      const list = byTab.get(event.tab);
      if (list) list.push(event);
      else byTab.set(event.tab, [event]);
    }
    for (const [id, list] of byTab) {
      list.sort((a, b) => a.at_ms - b.at_ms || a.seq - b.seq);
      this.feed(this.tab(id), list);
    }
  }

  private tab(id: string): Tab {
    let tab = this.tabs.get(id);
    if (!tab) {
      const place = document.createElement("div");
      place.className = "place";
      place.hidden = true;
      this.stage.append(place);
      tab = { id, merge: new Merge(), place, waiting: [], replayer: undefined, first: 0, last: 0 };
      this.tabs.set(id, tab);
    }
    return tab;
  }

  private feed(tab: Tab, list: Stored[]): void {
    const events = tab.merge.add(list);
    for (const event of events) {
      // What was recorded late must not be shown before what it changes.
      event.timestamp = Math.max(event.timestamp, tab.last);
      tab.last = event.timestamp;
    }
    if (tab.replayer) {
      for (const event of events) tab.replayer.addEvent(event);
      return;
    }
    tab.waiting.push(...events);
    const begin = tab.waiting.findIndex((event) => event.type === 4);
    if (begin < 0 || !tab.waiting.some((event) => event.type === 2)) return;
    const all = tab.waiting.slice(begin);
    tab.waiting = [];
    tab.first = all[0]?.timestamp ?? 0;
    tab.place.hidden = false;
    tab.replayer = new Replayer(all, {
      root: tab.place,
      mouseTail: false,
      showWarning: false,
      showDebug: false,
      UNSAFE_replayCanvas: false,
      triggerFocus: false,
      pauseAnimation: true,
      insertStyleRules: ["noscript{display:none!important}"],
    });
    tab.replayer.on("resize", () => this.fit());
    tab.replayer.on("finish", () => {
      if (tab !== this.shown) return;
      this.playing = false;
      this.told.end();
    });
    tab.place.hidden = true;
    if (!this.shown) this.show(tab.id);
    else this.told.tabs([...this.tabs.keys()], this.shown.id);
  }

  show(id: string): void {
    const tab = this.tabs.get(id);
    if (!tab?.replayer) return;
    if (this.shown && this.shown !== tab) {
      this.shown.replayer?.pause();
      this.shown.place.hidden = true;
    }
    this.shown = tab;
    tab.place.hidden = false;
    this.fit();
    this.told.tabs([...this.tabs.keys()], id);
    this.seek(Math.max(this.atMs, tab.first));
  }

  seek(atMs: number): void {
    this.atMs = atMs;
    const tab = this.shown;
    if (!tab?.replayer) return;
    const at = Math.min(Math.max(0, atMs - tab.first), Math.max(0, tab.last - tab.first));
    // What happened at that very moment is shown as well.
    if (this.playing) tab.replayer.play(at);
    else tab.replayer.pause(at + 1);
    this.told.time(tab.first + at, tab.id);
  }

  play(speed?: number): void {
    this.playing = true;
    if (speed !== undefined) this.speed = speed;
    const tab = this.shown;
    if (!tab?.replayer) return;
    tab.replayer.setConfig({ speed: this.speed });
    this.seek(this.atMs >= tab.last ? tab.first : this.atMs);
  }

  pause(): void {
    this.playing = false;
    this.shown?.replayer?.pause();
  }

  private tick(): void {
    const tab = this.shown;
    if (!this.playing || !tab?.replayer) return;
    this.atMs = tab.first + tab.replayer.getCurrentTime();
    this.told.time(this.atMs, tab.id);
  }

  /** As large as there is room. */
  private fit(): void {
    const wrapper = this.shown?.replayer?.wrapper;
    const frame = this.shown?.replayer?.iframe;
    if (!wrapper || !frame) return;
    const width = Number(frame.getAttribute("width")) || frame.offsetWidth;
    const height = Number(frame.getAttribute("height")) || frame.offsetHeight;
    if (width === 0 || height === 0) return;
    const scale = Math.min(1, this.stage.clientWidth / width, this.stage.clientHeight / height);
    wrapper.style.transform = `scale(${scale})`;
    wrapper.style.transformOrigin = "0 0";
  }
}

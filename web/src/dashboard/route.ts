// Places of the dashboard are fragments, so that the daemon serves one page and a reload stays where it was.
import { computed, signal } from "@preact/signals";

export type Route =
  | { page: "sandboxes" }
  | { page: "sandbox"; id: string }
  | { page: "runs" }
  | { page: "run"; id: string }
  | { page: "recordings"; q: string; sandbox: string }
  | { page: "recording"; id: string }
  | { page: "usage" }
  | { page: "settings" }
  | { page: "nowhere" };

/** Reads a fragment such as `#/sandboxes/s1`. */
export function parse(fragment: string): Route {
  const [path = "", search = ""] = fragment.replace(/^#?\/?/, "").split("?", 2);
  const [page = "", id = "", more] = path.split("/");
  let named: string;
  try {
    named = decodeURIComponent(id);
  } catch {
    return { page: "nowhere" };
  }
  if (more !== undefined) return { page: "nowhere" };
  switch (page) {
    case "":
    case "sandboxes":
      return named ? { page: "sandbox", id: named } : { page: "sandboxes" };
    case "runs":
      return named ? { page: "run", id: named } : { page: "runs" };
    case "recordings": {
      if (named) return { page: "recording", id: named };
      const asked = new URLSearchParams(search);
      return { page: "recordings", q: asked.get("q") ?? "", sandbox: asked.get("sandbox") ?? "" };
    }
    case "usage":
    case "settings":
      return { page };
    default:
      return { page: "nowhere" };
  }
}

/** The one-time code of a sign-in link, `#code=…`. */
export function codeIn(text: string): string | null {
  const found = /#code=([^&\s]+)/.exec(text);
  return found?.[1] ?? null;
}

const fragment = signal(location.hash);
addEventListener("hashchange", () => (fragment.value = location.hash));

export const route = computed(() => parse(fragment.value));

export const to = {
  sandboxes: "#/sandboxes",
  sandbox: (id: string) => `#/sandboxes/${encodeURIComponent(id)}`,
  runs: "#/runs",
  run: (id: string) => `#/runs/${encodeURIComponent(id)}`,
  recordings: "#/recordings",
  recordingsOf: (sandbox: string) => `#/recordings?sandbox=${encodeURIComponent(sandbox)}`,
  recording: (id: string) => `#/recordings/${encodeURIComponent(id)}`,
  usage: "#/usage",
  settings: "#/settings",
};

/** Takes the fragment out of the address and of the history. */
export function forgetFragment(): void {
  history.replaceState(null, "", location.pathname);
  // No event tells of this.
  fragment.value = "";
}

export function go(fragment: string): void {
  location.hash = fragment;
}

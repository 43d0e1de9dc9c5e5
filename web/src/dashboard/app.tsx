import type { ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { signOut, whoAmI } from "./api/calls";
import { me } from "./api/client";
import { RecordingPage } from "./pages/recording";
import { RecordingsPage } from "./pages/recordings";
import { RunPage, RunsPage } from "./pages/runs";
import { SandboxPage } from "./pages/sandbox";
import { SandboxesPage } from "./pages/sandboxes";
import { SettingsPage } from "./pages/settings";
import { SignIn } from "./pages/signin";
import { UsagePage } from "./pages/usage";
import { Announcer, announce } from "./parts/announce";
import { Title } from "./parts/pieces";
import { type Route, codeIn, route, to } from "./route";

const PLACES: { name: string; href: string; pages: Route["page"][] }[] = [
  { name: "Sandboxes", href: to.sandboxes, pages: ["sandboxes", "sandbox"] },
  { name: "Runs", href: to.runs, pages: ["runs", "run"] },
  { name: "Recordings", href: to.recordings, pages: ["recordings", "recording"] },
  { name: "Usage", href: to.usage, pages: ["usage"] },
  { name: "Settings", href: to.settings, pages: ["settings"] },
];

export function App() {
  useEffect(() => {
    // A code in the address is taken by the sign-in, which stands for nobody being known yet.
    if (codeIn(location.hash)) me.value = null;
    else whoAmI().then((known) => (me.value = known), () => (me.value = null));
  }, []);
  return (
    <>
      {me.value === undefined ? <main class="splash"><h1>Reins</h1><p role="status">Connecting…</p></main> : me.value === null ? <SignIn /> : <Shell />}
      <Announcer />
    </>
  );
}

function Shell() {
  const main = useRef<HTMLElement>(null);
  const place = route.value;
  const key = "id" in place ? `${place.page}/${place.id}` : place.page;
  const first = useRef(true);
  useEffect(() => {
    const title = main.current?.querySelector<HTMLElement>("[data-page-title]");
    document.title = title ? `${title.textContent} · Reins` : "Reins";
    // The first page leaves the focus at the top, where a keyboard expects it.
    if (!first.current) {
      title?.focus({ preventScroll: true });
      scrollTo(0, 0);
      announce(title?.textContent ?? "");
    }
    first.current = false;
  }, [key]);

  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => main.current?.focus()}>Skip to the page</button>
      <header>
        <a class="brand" href={to.sandboxes}>Reins</a>
        <nav aria-label="Main">
          <ul>
            {PLACES.map(({ name, href, pages }) => (
              <li key={name}>
                <a href={href} aria-current={pages.includes(place.page) ? "page" : undefined}>{name}</a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="who">
          <span title={`Tenant ${me.value?.tenant}`}>{me.value?.name}</span>
          <button type="button" class="plain" onClick={() => signOut().finally(() => (me.value = null))}>Sign out</button>
        </div>
      </header>
      <main ref={main} tabIndex={-1}>
        <Page key={key} place={place} />
      </main>
    </div>
  );
}

function Page({ place }: { place: Route }) {
  switch (place.page) {
    case "sandbox":
      return <SandboxPage id={place.id} />;
    case "run":
      return <RunPage id={place.id} />;
    case "recording":
      return <RecordingPage id={place.id} />;
    case "recordings":
      return <RecordingsPage q={place.q} sandbox={place.sandbox} />;
    default: {
      const Simple = SIMPLE[place.page];
      return <Simple />;
    }
  }
}

const SIMPLE: Record<"sandboxes" | "runs" | "usage" | "settings" | "nowhere", ComponentType> = {
  sandboxes: SandboxesPage,
  runs: RunsPage,
  usage: UsagePage,
  settings: SettingsPage,
  nowhere: () => (
    <>
      <Title>Nothing here</Title>
      <p>This address leads nowhere. <a href={to.sandboxes}>Go to the sandboxes</a></p>
    </>
  ),
};

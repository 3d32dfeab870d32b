/** The shell: header, navigation, the page of the route, dialogs and messages. */

import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { focusSearch, Header } from "./components/header";
import { HelpDialog, openHelp } from "./components/help";
import { LoginDialog } from "./components/login";
import { Toasts } from "./components/toast";
import { ErrorNote, Loading } from "./components/notes";
import { PAGES } from "./pages";
import { go, route } from "./router";
import { isField, useShortcuts } from "./shortcuts";
import { sessionError, refreshSession } from "./state";

export function App() {
  useShortcuts([
    { keys: "/", what: "Search terms of the store", run: focusSearch },
    { keys: "?", what: "Show these shortcuts", run: openHelp },
    ...PAGES.map((page, index) => ({
      keys: `alt+${index + 1}`,
      what: `Go to ${page.title}`,
      run: () => go(page.name),
      whileTyping: true,
    })),
  ]);
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <Header />
      <main id="main" tabIndex={-1}>
        {sessionError.value ? <Unreachable /> : <Page />}
      </main>
      <Toasts />
      <HelpDialog />
      <LoginDialog />
    </>
  );
}

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function Unreachable() {
  return (
    <div class="page narrow">
      <ErrorNote error={sessionError.value} />
      <button type="button" class="button" onClick={() => void refreshSession()}>
        Try again
      </button>
    </div>
  );
}

/** A person who types in the header while a page loads keeps the focus. */
function focusPage(): void {
  const main = document.getElementById("main");
  const active = document.activeElement;
  if (!isField(active) || main?.contains(active)) main?.focus({ preventScroll: true });
}

/** The page of the route, loaded when it is first visited. */
function Page() {
  const { page } = route.value;
  const known = PAGES.find((each) => each.name === page) ?? PAGES[0]!;
  const [Shown, show] = useState<ComponentType | null>(null);
  const [error, fail] = useState<unknown>(null);
  const first = useRef(true);
  useEffect(() => {
    let current = true;
    document.title = `${known.title} · triplestore`;
    known.load().then(
      (loaded) => {
        if (!current) return;
        show(() => loaded.default);
        fail(null);
        if (!first.current) focusPage();
        first.current = false;
      },
      (problem: unknown) => current && fail(problem),
    );
    return () => {
      current = false;
    };
  }, [known]);
  if (error) return <ErrorNote error={error} />;
  return Shown ? <Shown key={known.name} /> : <Loading what="page" />;
}

/** The header: name of the store, navigation, search, theme, help, login. */

import { logout, messageOf } from "../api/client";
import { count } from "../logic/numbers";
import { PAGES } from "../pages";
import { go, href, route } from "../router";
import { loginOpen, openStore, refreshSession, session, store } from "../state";
import { theme, type Theme } from "../theme";
import { openHelp } from "./help";
import { TermSearch } from "./search";
import { toast } from "./toast";

const SEARCH = "search-terms";

/** Put the cursor into the search of the header at once: what is typed next belongs there. */
export function focusSearch(): void {
  document.getElementById(SEARCH)?.focus();
}

export function Header() {
  return (
    <header class="header">
      <a class="brand" href={href("query")} aria-label="triplestore: to the query page">
        <Mark />
        <span class="brand-name">triplestore</span>
      </a>
      <StoreName />
      <nav class="nav" aria-label="Pages">
        {PAGES.map((page) => (
          <a
            key={page.name}
            href={href(page.name)}
            aria-current={route.value.page === page.name ? "page" : undefined}
          >
            {page.title}
          </a>
        ))}
      </nav>
      <div class="header-end">
        <TermSearch id={SEARCH} onChoose={(term) => go("resource", { term })} />
        <ThemeButton />
        <button
          type="button"
          class="button quiet icon"
          aria-label="Keyboard shortcuts"
          title="Keyboard shortcuts (?)"
          onClick={openHelp}
        >
          ?
        </button>
        <Person />
      </div>
    </header>
  );
}

function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <path d="M8 24 L16 8 L24 24" class="mark-line" />
      <path d="M8 24 L24 24" class="mark-inferred" />
      <circle cx="16" cy="8" r="4.5" />
      <circle cx="8" cy="24" r="4.5" />
      <circle cx="24" cy="24" r="4.5" />
    </svg>
  );
}

function StoreName() {
  const current = session.value;
  if (!current) return <span class="store-name" />;
  const facts = store.value;
  const size = facts ? facts.quads.asserted + facts.quads.inferred : null;
  return (
    <span class="store-name">
      {current.stores.length > 1 ? (
        <select
          aria-label="Store"
          value={current.store ?? ""}
          onChange={(event) => openStore(event.currentTarget.value)}
        >
          {current.stores.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      ) : (
        current.store && <strong>{current.store}</strong>
      )}
      {size !== null && (
        <span class="muted store-size" title={`commit ${facts!.commit}`}>
          {count(size)} facts
        </span>
      )}
    </span>
  );
}

const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };
const SIGNS: Record<Theme, string> = { system: "◐", light: "☀", dark: "☾" };

function ThemeButton() {
  return (
    <button
      type="button"
      class="button quiet icon"
      aria-label={`Colours: ${theme.value}; change to ${NEXT[theme.value]}`}
      title={`Colours: ${theme.value}`}
      onClick={() => (theme.value = NEXT[theme.value])}
    >
      <span aria-hidden="true">{SIGNS[theme.value]}</span>
    </button>
  );
}

function Person() {
  const current = session.value;
  if (!current?.login && !current?.user) return null;
  if (!current.user) {
    return (
      <button type="button" class="button" onClick={() => (loginOpen.value = true)}>
        Log in
      </button>
    );
  }
  const leave = async () => {
    try {
      await logout();
    } catch (error) {
      toast(messageOf(error), "bad");
    }
    await refreshSession();
  };
  return (
    <span class="person">
      <span class="muted" title={`role: ${current.role}`}>
        {current.user}
      </span>
      <button type="button" class="button quiet" onClick={() => void leave()}>
        Log out
      </button>
    </span>
  );
}

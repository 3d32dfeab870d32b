/** What several pages know: who is here, the store, its prefixes. Start at `refreshSession`. */

import { signal } from "@preact/signals";
import * as api from "./api/client";
import type { Session, StoreFacts } from "./api/types";

/** Null until the server answered for the first time. */
export const session = signal<Session | null>(null);

/** The facts of the store as of the last look; null before that. */
export const store = signal<StoreFacts | null>(null);

/** Why the session could not be read, such as a server that is gone. */
export const sessionError = signal<unknown>(null);

/** Whether the login form is open. */
export const loginOpen = signal(false);

api.onUnauthorised.run = () => {
  loginOpen.value = true;
};

/** Ask who is here, and then for the store. */
export async function refreshSession(): Promise<void> {
  try {
    const found = await api.session();
    session.value = found;
    sessionError.value = null;
    if (found.login && !found.user) loginOpen.value = true;
    else if (found.store === null && found.stores.length > 0) openStore(found.stores[0]!);
    else await refreshStore();
  } catch (error) {
    sessionError.value = error;
  }
}

/** Go to the page of another store; each has its own path below that of the server. */
export function openStore(name: string): void {
  const path = location.pathname.replace(/[^/]*$/, "");
  const current = session.value?.store;
  const ending = current ? `/${encodeURIComponent(current)}/` : "";
  const root = ending && path.endsWith(ending) ? path.slice(0, 1 - ending.length) : path;
  location.assign(`${root}${encodeURIComponent(name)}/${location.hash}`);
}

/** Look at the store again: after changes, and when a page needs current numbers. */
export async function refreshStore(): Promise<void> {
  try {
    store.value = await api.storeFacts();
  } catch {
    // its page says what is wrong; the shell goes without numbers
  }
}

/** The prefixes of the store; empty before it was read. */
export function prefixes(): Record<string, string> {
  return store.value?.prefixes ?? {};
}

/** Whether this person may change the store. */
export function mayUpdate(): boolean {
  const current = session.value;
  return !!current?.update && (current.role === "write" || current.role === "admin");
}

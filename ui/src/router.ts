/** The place within the page, kept behind `#`: `#/resource?term=...`. Start at `route`. */

import { computed, signal } from "@preact/signals";

export interface Route {
  page: string;
  /** What follows the page's name: `["class"]` of `#/ontology/class`. */
  rest: string[];
  parameters: URLSearchParams;
}

const hash = signal(location.hash);
addEventListener("hashchange", () => {
  hash.value = location.hash;
});

/** Where the person is; pages read it in their render and follow it. */
export const route = computed<Route>(() => parse(hash.value));

/** The parts of a hash; an empty one is the query page. */
export function parse(text: string): Route {
  const [path = "", search = ""] = splitOnce(text.replace(/^#\/?/, ""), "?");
  const [page = "", ...rest] = path.split("/").map(decoded);
  return {
    page: page || "query",
    rest: rest.filter((part) => part !== ""),
    parameters: new URLSearchParams(search),
  };
}

/** The address of a place: `href("resource", { term: "<http://...>" })`. */
export function href(path: string, parameters: Record<string, string | undefined> = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) search.set(name, value);
  }
  const text = search.toString();
  return `#/${path}${text && `?${text}`}`;
}

/** Go to a place; with `replace` the way back skips the present one. */
export function go(
  path: string,
  parameters: Record<string, string | undefined> = {},
  replace = false,
): void {
  const target = href(path, parameters);
  if (replace) {
    history.replaceState(null, "", target);
    hash.value = target;
  } else {
    location.hash = target;
  }
}

function splitOnce(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

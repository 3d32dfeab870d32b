/** The resources that were looked at last, kept in the browser. */

import type { Term } from "../../api/types";
import { keep, kept } from "../../logic/kept";
import { named, ntriples, shown } from "../../logic/terms";
import { session } from "../../state";

export interface Recent {
  term: string;
  name: string;
  short: string;
}

const MOST = 12;

function place(): string {
  return `recent.${session.value?.store ?? ""}`;
}

export function recent(): Recent[] {
  return kept<Recent[]>(place(), []);
}

/** Put a resource at the head of the list. */
export function remember(term: Term): void {
  const own: Recent = { term: ntriples(term), name: named(term), short: shown(term) };
  const others = recent().filter((each) => each.term !== own.term);
  keep(place(), [own, ...others].slice(0, MOST));
}

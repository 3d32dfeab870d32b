/** The rows of a query that follows the store, kept up to date by what came and went. */

import type { Term } from "../api/types";
import { ntriples } from "./terms";

export type Row = (Term | null)[];

/** What a server-sent event of `/subscribe` says. */
export interface RowsEvent {
  commit: number;
  vars?: string[];
  added: (Row | Record<string, Term>)[];
  removed: (Row | Record<string, Term>)[];
}

export interface FollowedRow {
  key: string;
  row: Row;
  /** The commit that brought it. */
  since: number;
}

export interface Followed {
  vars: string[];
  rows: FollowedRow[];
  commit: number;
  added: number;
  removed: number;
}

export const NOTHING: Followed = { vars: [], rows: [], commit: 0, added: 0, removed: 0 };

/** The rows after an event: removed ones go once each, added ones come first. */
export function followed(before: Followed, event: RowsEvent): Followed {
  const vars = event.vars ?? (before.vars.length > 0 ? before.vars : namesOf(event));
  const gone = new Map<string, number>();
  for (const row of event.removed) {
    const key = keyOf(rowOf(row, vars));
    gone.set(key, (gone.get(key) ?? 0) + 1);
  }
  const kept = before.rows.filter(({ key }) => {
    const left = gone.get(key) ?? 0;
    if (left > 0) gone.set(key, left - 1);
    return left === 0;
  });
  const come = event.added.map((each) => {
    const row = rowOf(each, vars);
    return { key: keyOf(row), row, since: event.commit };
  });
  return {
    vars,
    rows: [...come, ...kept],
    commit: event.commit,
    added: event.added.length,
    removed: event.removed.length,
  };
}

function rowOf(row: Row | Record<string, Term>, vars: string[]): Row {
  return Array.isArray(row) ? row : vars.map((name) => row[name] ?? null);
}

function namesOf(event: RowsEvent): string[] {
  const first = event.added[0] ?? event.removed[0];
  if (!first) return [];
  return Array.isArray(first) ? first.map((_, index) => `column ${index + 1}`) : Object.keys(first);
}

function keyOf(row: Row): string {
  return row.map((term) => (term ? ntriples(term) : "")).join("\t");
}

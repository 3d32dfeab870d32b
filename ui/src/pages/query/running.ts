/** Queries on their way: one per tab. Start at `run` and `stop`. */

import { signal } from "@preact/signals";
import { ApiError, isAbort, runQuery, stopQuery } from "../../api/client";
import type { Facts, QueryAnswer, QueryRequest } from "../../api/types";
import type { Problem } from "../../editor/editor";
import { options, remember, type QueryTab } from "./tabs";

/** What a tab shows below its editor. */
export interface Outcome {
  /** The text and facts that were asked, which may differ from the editor's by now. */
  text: string;
  facts: Facts;
  answer: QueryAnswer | null;
  error: unknown;
  /** Set while the answer is awaited. */
  running: { id: string; since: number; stop: AbortController } | null;
  /** Counts the answers, so that views know of a new one. */
  turn: number;
}

/** The outcomes by tab. */
export const outcomes = signal<Record<string, Outcome>>({});

let turns = 0;
const NONE: Problem[] = [];

function set(tab: string, change: Partial<Outcome>): void {
  const none = { text: "", facts: "all", answer: null, error: null, running: null, turn: 0 };
  const before = outcomes.value[tab] ?? (none as Outcome);
  outcomes.value = { ...outcomes.value, [tab]: { ...before, ...change } };
}

/** Ask the query of a tab; an earlier one that still runs is stopped. */
export async function run(tab: QueryTab): Promise<void> {
  stop(tab.id);
  const asked = { text: tab.text, facts: options.value.facts };
  try {
    const answer = await awaited(tab.id, asked, 0);
    if (!answer) return;
    remember({ ...asked, when: Date.now(), seconds: answer.seconds, rows: sizeOf(answer) });
    set(tab.id, { ...asked, answer, error: null, running: null, turn: ++turns });
  } catch (error) {
    const stopped = isAbort(error);
    const shown = stopped ? new ApiError(0, { message: "The query was stopped." }) : error;
    if (!stopped) remember({ ...asked, when: Date.now(), failed: true });
    set(tab.id, { ...asked, answer: null, error: shown, running: null, turn: ++turns });
  }
}

/** Ask for the rows that follow those shown. */
export async function runFurther(tab: string): Promise<void> {
  const outcome = outcomes.value[tab];
  if (!outcome?.answer || outcome.running) return;
  try {
    const next = await awaited(tab, outcome, sizeOf(outcome.answer));
    if (!next) return;
    set(tab, { answer: joined(outcome.answer, next), running: null, turn: ++turns });
  } catch (error) {
    set(tab, { running: null, ...(isAbort(error) ? {} : { error }) });
  }
}

/** The answer, or null if another query of the tab began meanwhile. */
async function awaited(
  tab: string,
  asked: { text: string; facts: Facts },
  offset: number,
): Promise<QueryAnswer | null> {
  const running = { id: queryId(), since: performance.now(), stop: new AbortController() };
  set(tab, { running, error: null });
  const isCurrent = (): boolean => outcomes.value[tab]?.running?.id === running.id;
  try {
    const answer = await runQuery(requestOf(asked, running.id, offset), running.stop.signal);
    return isCurrent() ? answer : null;
  } catch (error) {
    if (isCurrent()) throw error;
    return null;
  }
}

function requestOf(
  asked: { text: string; facts: Facts },
  id: string,
  offset: number,
): QueryRequest {
  const { timeout, budget, limit, marked } = options.value;
  return {
    query: asked.text,
    facts: asked.facts,
    id,
    limit,
    ...(offset > 0 ? { offset } : {}),
    ...(marked && asked.facts === "all" ? { marked } : {}),
    ...(timeout === null ? {} : { timeout }),
    ...(budget === null ? {} : { budget: budget * 1e6 }),
  };
}

function joined(before: QueryAnswer, later: QueryAnswer): QueryAnswer {
  const first = before.first_commit ?? before.commit;
  const next = first === later.commit ? later : { ...later, first_commit: first };
  if (before.kind === "rows" && next.kind === "rows") {
    const marks = before.inferred && next.inferred;
    return {
      ...next,
      rows: [...before.rows, ...next.rows],
      inferred: marks ? [...before.inferred!, ...next.inferred!] : null,
    };
  }
  if (before.kind === "triples" && next.kind === "triples") {
    return { ...next, triples: [...before.triples, ...next.triples] };
  }
  return next;
}

/** Stop the query of a tab, here and in the server. */
export function stop(tab: string): void {
  const running = outcomes.value[tab]?.running;
  if (!running) return;
  void stopQuery(running.id).catch(() => undefined); // it may have ended by now
  running.stop.abort();
}

/** The outcome of a tab that was closed is of no use. */
export function forget(tab: string): void {
  stop(tab);
  const { [tab]: _, ...rest } = outcomes.value;
  outcomes.value = rest;
}

/** The number of rows or triples of an answer. */
export function sizeOf(answer: QueryAnswer): number {
  if (answer.kind === "rows") return answer.rows.length;
  return answer.kind === "triples" ? answer.triples.length : 1;
}

/** The place of an error in the query, for the editor. */
export function problemsOf(outcome: Outcome | undefined, text: string): Problem[] {
  const error = outcome?.error;
  if (!(error instanceof ApiError) || !error.line || outcome!.text !== text) return NONE;
  return [{ line: error.line, column: error.column ?? 1, message: error.message }];
}

function queryId(): string {
  const random = crypto.getRandomValues(new Uint8Array(9));
  return [...random].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Resources and proofs: calls of `/api/resource`, `/api/why` and `/api/why-not`. */

import { get } from "./client";
import type { Term } from "./types";

export type Direction = "out" | "in";

/** A term with its mark, and the named graphs it stands in. */
export interface Value {
  term: Term;
  inferred: boolean;
  graphs?: Term[];
}

/** A term with its mark beside it. */
export type MarkedTerm = Term & { inferred: boolean };

/** The values of one property, from `offset` on. */
export interface Values {
  property: Term;
  count: number;
  asserted: number;
  values: Value[];
  offset: number;
  more: boolean;
}

export interface About {
  term: Term;
  known: boolean;
  labels: MarkedTerm[];
  types: Value[];
  equal: MarkedTerm[];
  comment: Term | null;
  out: Values[];
  in: Values[];
  more_out: number;
  more_in: number;
}

export type Fact = [Term, Term, Term];

export interface RuleData {
  id: string;
  kind: "rule" | "constraint";
  label: string;
  text: string;
  source: string | null;
  axioms?: Fact[];
}

/** A fact of a proof, and what it follows from. */
export interface Node {
  id?: number;
  fact: Fact | null;
  text: string;
  relation?: Term;
  args?: Term[];
  asserted: boolean;
  rule?: RuleData;
  values?: Record<string, Term>;
  because?: Node[];
  conditions?: Condition[];
  /** The node that has the same fact and its proof. */
  shared?: number;
  /** The proof is cut off here. */
  more?: boolean;
}

export interface Condition {
  kind: string;
  text: string;
  value?: Term;
  count?: number;
  results?: Term[];
}

export interface GraphOfProof {
  nodes: { id: number; fact: Fact | null; text: string; asserted: boolean; rule: string | null }[];
  edges: { from: number; to: number }[];
}

/** The proof of a fact that holds. `text` is the whole proof as text. */
export interface Held extends Node {
  holds: true;
  height: number;
  steps: number;
  least: boolean;
  graph: GraphOfProof;
}

export interface Item {
  text: string;
  fact?: Fact;
}

/** A rule that could have concluded the fact, and what it lacks. */
export interface Attempt {
  rule: RuleData;
  values: Record<string, Term>;
  matched: Item[];
  ways: number;
  missing: Item & { explanation: string };
  in_the_way: Item[];
  left: Item[];
  exact: boolean;
}

export interface NotHeld {
  holds: false;
  text: string;
  rules: number;
  outside: string[];
  fact?: Fact;
  reasons: Attempt[];
}

export type Why = Held | NotHeld;

export const about = (term: string, limit: number, signal?: AbortSignal): Promise<About> =>
  get("api/resource", { term, limit }, signal);

export const values = (
  term: string,
  property: string,
  direction: Direction,
  offset: number,
  limit: number,
  signal?: AbortSignal,
): Promise<Values> =>
  get("api/resource/values", { term, property, direction, offset, limit }, signal);

/** The proof of a fact; its terms as N-Triples or with prefixes of the store. */
export const why = (s: string, p: string, o: string, signal?: AbortSignal): Promise<Why> =>
  get("api/why", { s, p, o }, signal);

/** The proof of a violation by its number in the report, and its text there. */
export const whyViolation = (
  violation: number,
  text: string,
  signal?: AbortSignal,
): Promise<Why> => get("api/why", { violation, text }, signal);

export const whyNot = (s: string, p: string, o: string, signal?: AbortSignal): Promise<NotHeld | { holds: true }> =>
  get("api/why-not", { s, p, o }, signal);

/** What the JSON API of the page answers: the shapes of `/api/...`. */

/** A term as in SPARQL JSON results, with what the page shows of it. */
export interface Term {
  type: "uri" | "literal" | "bnode" | "triple" | "typed-literal";
  value: string | TripleValue;
  "xml:lang"?: string;
  datatype?: string;
  label?: string;
  short?: string;
}

export interface TripleValue {
  subject: Term;
  predicate: Term;
  object: Term;
}

export type Facts = "all" | "explicit" | "inferred";

export interface Session {
  user: string | null;
  /** Null for who has to log in first. */
  role: "read" | "write" | "admin" | null;
  update: boolean;
  /** The name of the served store; null where it has none, or several are served elsewhere. */
  store: string | null;
  stores: string[];
  version: string;
  login: boolean;
}

export interface StoreFacts {
  commit: number;
  quads: { asserted: number; inferred: number };
  graphs: { name: Term | null; count: number }[];
  terms: number;
  bytes_on_disk: number | null;
  memory: number | null;
  prefixes: Record<string, string>;
  regimes: string[];
  rules: number;
  violations: number;
  /** The last commits, the newest first. */
  commits: CommitFacts[];
}

export interface CommitFacts {
  commit: number;
  /** Seconds since 1970. */
  time?: number;
  /** The counts are missing for commits of other processes, and before the server began. */
  added?: number;
  removed?: number;
  inferred_added?: number;
  inferred_removed?: number;
}

export interface QueryRequest {
  query: string;
  facts: Facts;
  timeout?: number;
  budget?: number;
  id?: string;
  limit?: number;
  offset?: number;
  /** Whether rows that need inferred facts are marked. */
  marked?: boolean;
}

interface Answered {
  seconds: number;
  commit: number;
  /** The commit of the first rows, if the store changed before the last ones were read. */
  first_commit?: number;
  advice?: string[];
}

export interface RowsAnswer extends Answered {
  kind: "rows";
  vars: string[];
  rows: (Term | null)[][];
  more: boolean;
  /** Rows that need inferred facts; null where that is not known. */
  inferred?: boolean[] | null;
}

export interface BooleanAnswer extends Answered {
  kind: "boolean";
  value: boolean;
}

export type TripleRow = [Term, Term, Term, boolean];

export interface TriplesAnswer extends Answered {
  kind: "triples";
  triples: TripleRow[];
  /** All triples of the answer, those of other pages included. */
  count?: number;
  more: boolean;
}

export type QueryAnswer = RowsAnswer | BooleanAnswer | TriplesAnswer;

export interface PlanNode {
  label: string;
  detail?: string;
  rows?: number | null;
  estimated?: number | null;
  seconds?: number | null;
  children: PlanNode[];
}

export interface RunningQuery {
  id: string;
  text: string;
  seconds: number;
  user: string | null;
  rows?: number;
}

export interface Completion {
  insert: string;
  label: string;
  detail?: string;
  kind: "prefix" | "class" | "property" | "individual" | "variable" | "keyword" | "function";
  count?: number;
}

export interface Completions {
  from: number;
  to: number;
  items: Completion[];
}

export type SearchKind = "any" | "class" | "property" | "individual" | "concept";

export interface Found {
  term: Term;
  label?: string;
  short?: string;
  kind: string;
  count: number;
}

export interface PropertyValue {
  term: Term;
  inferred: boolean;
  graphs?: Term[];
}

export interface PropertyValues {
  property: Term;
  count: number;
  values: PropertyValue[];
  more: boolean;
}

export interface Resource {
  term: Term;
  labels: Term[];
  types: PropertyValue[] | Term[];
  equal: Term[];
  out: PropertyValues[];
  in: PropertyValues[];
  comment?: string | Term;
}

export interface ProofNode {
  fact: [Term, Term, Term] | Term[];
  asserted: boolean;
  rule?: { id: string; text: string; label?: string };
  because: ProofNode[];
  shared?: string | number;
}

export interface Proof extends ProofNode {
  graph?: { nodes: unknown[]; edges: unknown[] };
}

export interface TreeItem {
  term: Term;
  label?: string;
  short?: string;
  children: number;
  asserted: number;
  inferred: number;
}

/** An error of the API: what is wrong, where in the text, and what to do. */
export interface ErrorBody {
  message: string;
  line?: number;
  column?: number;
  hint?: string;
}

/** Trees of classes, properties and concepts, and the reasoning report. */

import { get, post } from "./client";
import type { Fact } from "./resource";
import type { Term } from "./types";

export type TreeKind = "class" | "property" | "concept";

export interface TreeItem {
  term: Term;
  /** How many it has below it. */
  children: number;
  asserted: number;
  inferred: number;
  /** Other terms that are the same class, property or concept. */
  equal?: Term[];
}

export interface TreePart {
  items: TreeItem[];
  more: boolean;
}

/** A page of the children of a term; without a term, of the roots. */
export async function children(
  kind: TreeKind,
  parent: string | undefined,
  offset: number,
  limit: number,
): Promise<TreePart> {
  const items = await get<TreeItem[]>("api/tree", { kind, parent, offset, limit });
  return { items, more: items.length === limit };
}

/** The terms from a root to a term, which comes last; empty if it is not in the tree. */
export const pathTo = (
  kind: TreeKind,
  term: string,
  signal?: AbortSignal,
): Promise<TreeItem[]> => get("api/tree/path", { kind, term }, signal);

export interface ViolationData {
  constraint: string;
  message: string;
  bindings: Record<string, Term>;
  axioms: Fact[];
  text: string;
  /** Its place in the report, by which its proof is asked for. */
  number?: number;
}

export interface RuleEntry {
  id: string;
  kind: "rule" | "constraint";
  count: number;
  text: string | null;
  user: boolean;
  inferred?: number;
}

export interface Report {
  regimes: string[];
  explicit: number;
  inferred: number;
  rules: RuleEntry[];
  rule_count: number;
  constraint_count: number;
  violations: {
    total: number;
    by_constraint: Record<string, number>;
    offset: number;
    items: ViolationData[];
  };
  outside: string[];
  outside_count?: number;
  outside_reasons: Record<string, number | string>;
  warnings: string[];
  axioms?: number;
  problems?: string[];
  unresolved?: string[];
}

export const report = (counts: boolean, offset: number, signal?: AbortSignal): Promise<Report> =>
  get("api/report", { counts, offset }, signal);

export interface RuleProblem {
  line: number;
  column: number;
  code: string;
  message: string;
  hint: string | null;
  warning: boolean;
}

export interface UserRules {
  text: string;
  items: { id: string; kind: string; text: string; source: string | null }[];
  regimes: string[];
}

export const userRules = (signal?: AbortSignal): Promise<UserRules> =>
  get("api/rules", undefined, signal);

export const checkRules = (
  text: string,
  signal?: AbortSignal,
): Promise<{ problems: RuleProblem[] }> => post("api/rules/check", { text }, signal);

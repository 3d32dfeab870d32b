/** Changes with a preview: calls of `/api/preview`, `/api/commit` and `/api/rules`. */

import { post, put } from "./client";
import type { ViolationData } from "./ontology";
import type { Fact } from "./resource";
import type { Term } from "./types";

export interface DocumentText {
  name: string;
  format?: string;
  graph?: string;
  text: string;
}

/** One of: an update, documents, a text of rules. */
export type ChangeRequest = { update: string } | { documents: DocumentText[] } | { rules: string };

/** How quads change: written by the change itself, or inferred from it. */
export type ChangeKind = "added" | "removed" | "inferred_added" | "inferred_removed";

export interface Group extends Record<ChangeKind, number> {
  kind: "class" | "property";
  term: Term;
  examples: Partial<Record<ChangeKind, Fact[]>>;
}

export interface Preview extends Record<ChangeKind, number> {
  id: string;
  /** The commit that the preview has seen. */
  commit: number;
  still_entailed: number;
  rows_added: number;
  rows_removed: number;
  groups: Group[];
  more_groups: number;
  violations: {
    new: ViolationData[];
    resolved: ViolationData[];
    new_count: number;
    resolved_count: number;
  };
  seconds: number;
}

export interface Change {
  commit: number;
  text: string;
  problems: string[];
}

export const preview = (change: ChangeRequest, signal?: AbortSignal): Promise<Preview> =>
  post("api/preview", change, signal);

export const commit = (change: ChangeRequest, expected_commit: number): Promise<Change> =>
  post("api/commit", { ...change, expected_commit });

export const dryRun = (text: string, signal?: AbortSignal): Promise<Preview> =>
  post("api/rules/dry-run", { text }, signal);

export const putRules = (text: string, expected_commit: number): Promise<Change> =>
  put("api/rules", { text, expected_commit });

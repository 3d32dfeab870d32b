/** Changes with a preview: calls of `/api/preview`, `/api/commit` and `/api/rules`. */

import { ApiError, post, put } from "./client";
import type { ViolationData } from "./ontology";
import type { Fact, Why } from "./resource";
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
  /** The store is strict and would refuse the change. */
  refused?: boolean;
  /** The proofs of the first new violations, if they were asked for. */
  proofs?: Why[];
  seconds: number;
}

export interface Change {
  commit: number;
  text: string;
  problems: string[];
}

export const preview = (
  change: ChangeRequest,
  signal?: AbortSignal,
  proofs = 0,
): Promise<Preview> => post("api/preview", { ...change, proofs }, signal);

/** The proof of a violation that a change would bring, by its place among the new ones. */
export async function whyNew(
  change: ChangeRequest,
  place: number,
  signal?: AbortSignal,
): Promise<Why> {
  const found = await preview(change, signal, place + 1);
  const proof = found.proofs?.[place];
  if (proof) return proof;
  throw new ApiError(409, { message: "The store has changed since the preview: preview again." });
}

export const commit = (change: ChangeRequest, expected_commit: number): Promise<Change> =>
  post("api/commit", { ...change, expected_commit });

export const dryRun = (text: string, signal?: AbortSignal): Promise<Preview> =>
  post("api/rules/dry-run", { text }, signal);

export const putRules = (text: string, expected_commit: number): Promise<Change> =>
  put("api/rules", { text, expected_commit });

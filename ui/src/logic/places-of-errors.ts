/** Errors of the server as problems at their place in a text. */

import { ApiError } from "../api/client";

const NONE: { line: number; column: number; message: string }[] = [];

/** The problem that an error tells of; none for errors without a place. */
export function problemsOf(error: unknown): { line: number; column: number; message: string }[] {
  if (!(error instanceof ApiError) || !error.line) return NONE;
  return [{ line: error.line, column: error.column ?? 1, message: error.message }];
}

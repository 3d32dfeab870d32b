/** The order of terms in columns: numbers by value, texts by letters, nothing last. */

import type { Term } from "../api/types";
import { isNumber, shown } from "./terms";

const LETTERS = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** Negative, zero or positive, as Array.sort wants it. */
export function compareTerms(left: Term | null, right: Term | null): number {
  if (!left || !right) return left ? -1 : right ? 1 : 0;
  if (isNumber(left) && isNumber(right)) {
    return Number(left.value as string) - Number(right.value as string);
  }
  return LETTERS.compare(shown(left), shown(right));
}

/** The positions of rows in the order of one column; equal rows keep their order. */
export function sortedPositions(
  column: (Term | null)[],
  direction: "ascending" | "descending",
): number[] {
  const sign = direction === "ascending" ? 1 : -1;
  return column
    .map((_, position) => position)
    .sort((left, right) => {
      const a = column[left] ?? null;
      const b = column[right] ?? null;
      if (!a || !b) return compareTerms(a, b); // nothing is last in both directions
      return sign * compareTerms(a, b);
    });
}

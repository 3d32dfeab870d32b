import { expect, test } from "vitest";
import type { Term } from "../src/api/types";
import { sortedPositions } from "../src/logic/ordering";

const number = (value: string): Term => ({
  type: "literal",
  value,
  datatype: "http://www.w3.org/2001/XMLSchema#integer",
});

test("numbers are sorted by value, and rows without a value are last in both directions", () => {
  const column = [number("10"), null, number("9"), number("-1")];
  expect(sortedPositions(column, "ascending")).toEqual([3, 2, 0, 1]);
  expect(sortedPositions(column, "descending")).toEqual([0, 2, 3, 1]);
});

test("texts are sorted by letters, with numbers in them by value", () => {
  const column = ["line 10", "Line 9", "area"].map((value): Term => ({ type: "literal", value }));
  expect(sortedPositions(column, "ascending")).toEqual([2, 1, 0]);
});

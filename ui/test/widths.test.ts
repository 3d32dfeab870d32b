import { expect, test } from "vitest";
import { fitted, spread, wishOf } from "../src/logic/widths";

test("columns get what they wish where there is room", () => {
  expect(fitted([100, 200], 1000)).toEqual([100, 200]);
});

test("what is left goes to columns that wish for more", () => {
  expect(fitted([100, 500], 560)).toEqual([100, 460]);
  expect(fitted([100, 500], 2000)).toEqual([100, 500]);
});

test("without room columns keep readable widths and the table scrolls", () => {
  expect(fitted([20, 900], 100)).toEqual([72, 380]);
});

test("one long text among many does not make the column wide", () => {
  const texts = Array.from({ length: 99 }, () => "abc");
  expect(wishOf([...texts, "x".repeat(500)], "o")).toBeLessThan(150);
  expect(wishOf([...texts, "x".repeat(12)], "o")).toBe(wishOf(["x".repeat(12)], "o"));
});

test("samples are spread over the whole", () => {
  expect(spread(3)).toEqual([0, 1, 2]);
  expect(spread(600, 3)).toEqual([0, 200, 400]);
});

import { expect, test } from "vitest";
import { windowOf } from "../src/logic/window";

test("only the rows in view and some around them are drawn", () => {
  const drawn = windowOf(10_000, 28, 28 * 5000, 560);
  expect(drawn.first).toBe(4988);
  expect(drawn.end).toBe(5032);
  expect(drawn.before + (drawn.end - drawn.first) * 28 + drawn.after).toBe(280_000);
});

test("short tables are drawn whole", () => {
  expect(windowOf(3, 28, 0, 600)).toEqual({ first: 0, end: 3, before: 0, after: 0 });
  expect(windowOf(0, 28, 0, 600)).toEqual({ first: 0, end: 0, before: 0, after: 0 });
});

test("a scroll position behind the end of a shortened table draws nothing wrong", () => {
  const drawn = windowOf(2, 28, 10_000, 600);
  expect(drawn.first).toBeLessThanOrEqual(drawn.end);
  expect(drawn.after).toBe(0);
});

test("tables are never taller than browsers draw", () => {
  const drawn = windowOf(10_000_000, 28, 0, 600);
  expect(drawn.end * 28 + drawn.after).toBeLessThanOrEqual(15_000_000);
});

import { expect, test } from "vitest";
import { charactersBefore, spanAt, unitAt } from "../src/logic/places";

test("characters outside of the basic plane count once for the server", () => {
  const text = "a😀b";
  expect(charactersBefore(text, 3)).toBe(2);
  expect(unitAt(text, 2)).toBe(3);
  expect(unitAt(text, 99)).toBe(4);
});

test("a problem underlines the token at its column", () => {
  expect(spanAt("  ?x ex:name 1", 6)).toEqual({ from: 5, to: 12 });
  expect(spanAt("a <http://e/> b", 3)).toEqual({ from: 2, to: 13 });
  expect(spanAt("abc", 9)).toEqual({ from: 3, to: 3 });
});

import { expect, test } from "vitest";
import type { Term } from "../src/api/types";
import { numberOf, numericColumns, roundStep, scaleOf, tickText } from "../src/logic/charting";

const XSD = "http://www.w3.org/2001/XMLSchema#";
const number = (value: string): Term => ({ type: "literal", value, datatype: `${XSD}decimal` });

test("numbers and dates have a place on an axis, other terms have none", () => {
  expect(numberOf(number("1.5"))).toBe(1.5);
  expect(numberOf({ type: "literal", value: "1970-01-02", datatype: `${XSD}date` })).toBe(86_400_000);
  expect(numberOf({ type: "literal", value: "7" })).toBeNull();
  expect(numberOf({ type: "uri", value: "http://e/7" })).toBeNull();
  expect(numberOf(number("INF"))).toBeNull();
});

test("columns with mostly numbers are offered for the height", () => {
  const name: Term = { type: "literal", value: "a" };
  expect(numericColumns([[name, number("1")], [name, null], [name, number("2")]], 2)).toEqual([1]);
  expect(numericColumns([], 2)).toEqual([]);
});

test("scales begin and end at round numbers around all values", () => {
  expect(scaleOf([3, 97], true).ticks).toEqual([0, 20, 40, 60, 80, 100]);
  expect(scaleOf([-3, 4], true).ticks).toEqual([-4, -2, 0, 2, 4]);
  expect(scaleOf([5], false)).toMatchObject({ least: 4, most: 6 });
  expect(scaleOf([], true)).toMatchObject({ least: 0, most: 1 });
});

test("steps are 1, 2 or 5 times a power of ten", () => {
  expect([0.3, 1, 1.1, 4, 70].map(roundStep)).toEqual([0.5, 1, 2, 5, 100]);
});

test("ticks are short", () => {
  expect(tickText(1_200_000, false, 1)).toBe("1.2M");
  expect(tickText(15_000, false, 1)).toBe("15k");
  expect(tickText(0.1 + 0.2, false, 1)).toBe("0.3");
  expect(tickText(Date.UTC(2020, 4, 1), true, 1e12)).toBe("2020");
});

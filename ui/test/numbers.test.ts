import { expect, test } from "vitest";
import { bytes, counted, seconds } from "../src/logic/numbers";

test("counts have groups and the right noun", () => {
  expect(counted(12345, "row")).toBe("12,345 rows");
  expect(counted(1, "row")).toBe("1 row");
  expect(counted(2, "entry", "entries")).toBe("2 entries");
});

test("times have the unit that fits", () => {
  expect([0.0000123, 0.0034, 0.25, 1.234, 12.3, 185].map(seconds)).toEqual([
    "12 µs", "3.4 ms", "250 ms", "1.23 s", "12.3 s", "3 min 5 s",
  ]);
});

test("sizes have the unit that fits", () => {
  expect([640, 12_345, 4_500_000, 999_600].map(bytes)).toEqual(["640 B", "12.3 kB", "4.5 MB", "1.0 MB"]);
});

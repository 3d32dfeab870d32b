import { expect, test } from "vitest";
import type { Term } from "../src/api/types";
import { followed, NOTHING, type Row } from "../src/logic/following";

const row = (value: string): Row => [{ type: "uri", value } satisfies Term];
const values = (state: { rows: { row: Row }[] }) => state.rows.map((each) => each.row[0]?.value);

test("rows come and go with commits, and new ones are first", () => {
  const first = followed(NOTHING, { commit: 1, vars: ["x"], added: [row("a"), row("b")], removed: [] });
  const second = followed(first, { commit: 2, added: [row("c")], removed: [row("a")] });
  expect(values(second)).toEqual(["c", "b"]);
  expect(second).toMatchObject({ commit: 2, added: 1, removed: 1, vars: ["x"] });
  expect(second.rows[0]!.since).toBe(2);
});

test("of equal rows only as many go as were removed", () => {
  const first = followed(NOTHING, { commit: 1, added: [row("a"), row("a"), row("a")], removed: [] });
  expect(values(followed(first, { commit: 2, added: [], removed: [row("a"), row("a")] }))).toEqual(["a"]);
});

test("rows by name of variable are put in the order of the variables", () => {
  const a: Term = { type: "uri", value: "a" };
  const state = followed(NOTHING, { commit: 1, vars: ["x", "y"], added: [{ y: a }], removed: [] });
  expect(state.rows[0]!.row).toEqual([null, a]);
});

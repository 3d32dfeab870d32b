import { expect, test } from "vitest";
import { commitCounts } from "../src/logic/store-figures";

test("a commit says what came and went, inferred facts marked", () => {
  const counts = { added: 1200, removed: 0, inferred_added: 3, inferred_removed: 2 };
  const made = commitCounts({ commit: 5, ...counts });
  expect(made.map((one) => one.text)).toEqual(["+1,200", "◆ +3", "◆ −2"]);
  expect(made.map((one) => one.inferred)).toEqual([false, true, true]);
});

test("a commit without facts and one without counts say so", () => {
  const none = { added: 0, removed: 0, inferred_added: 0, inferred_removed: 0 };
  expect(commitCounts({ commit: 5, ...none })[0]?.text).toBe("no facts");
  expect(commitCounts({ commit: 5 })[0]?.text).toBe("not counted");
});

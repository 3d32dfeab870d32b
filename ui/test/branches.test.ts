import { describe, expect, it } from "vitest";
import { addChildren, keysTo, pathOf, rootBranch, rowsOf } from "../src/logic/branches";

const key = (item: string) => item;

function shown(root: ReturnType<typeof rootBranch<string>>): string[] {
  return rowsOf(root).map((row) =>
    row.rest ? `rest of ${row.branch.key || "roots"}` : "  ".repeat(row.branch.level) + row.branch.key,
  );
}

describe("rows of a tree", () => {
  it("shows only what is unfolded, each branch below its parent", () => {
    const root = rootBranch<string>();
    const [a, b] = addChildren(root, ["a", "b"], false, key);
    addChildren(a!, ["a1", "a2"], false, key);
    addChildren(b!, ["b1"], false, key);
    expect(shown(root)).toEqual(["a", "b"]);
    a!.open = true;
    expect(shown(root)).toEqual(["a", "  a1", "  a2", "b"]);
  });

  it("has a row for children that were not loaded, behind the loaded ones", () => {
    const root = rootBranch<string>();
    const [a] = addChildren(root, ["a"], true, key);
    a!.open = true;
    addChildren(a!, ["a1"], true, key);
    expect(shown(root)).toEqual(["a", "  a1", "rest of a", "rest of roots"]);
  });

  it("has a row for an error, to try again", () => {
    const root = rootBranch<string>();
    root.children = [];
    root.error = "no answer";
    expect(rowsOf(root)).toEqual([{ branch: root, rest: true, place: 0 }]);
  });

  it("does not list an item twice that a later page has again", () => {
    const root = rootBranch<string>();
    addChildren(root, ["far"], true, key);
    addChildren(root, ["a", "far"], false, key);
    expect(shown(root)).toEqual(["far", "a"]);
  });

  it("numbers the places among siblings from 1", () => {
    const root = rootBranch<string>();
    addChildren(root, ["a", "b", "c"], false, key);
    expect(rowsOf(root).map((row) => row.place)).toEqual([1, 2, 3]);
  });

  it("copes with 100,000 siblings and with deep trees", () => {
    const root = rootBranch<number>();
    addChildren(root, Array.from({ length: 100_000 }, (_, at) => at), false, String);
    expect(rowsOf(root)).toHaveLength(100_000);
    let branch = root;
    for (let level = 0; level < 20_000; level += 1) {
      branch.open = true;
      branch = addChildren(branch, [-1 - level], false, String)[0]!;
    }
    expect(rowsOf(root)).toHaveLength(120_000);
  });
});

describe("paths", () => {
  it("lead from a root to a branch, so equal items at two places differ", () => {
    const root = rootBranch<string>();
    const [a, b] = addChildren(root, ["a", "b"], false, key);
    const [underA] = addChildren(a!, ["x"], false, key);
    const [underB] = addChildren(b!, ["x"], false, key);
    expect(keysTo(underA!)).toEqual(["a", "x"]);
    expect(pathOf(underA!)).not.toBe(pathOf(underB!));
  });
});

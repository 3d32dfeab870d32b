import { describe, expect, it } from "vitest";
import { ApiError } from "../src/api/client";
import type { Group, Preview } from "../src/api/change";
import { problemsOf } from "../src/logic/places-of-errors";
import { changesOf, formatOf, isEmpty, previewText } from "../src/logic/preview";

function preview(change: Partial<Preview> = {}): Preview {
  return {
    id: "x",
    commit: 1,
    added: 0,
    removed: 0,
    inferred_added: 0,
    inferred_removed: 0,
    still_entailed: 0,
    rows_added: 0,
    rows_removed: 0,
    groups: [],
    more_groups: 0,
    violations: { new: [], resolved: [], new_count: 0, resolved_count: 0 },
    seconds: 0.1,
    ...change,
  };
}

describe("a preview in words", () => {
  it("says that nothing changes", () => {
    expect(isEmpty(preview())).toBe(true);
    expect(previewText(preview())).toBe("This changes nothing.");
  });

  it("names each kind of change once", () => {
    const violations = { new: [], resolved: [], new_count: 1, resolved_count: 2 };
    const found = preview({ added: 1, removed: 2, inferred_added: 1234, violations });
    expect(previewText(found)).toBe(
      "1 fact added, 2 facts removed, 1,234 newly inferred, 1 new violation, 2 resolved violations.",
    );
  });

  it("is not empty when only tuples of rules or violations change", () => {
    expect(isEmpty(preview({ rows_added: 1 }))).toBe(false);
    expect(previewText(preview({ rows_added: 1 }))).toBe("Only tuples of rules change.");
    const violations = { new: [], resolved: [], new_count: 0, resolved_count: 1 };
    expect(isEmpty(preview({ violations }))).toBe(false);
  });

  it("adds up the changes of a group", () => {
    const group = { added: 1, removed: 2, inferred_added: 3, inferred_removed: 4 } as Group;
    expect(changesOf(group)).toBe(10);
  });
});

describe("formats of files", () => {
  it.each([
    ["city.ttl", "ttl"],
    ["City.TTL", "ttl"],
    ["network.nt.gz", "nt"],
    ["a.b.trig", "trig"],
    ["onto.owl", "rdf"],
    ["data.json", "jsonld"],
    ["notes.txt", ""],
    ["nothing", ""],
    ["gz", ""],
  ])("%s is %s", (name, format) => expect(formatOf(name)).toBe(format));
});

describe("errors at their place", () => {
  it("are problems of the editor; those without a place are not", () => {
    const error = new ApiError(400, { message: "expected }", line: 2, column: 5 });
    expect(problemsOf(error)).toEqual([{ line: 2, column: 5, message: "expected }" }]);
    expect(problemsOf(new ApiError(400, { message: "no" }))).toEqual([]);
    expect(problemsOf(new Error("x"))).toEqual([]);
  });
});

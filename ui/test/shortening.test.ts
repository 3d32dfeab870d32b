import { describe, expect, it, test } from "vitest";
import type { JobState } from "../src/api/jobs";
import { mergedJobs, progressText } from "../src/logic/jobs";
import { byReason, partsOf, shortIri, withShort } from "../src/logic/shortening";
import { statisticsOf } from "../src/logic/store-figures";

const PREFIXES = { "": "http://e/", sub: "http://e/sub/", none: "" };

describe("texts with whole IRIs", () => {
  it("are cut into texts and IRIs with short names", () => {
    expect(partsOf("SubClassOf(<http://e/A> <http://other.org/x#B>): no", PREFIXES)).toEqual([
      { text: "SubClassOf(" },
      { text: ":A", iri: "http://e/A" },
      { text: " " },
      { text: "…B", iri: "http://other.org/x#B" },
      { text: "): no" },
    ]);
  });

  it("leave comparisons alone", () => {
    expect(partsOf("FILTER(?n < 3 && ?m > 2)", PREFIXES)).toEqual([
      { text: "FILTER(?n < 3 && ?m > 2)" },
    ]);
  });

  it("use the longest prefix, and none that leaves a slash", () => {
    expect(shortIri("http://e/sub/a", PREFIXES)).toBe("sub:a");
    expect(shortIri("http://e/x/y", PREFIXES)).toBe("…y");
    expect(shortIri("http://www.w3.org/2002/07/owl#Thing", {})).toBe("owl:Thing");
  });
});

describe("what lies outside of the regimes", () => {
  it("is grouped by reason, with the count of all", () => {
    expect(byReason(["A: why", "B: why", "C"], { why: 7 })).toEqual([
      { reason: "why", count: 7, axioms: ["A", "B"] },
      { reason: "", count: 1, axioms: ["C"] },
    ]);
  });
});

describe("jobs", () => {
  const job = (id: string, state: JobState["state"]): JobState => ({
    id,
    kind: "load",
    state,
    seconds: 1,
  });

  it("are replaced by their newer state; new ones come first", () => {
    const first = mergedJobs([], job("a", "running"));
    const second = mergedJobs(first, job("b", "running"));
    const third = mergedJobs(second, job("a", "done"));
    expect(third.map((each) => `${each.id} ${each.state}`)).toEqual(["b running", "a done"]);
  });

  it("tell their progress without the bar of a terminal", () => {
    const told = { ...job("a", "running"), text: "load  [####    ]  45%  1,000 quads" };
    expect(progressText(told)).toBe("load 45% 1,000 quads");
    expect(progressText(job("a", "running"))).toBe("running …");
  });
});

describe("statistics", () => {
  it("show the known figures with their units and leave out others", () => {
    const lines = statisticsOf({ terms: 1200, fact_bytes_per_triple: 18.19, unknown: 1, named_graphs: 0 });
    expect(lines).toEqual([
      { name: "Terms", value: "1,200" },
      { name: "per triple", value: "18.2 B" },
    ]);
  });
});

test("the longest namespace gives the prefixed name", () => {
  const prefixes = { e: "http://e/", a: "http://e/a/" };
  expect(withShort({ type: "uri", value: "http://e/a/b" }, prefixes).short).toBe("a:b");
  expect(withShort({ type: "uri", value: "http://e/x/y" }, prefixes).short).toBeUndefined();
  expect(withShort({ type: "uri", value: "http://e/a", short: "q:a" }, prefixes).short).toBe("q:a");
});

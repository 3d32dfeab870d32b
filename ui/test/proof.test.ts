import { describe, expect, it } from "vitest";
import type { Fact, Held, Node } from "../src/api/resource";
import type { Term } from "../src/api/types";
import { drawnProof, factKey, factText, sizeText, typedForRequest } from "../src/logic/proof";

const TYPE: Term = {
  type: "uri",
  value: "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
  short: "rdf:type",
};
const a: Term = { type: "uri", value: "http://e/a", short: ":a", label: "An A" };
const b: Term = { type: "uri", value: "http://e/B", short: ":B" };
const p: Term = { type: "uri", value: "http://e/p", short: ":p" };
const one: Fact = [a, TYPE, b];
const two: Fact = [a, p, b];

function held(change: Partial<Held> = {}): Held {
  const because: Node[] = [{ id: 1, fact: two, text: "p", asserted: true }];
  return {
    holds: true,
    id: 0,
    fact: one,
    text: "the whole proof",
    asserted: false,
    because,
    height: 1,
    steps: 2,
    least: true,
    graph: {
      nodes: [
        { id: 0, fact: one, text: "", asserted: false, rule: "r" },
        { id: 1, fact: two, text: "", asserted: true, rule: null },
      ],
      edges: [{ from: 1, to: 0 }],
    },
    ...change,
  };
}

describe("facts as text", () => {
  it("uses labels or names, and a for rdf:type", () => {
    expect(factText(one, true)).toBe("An A a :B");
    expect(factText(two, false)).toBe(":a :p :B");
  });

  it("has a key by the whole terms, and by the text for other facts", () => {
    const fact = { fact: two, text: "", asserted: true };
    expect(factKey(fact)).toBe("<http://e/a> <http://e/p> <http://e/B>");
    expect(factKey({ fact: null, text: "r[1]", asserted: true })).toBe("r[1]");
  });
});

describe("a proof", () => {
  it("is drawn with the rule in each inferred fact, and arrows to what follows", () => {
    const drawn = drawnProof(held().graph, true);
    expect(drawn.nodes.map((node) => [node.id, node.label, node.inferred])).toEqual([
      ["0", "An A a :B\nby r", true],
      ["1", "An A :p :B", false],
    ]);
    expect(drawn.edges).toMatchObject([{ from: "1", to: "0" }]);
  });

  it("tells its size in words", () => {
    expect(sizeText(held())).toBe("Proved in 1 step from 1 asserted fact; no proof is less deep.");
    expect(sizeText(held({ steps: 4, height: 3, least: false }))).toBe(
      "Proved in 3 steps from 1 asserted fact, 3 levels deep.",
    );
    expect(sizeText(held({ asserted: true, because: [] }))).toBe("This fact was asserted.");
  });
});

describe("typed terms", () => {
  it.each([
    ["a", "property", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"],
    ["a", "object", '"a"'],
    [":Stop", "object", ":Stop"],
    ["skos:Concept", "object", "skos:Concept"],
    ["http://e/x", "object", "<http://e/x>"],
    ["<http://e/x>", "object", "<http://e/x>"],
    ['"text"@en', "object", '"text"@en'],
    ["3.5", "object", "3.5"],
    ["-2", "object", "-2"],
    ["true", "object", "true"],
    ["two words", "object", '"two words"'],
    ['say "hi" now', "object", '"say \\"hi\\" now"'],
    ["_:b1", "subject", "_:b1"],
  ] as const)("%s as %s is sent as %s", (typed, place, sent) => {
    expect(typedForRequest(typed, place)).toBe(sent);
  });
});

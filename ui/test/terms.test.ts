import { expect, test } from "vitest";
import type { Term } from "../src/api/types";
import { datatypeTag, isNumber, isWebAddress, localName, ntriples, typedTerm } from "../src/logic/terms";

const XSD = "http://www.w3.org/2001/XMLSchema#";

test("terms are written as N-Triples", () => {
  expect(ntriples({ type: "uri", value: "http://e/a" })).toBe("<http://e/a>");
  expect(ntriples({ type: "bnode", value: "b0" })).toBe("_:b0");
  expect(ntriples({ type: "literal", value: 'a "b"\n\\' })).toBe('"a \\"b\\"\\n\\\\"');
  expect(ntriples({ type: "literal", value: "rot", "xml:lang": "de" })).toBe('"rot"@de');
  expect(ntriples({ type: "literal", value: "x", datatype: `${XSD}string` })).toBe('"x"');
  expect(ntriples({ type: "literal", value: "1", datatype: `${XSD}integer` })).toBe(
    `"1"^^<${XSD}integer>`,
  );
});

test("characters that end an IRI are escaped in it", () => {
  expect(ntriples({ type: "uri", value: "http://e/a>b c" })).toBe("<http://e/a\\u003Eb\\u0020c>");
});

test("triples are written with their three terms", () => {
  const a: Term = { type: "uri", value: "http://e/a" };
  const triple: Term = { type: "triple", value: { subject: a, predicate: a, object: a } };
  expect(ntriples(triple)).toBe("<<( <http://e/a> <http://e/a> <http://e/a> )>>");
});

test("only web addresses become links out of the page", () => {
  expect(isWebAddress("https://example.org/a")).toBe(true);
  for (const other of ["javascript:alert(1)", " javascript:alert(1)", "data:text/html,x", "urn:a",
    "JAVASCRIPT:alert(1)//http://e/", "http://e/ a"]) {
    expect(isWebAddress(other)).toBe(false);
  }
});

test("a person may type an IRI, a prefixed name or a blank node", () => {
  expect(typedTerm("<http://e/a>")).toEqual({ type: "uri", value: "http://e/a" });
  expect(typedTerm(" http://e/a ")).toEqual({ type: "uri", value: "http://e/a" });
  expect(typedTerm("ex:a", { ex: "http://e/" })).toEqual({ type: "uri", value: "http://e/a" });
  expect(typedTerm("_:b1")).toEqual({ type: "bnode", value: "b1" });
  expect(typedTerm("rail line")).toBeNull();
  expect(typedTerm("")).toBeNull();
});

test("tags name the language or the datatype, and plain texts have none", () => {
  expect(datatypeTag({ type: "literal", value: "a", "xml:lang": "en" })).toBe("en");
  expect(datatypeTag({ type: "literal", value: "1", datatype: `${XSD}date` })).toBe("date");
  expect(datatypeTag({ type: "literal", value: "1", datatype: `${XSD}integer` })).toBe("");
  expect(datatypeTag({ type: "literal", value: "a", datatype: `${XSD}string` })).toBe("");
});

test("numbers are told from other literals", () => {
  expect(isNumber({ type: "literal", value: "1", datatype: `${XSD}nonNegativeInteger` })).toBe(true);
  expect(isNumber({ type: "literal", value: "1", datatype: `${XSD}date` })).toBe(false);
  expect(isNumber(null)).toBe(false);
});

test("local names end an IRI", () => {
  expect(localName("http://e/a#b")).toBe("b");
  expect(localName("http://e/a/")).toBe("a");
});

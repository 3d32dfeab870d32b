import { expect, test } from "vitest";
import { tokensOf } from "../src/editor/languages";

const kinds = (text: string) => Object.fromEntries(tokensOf(text).map(([token, kind]) => [token, kind]));

test("keywords, variables, names, texts and numbers differ", () => {
  const found = kinds('SELECT ?x { ?x a ex:Kind ; ex:size 12.5 ; ex:name "a b"@en } # end');
  expect(found["SELECT"]).toBe("keyword");
  expect(found["?x"]).toBe("variableName");
  expect(found["a"]).toBe("keyword");
  expect(found["ex:Kind"]).toBe("typeName");
  expect(found["12.5"]).toBe("number");
  expect(found['"a b"']).toBe("string");
  expect(found["# end"]).toBe("comment");
});

test("a # inside of an IRI does not begin a comment", () => {
  expect(kinds("?x <http://e/a#b> ?y")["<http://e/a#b>"]).toBe("link");
});

test("less-than is not the beginning of an IRI", () => {
  expect(kinds("FILTER(?x < 3 && ?y > 2)")["3"]).toBe("number");
});

test("long texts reach over lines", () => {
  const found = tokensOf('"""a\nSELECT """ ?x');
  expect(found.filter(([, kind]) => kind === "keyword")).toEqual([]);
  expect(found.at(-1)).toEqual(["?x", "variableName"]);
});

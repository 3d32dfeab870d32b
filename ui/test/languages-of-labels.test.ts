import { expect, test } from "vitest";
import { languagesOf } from "../src/logic/languages-of-labels";

test("a language follows its regional form, and each is named once", () => {
  expect(languagesOf(["de-AT", "de", "en-US", "en"])).toBe("de-at,de,en-us,en");
});

test("English is the last choice, also after many", () => {
  expect(languagesOf([])).toBe("en");
  expect(languagesOf(["fr"])).toBe("fr,en");
  expect(languagesOf([..."abcdefghi"])).toBe("a,b,c,d,e,f,g,en");
});

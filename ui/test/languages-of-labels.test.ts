import { expect, test } from "vitest";
import { languagesOf } from "../src/logic/languages-of-labels";

test("a language follows its regional form, and each is named once", () => {
  expect(languagesOf(["de-AT", "de", "en-US", "en"])).toBe("de-at,de,en-us,en");
  expect(languagesOf([])).toBe("");
});

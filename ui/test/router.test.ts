import { beforeAll, expect, test, vi } from "vitest";

vi.stubGlobal("location", { hash: "" });
vi.stubGlobal("addEventListener", () => undefined);
let router: typeof import("../src/router");
beforeAll(async () => {
  router = await import("../src/router");
});

test("the place is what stands behind #", () => {
  const term = '<http://e/a#b?c=d&e>';
  const { page, parameters } = router.parse(router.href("resource", { term }));
  expect(page).toBe("resource");
  expect(parameters.get("term")).toBe(term);
});

test("an empty place is the query page, and parts after the page are kept", () => {
  expect(router.parse("").page).toBe("query");
  expect(router.parse("#/ontology/class").rest).toEqual(["class"]);
  expect(router.parse("#/%E0%A4%A").page).toBe("%E0%A4%A");
});

import { describe, expect, it } from "vitest";
import { placesOf } from "../src/logic/layers";

const edge = (text: string) => ({ from: text[0]!, to: text[1]! });

describe("places of a proof", () => {
  it("put what follows below, in the middle of what leads to it", () => {
    const places = placesOf(["r", "a", "b"], [edge("ar"), edge("br")]);
    const [r, a, b] = ["r", "a", "b"].map((node) => places.get(node)!);
    expect(a!.y).toBe(b!.y);
    expect(r!.y).toBeGreaterThan(a!.y);
    expect(r!.x).toBe((a!.x + b!.x) / 2);
  });

  it("put a fact above all that it leads to, and boxes of a row apart", () => {
    const nodes = ["r", "a", "b", "c"];
    const places = placesOf(nodes, [edge("ar"), edge("br"), edge("ca"), edge("cb"), edge("cr")]);
    const y = (node: string) => places.get(node)!.y;
    expect(y("c")).toBeLessThan(y("a"));
    expect(y("a")).toBe(y("b"));
    const all = nodes.map((node) => `${places.get(node)!.x} ${places.get(node)!.y}`);
    expect(new Set(all).size).toBe(4);
  });

  it("have a place for each node, whatever the arrows are", () => {
    const places = placesOf(["a", "b", "c"], [edge("ab"), edge("ba"), edge("cc"), edge("xa")]);
    expect(places.size).toBe(3);
    for (const place of places.values()) expect(Number.isFinite(place.x + place.y)).toBe(true);
    expect(placesOf([], []).size).toBe(0);
  });
});

/** Proofs as what the page draws: start at `drawnProof`. No DOM here. */

import type { Fact, GraphOfProof, Held, Node } from "../api/resource";
import type { Term } from "../api/types";
import { counted } from "./numbers";
import { named, ntriples, shown } from "./terms";

export interface DrawnNode {
  id: string;
  label: string;
  kind: "fact";
  inferred: boolean;
}

export interface DrawnEdge {
  from: string;
  to: string;
  label: string;
  inferred: boolean;
}

const TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/** A fact as one line of text: its subject, property and object. */
export function factText(fact: Fact, byLabel: boolean): string {
  const text = (term: Term) => (byLabel ? named(term) : shown(term));
  return `${text(fact[0])} ${propertyText(fact[1], byLabel)} ${text(fact[2])}`;
}

/** What a property is called; rdf:type is "a", as in Turtle. */
export function propertyText(term: Term, byLabel: boolean): string {
  if (term.value === TYPE) return "a";
  return byLabel ? named(term) : shown(term);
}

/** What a proof graph is drawn from: an arrow from each fact to what follows from it. */
export function drawnProof(
  graph: GraphOfProof,
  byLabel: boolean,
): { nodes: DrawnNode[]; edges: DrawnEdge[] } {
  const by = (rule: string | null) => (rule ? `\nby ${rule}` : "");
  return {
    nodes: graph.nodes.map((node) => ({
      id: String(node.id),
      label: `${node.fact ? factText(node.fact, byLabel) : node.text}${by(node.rule)}`,
      kind: "fact",
      inferred: !node.asserted,
    })),
    edges: graph.edges.map((edge) => ({
      from: String(edge.from),
      to: String(edge.to),
      label: "",
      inferred: true,
    })),
  };
}

/** A name of the fact of a node. */
export function factKey(node: Node): string {
  return node.fact ? node.fact.map(ntriples).join(" ") : node.text;
}

/** How long and deep a proof is, as a sentence. */
export function sizeText(proof: Held): string {
  if (proof.asserted && !proof.because?.length) return "This fact was asserted.";
  const grounds = proof.graph.nodes.filter((node) => node.asserted).length;
  const steps = counted(proof.steps - grounds, "step");
  const from = grounds > 0 ? ` from ${counted(grounds, "asserted fact")}` : "";
  const deep = proof.height > 1 ? `, ${proof.height} levels deep` : "";
  return `Proved in ${steps}${from}${deep}${proof.least ? "; no proof is less deep" : ""}.`;
}

/**
 * What a person typed for a term, as requests write it; `a` is rdf:type where a property stands.
 * Texts without any mark of a term are taken as plain literals where literals may stand.
 */
export function typedForRequest(text: string, place: "subject" | "property" | "object"): string {
  const typed = text.trim();
  if (place === "property" && typed === "a") return `<${TYPE}>`;
  if (/^[a-z][a-z0-9+.-]*:\/\/\S+$/i.test(typed)) return `<${typed}>`;
  const isTerm = /^(<|"|'|_:|\[|[+-]?[.\d]|true$|false$)/.test(typed) || /^[^\s:]*:\S*$/.test(typed);
  if (place === "object" && !isTerm) return JSON.stringify(typed);
  return typed;
}

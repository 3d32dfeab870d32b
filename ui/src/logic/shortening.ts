/** Texts of the server with whole IRIs, cut into parts that read well. Start at `partsOf`. */

import type { Term } from "../api/types";
import { localName } from "./terms";

/** A piece of text, or an IRI in angle brackets with the name to show. */
export interface TextPart {
  text: string;
  iri?: string;
}

/** The parts of a text: `<http://...>` becomes an IRI with its name by prefix, or its end. */
export function partsOf(text: string, prefixes: Record<string, string>): TextPart[] {
  const parts: TextPart[] = [];
  let last = 0;
  for (const found of text.matchAll(/<([a-zA-Z][a-zA-Z0-9+.-]*:[^<>"{}|^`\\\s]*)>/g)) {
    if (found.index > last) parts.push({ text: text.slice(last, found.index) });
    parts.push({ text: shortIri(found[1]!, prefixes), iri: found[1]! });
    last = found.index + found[0].length;
  }
  if (last < text.length) parts.push({ text: text.slice(last) });
  return parts;
}

/** Prefixes that need no declaration. */
const USUAL: Record<string, string> = {
  rdf: "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
  rdfs: "http://www.w3.org/2000/01/rdf-schema#",
  owl: "http://www.w3.org/2002/07/owl#",
  xsd: "http://www.w3.org/2001/XMLSchema#",
  skos: "http://www.w3.org/2004/02/skos/core#",
};

/** A name by the longest fitting prefix; without one, the end of the IRI. */
export function shortIri(value: string, prefixes: Record<string, string>): string {
  return prefixedName(value, prefixes) ?? `…${localName(value)}`;
}

/** A term with its prefixed name, for answers that have none. */
export function withShort(term: Term, prefixes: Record<string, string>): Term {
  if (term.type !== "uri" || term.short) return term;
  const short = prefixedName(term.value as string, prefixes);
  return short === null ? term : { ...term, short };
}

/** A name by the longest fitting prefix; null if none fits. */
function prefixedName(value: string, prefixes: Record<string, string>): string | null {
  let best: [string, string] | null = null;
  for (const [name, space] of Object.entries({ ...USUAL, ...prefixes })) {
    if (space === "" || !value.startsWith(space)) continue;
    if (!/^[\w.-]*$/.test(value.slice(space.length))) continue;
    if (best === null || space.length > best[1].length) best = [name, space];
  }
  return best ? `${best[0]}:${value.slice(best[1].length)}` : null;
}

/**
 * What lies outside of a profile, by reason. The server writes `axiom: reason`; texts of no known
 * reason are a group of their own.
 */
export function byReason(
  outside: string[],
  reasons: Record<string, number | string>,
): { reason: string; count: number; axioms: string[] }[] {
  const groups = new Map<string, string[]>();
  const names = Object.keys(reasons);
  for (const text of outside) {
    const reason = names.find((name) => text.endsWith(`: ${name}`)) ?? "";
    const axiom = reason === "" ? text : text.slice(0, -reason.length - 2);
    groups.set(reason, [...(groups.get(reason) ?? []), axiom]);
  }
  for (const name of names) if (!groups.has(name)) groups.set(name, []);
  return [...groups]
    .map(([reason, axioms]) => ({
      reason,
      count: Math.max(Number(reasons[reason] ?? 0) || 0, axioms.length),
      axioms,
    }))
    .sort((a, b) => b.count - a.count);
}

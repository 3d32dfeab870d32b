/** Terms as text: N-Triples for requests, short forms for people, and which IRIs may be links. */

import type { Term, TripleValue } from "../api/types";

const STRING = "http://www.w3.org/2001/XMLSchema#string";
const PLAIN = new Set(
  ["string", "integer", "decimal", "boolean"].map((name) => STRING.replace(/string$/, name)),
);
const LANG_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString";

/** The IRI, label or lexical form; triples as `<< s p o >>`. */
export function valueOf(term: Term): string {
  if (typeof term.value === "string") return term.value;
  const { subject, predicate, object } = term.value as TripleValue;
  return `<< ${shown(subject)} ${shown(predicate)} ${shown(object)} >>`;
}

/** A term as requests write it: `<http://...>`, `"text"@en`, `_:b0`. */
export function ntriples(term: Term): string {
  if (term.type === "uri") return `<${escapeIri(term.value as string)}>`;
  if (term.type === "bnode") return `_:${(term.value as string).replace(/^_:/, "")}`;
  if (term.type === "triple") {
    const { subject, predicate, object } = term.value as TripleValue;
    return `<<( ${ntriples(subject)} ${ntriples(predicate)} ${ntriples(object)} )>>`;
  }
  const quoted = `"${escapeText(term.value as string)}"`;
  if (term["xml:lang"]) return `${quoted}@${term["xml:lang"]}`;
  const datatype = term.datatype;
  return datatype && datatype !== STRING && datatype !== LANG_STRING
    ? `${quoted}^^<${escapeIri(datatype)}>`
    : quoted;
}

/** The text of a term in a table: the prefixed name or shortened IRI, else its value. */
export function shown(term: Term): string {
  if (term.type === "uri") return term.short || (term.value as string);
  if (term.type === "bnode") return `_:${(term.value as string).replace(/^_:/, "")}`;
  return valueOf(term);
}

/** What a person calls the term: its label if the store has one. */
export function named(term: Term): string {
  return term.label || shown(term);
}

/** A term of an IRI. */
export function iri(value: string): Term {
  return { type: "uri", value };
}

/**
 * The term that a person typed: an IRI with or without angle brackets, or `_:b`; else null.
 * Prefixed names need the prefixes of the store.
 */
export function typedTerm(text: string, prefixes: Record<string, string> = {}): Term | null {
  const trimmed = text.trim();
  const bracketed = /^<([^<>"{}|^`\\\s]+)>$/.exec(trimmed);
  if (bracketed) return iri(bracketed[1]!);
  if (/^_:\S+$/.test(trimmed)) return { type: "bnode", value: trimmed.slice(2) };
  const prefixed = /^([^:\s]*):(\S*)$/.exec(trimmed);
  const space = prefixed && prefixes[prefixed[1]!];
  if (space !== undefined && space !== null) return iri(space + prefixed![2]!);
  return /^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"]+$/.test(trimmed) ? iri(trimmed) : null;
}

/** Whether an IRI may be an outgoing link: http and https only, so `javascript:` never is. */
export function isWebAddress(value: string): boolean {
  return /^https?:\/\/[^\s]+$/i.test(value);
}

/** Whether a term has a resource page: IRIs and blank nodes. */
export function hasPage(term: Term): boolean {
  return term.type === "uri" || term.type === "bnode";
}

/** The end of an IRI after its last `#`, `/` or `:`. */
export function localName(value: string): string {
  return /[^#/:]*$/.exec(value.replace(/[#/]+$/, ""))?.[0] || value;
}

/**
 * The short name of a datatype for a tag beside a literal; "" for texts and for what Turtle writes
 * without a datatype: whole and decimal numbers, true and false.
 */
export function datatypeTag(term: Term): string {
  if (term["xml:lang"]) return term["xml:lang"];
  if (!term.datatype || PLAIN.has(term.datatype)) return "";
  return localName(term.datatype);
}

const NUMBERS = /#(integer|decimal|double|float|int|long|short|byte|(non)?(positive|negative)integer|unsigned(long|int|short|byte))$/i;

/** Whether a term is a number, which tables align to the right. */
export function isNumber(term: Term | null): boolean {
  return term?.datatype !== undefined && NUMBERS.test(term.datatype);
}

function escapeText(text: string): string {
  return text
    .replace(/\\/g, "\\\\")
    .replace(/"/g, '\\"')
    .replace(/\n/g, "\\n")
    .replace(/\r/g, "\\r")
    .replace(/\t/g, "\\t");
}

function escapeIri(value: string): string {
  return value.replace(/[\u0000-\u0020<>"{}|^`\\]/g, (found) => {
    return `\\u${found.charCodeAt(0).toString(16).padStart(4, "0").toUpperCase()}`;
  });
}

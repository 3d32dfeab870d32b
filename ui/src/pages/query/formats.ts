/** The formats in which results can be saved or looked at raw. */

import { address, errorOf } from "../../api/client";
import type { Facts, QueryAnswer } from "../../api/types";

export interface Format {
  name: string;
  mediaType: string;
  extension: string;
  /** Whether a person can read it. */
  text: boolean;
}

const ROWS: Format[] = [
  { name: "CSV", mediaType: "text/csv", extension: "csv", text: true },
  { name: "TSV", mediaType: "text/tab-separated-values", extension: "tsv", text: true },
  { name: "JSON", mediaType: "application/sparql-results+json", extension: "srj", text: true },
  { name: "XML", mediaType: "application/sparql-results+xml", extension: "srx", text: true },
];
const COLUMNS: Format[] = [
  { name: "Parquet", mediaType: "application/vnd.apache.parquet", extension: "parquet", text: false },
  {
    name: "Arrow",
    mediaType: "application/vnd.apache.arrow.stream",
    extension: "arrows",
    text: false,
  },
];
const TRIPLES: Format[] = [
  { name: "Turtle", mediaType: "text/turtle", extension: "ttl", text: true },
  { name: "N-Triples", mediaType: "application/n-triples", extension: "nt", text: true },
  { name: "JSON-LD", mediaType: "application/ld+json", extension: "jsonld", text: true },
  { name: "RDF/XML", mediaType: "application/rdf+xml", extension: "rdf", text: true },
];

/** The formats of an answer, by its kind. */
export function formatsOf(kind: QueryAnswer["kind"]): Format[] {
  if (kind === "rows") return [...ROWS, ...COLUMNS];
  return kind === "boolean" ? ROWS.filter((each) => each.name !== "TSV") : [...TRIPLES, ...COLUMNS];
}

/** The whole answer of a query in a format, by the SPARQL protocol. */
export async function answered(
  query: string,
  facts: Facts,
  mediaType: string,
  signal?: AbortSignal,
): Promise<Response> {
  const response = await fetch(address("query"), {
    method: "POST",
    headers: { accept: mediaType, "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ query, facts }),
    signal: signal ?? null,
  });
  if (!response.ok) throw errorOf(response.status, await response.text());
  return response;
}

/** The beginning of an answer as text, and whether that is all of it. */
export async function beginning(
  response: Response,
  most: number,
): Promise<{ text: string; whole: boolean }> {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { text: text + decoder.decode(), whole: true };
    text += decoder.decode(value, { stream: true });
    if (text.length > most) {
      await reader.cancel();
      return { text: text.slice(0, most), whole: false };
    }
  }
}

/** Save an answer as a file. */
export async function save(query: string, facts: Facts, format: Format): Promise<void> {
  const response = await answered(query, facts, format.mediaType);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = `result.${format.extension}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

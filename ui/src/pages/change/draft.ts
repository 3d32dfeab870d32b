/** The change that is being prepared; it stays while one visits other pages. */

import { effect, signal } from "@preact/signals";
import type { ChangeRequest } from "../../api/change";
import { keep, kept } from "../../logic/kept";
import { formatOf } from "../../logic/preview";

export type Source = "update" | "files";

export interface DraftFile {
  id: number;
  name: string;
  size: number;
  /** The text of the file, unpacked. */
  text: string;
  format: string;
  /** The IRI of the graph for its triples; "" for the default graph. */
  graph: string;
}

export interface Draft {
  source: Source;
  update: string;
  files: DraftFile[];
}

/** Larger files are for the store page, which sends them as a stream. */
export const MAX_FILE = 50_000_000;

export const draft = signal<Draft>({ source: "update", update: kept("update", ""), files: [] });

effect(() => keep("update", draft.value.update));

let last = 0;

/** Read files into the draft; texts of errors for those that cannot be read. */
export async function addFiles(files: Iterable<File>): Promise<string[]> {
  const problems: string[] = [];
  for (const file of files) {
    if (file.size > MAX_FILE) {
      problems.push(`${file.name} is too large for a preview: load it on the Store page.`);
      continue;
    }
    try {
      const text = await textOf(file);
      const made = { name: file.name, size: file.size, text, format: formatOf(file.name), graph: "" };
      draft.value = { ...draft.value, files: [...draft.value.files, { id: ++last, ...made }] };
    } catch {
      problems.push(`${file.name} cannot be read.`);
    }
  }
  return problems;
}

/** The text of a file; packed ones are unpacked. */
async function textOf(file: File): Promise<string> {
  if (!file.name.toLowerCase().endsWith(".gz")) return file.text();
  const unpacked = file.stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(unpacked).text();
}

export function changeFile(id: number, change: Partial<DraftFile>): void {
  const files = draft.value.files.map((file) => (file.id === id ? { ...file, ...change } : file));
  draft.value = { ...draft.value, files };
}

export function removeFile(id: number): void {
  draft.value = { ...draft.value, files: draft.value.files.filter((file) => file.id !== id) };
}

/** The draft as a request; null while something is missing. */
export function requestOf(current: Draft): ChangeRequest | null {
  if (current.source === "update") {
    return current.update.trim() === "" ? null : { update: current.update };
  }
  if (current.files.length === 0 || current.files.some((file) => !file.format)) return null;
  return {
    documents: current.files.map(({ name, text, format, graph }) => ({
      name,
      text,
      format,
      ...(graph.trim() ? { graph: graph.trim().replace(/^<|>$/g, "") } : {}),
    })),
  };
}

/** Forget what was committed. */
export function clearDraft(): void {
  draft.value = { ...draft.value, update: "", files: [] };
}

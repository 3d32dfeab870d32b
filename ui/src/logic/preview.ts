/** What a preview or a report tells, in words and in order. No DOM here. */

import type { ChangeKind, Group, Preview } from "../api/change";
import { count, counted } from "./numbers";

export const CHANGE_KINDS: ChangeKind[] = ["added", "removed", "inferred_added", "inferred_removed"];

export const KIND_TITLES: Record<ChangeKind, string> = {
  added: "Added",
  removed: "Removed",
  inferred_added: "Inferred, new",
  inferred_removed: "Inferred, gone",
};

/** Whether a change would change nothing. */
export function isEmpty(preview: Preview): boolean {
  return (
    CHANGE_KINDS.every((kind) => preview[kind] === 0) &&
    preview.rows_added === 0 &&
    preview.rows_removed === 0 &&
    preview.violations.new_count === 0 &&
    preview.violations.resolved_count === 0
  );
}

/** All changes of a group. */
export function changesOf(group: Group): number {
  return CHANGE_KINDS.reduce((sum, kind) => sum + group[kind], 0);
}

/** One sentence about a preview, for screen readers and messages. */
export function previewText(preview: Preview): string {
  if (isEmpty(preview)) return "This changes nothing.";
  const parts = [
    preview.added && `${counted(preview.added, "fact")} added`,
    preview.removed && `${counted(preview.removed, "fact")} removed`,
    preview.inferred_added && `${count(preview.inferred_added)} newly inferred`,
    preview.inferred_removed && `${count(preview.inferred_removed)} no longer inferred`,
    preview.violations.new_count && counted(preview.violations.new_count, "new violation"),
    preview.violations.resolved_count &&
      counted(preview.violations.resolved_count, "resolved violation"),
  ].filter(Boolean);
  const text = parts.length > 0 ? parts.join(", ") : "only tuples of rules change";
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`;
}

const FORMATS: Record<string, string> = {
  ttl: "ttl",
  turtle: "ttl",
  nt: "nt",
  nq: "nq",
  trig: "trig",
  rdf: "rdf",
  owl: "rdf",
  xml: "rdf",
  jsonld: "jsonld",
  json: "jsonld",
  n3: "n3",
};

/** The format of a file by its name; "" if the name does not tell. */
export function formatOf(name: string): string {
  const endings = name.toLowerCase().split(".").slice(1);
  const ending = endings.at(-1) === "gz" ? endings.at(-2) : endings.at(-1);
  return FORMATS[ending ?? ""] ?? "";
}

/** The figures of a store in groups, with their names and units. No DOM here. */

import type { CommitFacts } from "../api/types";
import { bytes, count } from "./numbers";

export interface FigureLine {
  name: string;
  value: string;
}

type Unit = "count" | "bytes";

const LINES: [key: string, name: string, unit: Unit][] = [
  ["predicates", "Properties in use", "count"],
  ["classes", "Classes in use", "count"],
  ["terms", "Terms", "count"],
  ["named_graphs", "Named graphs", "count"],
  ["in_named_graphs", "Quads in named graphs", "count"],
  ["relation_rows", "Tuples of rules", "count"],
  ["files_loaded", "Files loaded", "count"],
  ["layers", "Layers of the tables", "count"],
  ["fact_table_bytes", "Tables of facts", "bytes"],
  ["fact_bytes_per_triple", "per triple", "bytes"],
  ["counter_bytes", "Counters of derivations", "bytes"],
  ["quad_table_bytes", "Tables of named graphs", "bytes"],
  ["dictionary_bytes", "Dictionary", "bytes"],
  ["term_text_bytes", "Text of terms", "bytes"],
  ["journal_bytes", "Journal", "bytes"],
];

/** The known statistics, in this order, without those that are 0. */
export function statisticsOf(statistics: Record<string, unknown> | undefined): FigureLine[] {
  return LINES.flatMap(([key, name, unit]) => {
    const value = statistics?.[key];
    if (typeof value !== "number" || value === 0) return [];
    return [{ name, value: unit === "bytes" ? sized(value) : count(value) }];
  });
}

function sized(value: number): string {
  return value < 100 && !Number.isInteger(value) ? `${value.toFixed(1)} B` : bytes(value);
}

/** What a commit did, in short texts: those of inferred facts are marked. */
export function commitCounts(
  commit: CommitFacts,
): { text: string; title: string; inferred: boolean }[] {
  if (commit.added === undefined) {
    return [{ text: "not counted", title: "Not made by this server", inferred: false }];
  }
  const parts: [number | undefined, string, string, boolean][] = [
    [commit.added, "+", "asserted facts added", false],
    [commit.removed, "−", "asserted facts removed", false],
    [commit.inferred_added, "◆ +", "inferred facts added", true],
    [commit.inferred_removed, "◆ −", "inferred facts removed", true],
  ];
  const made = parts
    .filter(([number]) => number)
    .map(([number, sign, what, inferred]) => {
      const text = `${sign}${count(number!)}`;
      return { text, title: `${count(number!)} ${what}`, inferred };
    });
  return made.length > 0 ? made : [{ text: "no facts", title: "No facts came or went", inferred: false }];
}

/** The tabs of the query page and the queries asked before, kept in the browser. */

import { computed, effect, signal } from "@preact/signals";
import type { Facts } from "../../api/types";
import { keep, kept } from "../../logic/kept";

export interface QueryTab {
  id: string;
  title: string;
  text: string;
}

export interface Asked {
  text: string;
  facts: Facts;
  /** Milliseconds since 1970. */
  when: number;
  seconds?: number;
  rows?: number;
  failed?: boolean;
}

export interface Options {
  facts: Facts;
  /** Seconds; null for the server's own limit. */
  timeout: number | null;
  /** Megabytes; null for the server's own limit. */
  budget: number | null;
  /** Rows that are asked for at once. */
  limit: number;
  /** Whether rows that need inferred facts are marked. */
  marked: boolean;
}

/** What the first tab asks. */
export const FIRST = `SELECT * WHERE {
  ?s ?p ?o
}
LIMIT 100`;
const MOST_ASKED = 200;

export const tabs = signal<QueryTab[]>(kept<QueryTab[]>("tabs", []));
if (tabs.value.length === 0) tabs.value = [newTab(FIRST)];
export const activeId = signal<string>(kept("tab", tabs.value[0]!.id));
export const asked = signal<Asked[]>(kept<Asked[]>("asked", []));
export const options = signal<Options>({
  facts: "all",
  timeout: null,
  budget: null,
  limit: 10_000,
  marked: true,
  ...kept<Partial<Options>>("options", {}),
});

export const active = computed<QueryTab>(
  () => tabs.value.find((tab) => tab.id === activeId.value) ?? tabs.value[0]!,
);

effect(() => keep("tab", active.value.id));
effect(() => keep("asked", asked.value));
effect(() => keep("options", options.value));
let keeping: ReturnType<typeof setTimeout> | undefined;
effect(() => {
  const present = tabs.value;
  clearTimeout(keeping);
  keeping = setTimeout(() => keep("tabs", present), 300); // not at every keystroke
});
addEventListener("pagehide", () => keep("tabs", tabs.value));

function newTab(text: string): QueryTab {
  return { id: Math.random().toString(36).slice(2, 10), title: "", text };
}

/** What a tab is called: its own title, else what its query begins with. */
export function titleOf(tab: QueryTab, number: number): string {
  return tab.title || summaryOf(tab.text) || `Query ${number}`;
}

/** A comment in the first line, else the first words after the prologue. */
export function summaryOf(text: string): string {
  const comment = /^\s*#\s*(.+)/.exec(text);
  if (comment) return comment[1]!.trim().slice(0, 28);
  const body = text.replace(/^(\s*(prefix|base)\b[^\n]*\n|\s*#[^\n]*\n|\s+)*/i, "");
  const words = body.replace(/\s+/g, " ").trim();
  return words.length > 24 ? `${words.slice(0, 23)}…` : words;
}

export function openTab(text = ""): void {
  const tab = newTab(text);
  tabs.value = [...tabs.value, tab];
  activeId.value = tab.id;
}

/** Close a tab; the last one is emptied instead. */
export function closeTab(id: string): void {
  const at = tabs.value.findIndex((tab) => tab.id === id);
  const rest = tabs.value.filter((tab) => tab.id !== id);
  if (rest.length === 0) rest.push(newTab(""));
  tabs.value = rest;
  if (activeId.value === id) activeId.value = rest[Math.min(at, rest.length - 1)]!.id;
}

export function changeText(id: string, text: string): void {
  tabs.value = tabs.value.map((tab) => (tab.id === id ? { ...tab, text } : tab));
}

export function renameTab(id: string, title: string): void {
  tabs.value = tabs.value.map((tab) => (tab.id === id ? { ...tab, title: title.trim() } : tab));
}

/** Note what was asked; the same text moves to the top. */
export function remember(entry: Asked): void {
  const others = asked.value.filter((each) => each.text !== entry.text);
  asked.value = [entry, ...others].slice(0, MOST_ASKED);
}

export function forgetAll(): void {
  asked.value = [];
}

/** Completion by the server, which knows the classes and properties of the store. */

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { pickedCompletion } from "@codemirror/autocomplete";
import type { EditorView } from "@codemirror/view";
import { complete } from "../api/client";
import type { Completion as Item } from "../api/types";
import { count } from "../logic/numbers";
import { charactersBefore, unitAt } from "../logic/places";

/** Where a completion is offered without Ctrl-Space: after a part of a name. */
const BEGUN = /(<[^<>\s]*|[?$][\w]*|[\p{L}_][\p{L}\p{N}_.-]*(:[\p{L}\p{N}_.-]*)?|:[\p{L}\p{N}_.-]*)$/u;

export interface ServerCompletion extends Completion {
  count?: number;
}

/** The source of completions for SPARQL; the server ranks, so CodeMirror must not. */
export async function completeByServer(
  context: CompletionContext,
): Promise<CompletionResult | null> {
  const line = context.state.doc.lineAt(context.pos);
  const before = line.text.slice(0, context.pos - line.from);
  if (!context.explicit && !BEGUN.test(before)) return null;
  const text = context.state.doc.toString();
  const stop = new AbortController();
  context.addEventListener("abort", () => stop.abort());
  try {
    const found = await complete(text, charactersBefore(text, context.pos), stop.signal);
    if (context.aborted || found.items.length === 0) return null;
    return {
      from: unitAt(text, found.from),
      to: unitAt(text, found.to),
      options: found.items.map(optionOf),
      filter: false,
    };
  } catch {
    return null; // stopped, or no server: typing must not be disturbed
  }
}

let prepared = false;

/** Have the server make its index of names before the first key is pressed. */
export function prepareCompletion(): void {
  if (prepared) return;
  prepared = true;
  complete("SELECT * { ?s a", 15).catch(() => undefined); // the first real one says what is wrong
}

function optionOf(item: Item): ServerCompletion {
  return {
    label: item.insert,
    displayLabel: item.label || item.insert,
    detail: item.detail,
    type: item.kind,
    count: item.count,
    apply: (view: EditorView, completion: Completion, from: number, to: number) => {
      view.dispatch({
        changes: { from, to, insert: item.insert },
        selection: { anchor: from + item.insert.length },
        annotations: pickedCompletion.of(completion),
        userEvent: "input.complete",
      });
    },
  };
}

/** What stands at the end of an offered line: the kind and how often the term is used. */
export function kindOf(completion: ServerCompletion): Node {
  const element = document.createElement("span");
  element.className = "completion-kind";
  const used = completion.count ? ` ${count(completion.count)}` : "";
  element.textContent = `${completion.type ?? ""}${used}`;
  return element;
}

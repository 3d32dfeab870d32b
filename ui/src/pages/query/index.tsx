/** The query page: tabs, the editor, and the answer below it. */

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { LateEditor } from "../../editor/late";
import { WhyDialog } from "../../proofs/why-dialog";
import { go, href, route } from "../../router";
import { useShortcuts } from "../../shortcuts";
import { toast } from "../../components/toast";
import { HistoryDialog } from "./history";
import { QueriesDialog } from "./queries";
import { Results, type View } from "./results";
import { outcomes, problemsOf, run, stop } from "./running";
import { PANEL, TabBar } from "./tab-bar";
import { active, changeText, openTab, options } from "./tabs";
import { Toolbar } from "./toolbar";
import "./query.css";

export default function QueryPage() {
  const [view, setView] = useState<View>("table");
  const [history, setHistory] = useState(false);
  const [queries, setQueries] = useState(false);
  const [focus, setFocus] = useState(0);
  const tab = active.value;
  const outcome = outcomes.value[tab.id];
  useLinkedQuery();
  useShortcuts([
    {
      keys: "mod+Enter",
      what: "Run the query",
      run: () => void run(active.value),
      whileTyping: true,
    },
    { keys: "mod+.", what: "Stop the query", run: () => stop(active.value.id), whileTyping: true },
    { keys: "e", what: "To the editor; Escape, then Tab, leaves it", run: () => setFocus(Date.now()) },
    { keys: "alt+t", what: "New tab", run: () => openTab(), whileTyping: true },
    { keys: "alt+h", what: "Queries asked before", run: () => setHistory(true), whileTyping: true },
    { keys: "alt+r", what: "Running queries", run: () => setQueries(true), whileTyping: true },
    { keys: "alt+x", what: "Explain the query", run: () => setView("explain"), whileTyping: true },
  ]);
  const frame = useFittingHeight(tab.text.split("\n").length);
  const problems = useMemo(() => problemsOf(outcome, tab.text), [outcome?.error, tab.text]);
  return (
    <div class="page query-page">
      <h1 class="hidden">Query</h1>
      <section class="panel query-panel" aria-label="Query">
        <div class="query-head">
          <TabBar />
          <div class="row query-links">
            <button type="button" class="button quiet small" onClick={() => setHistory(true)}>
              History
            </button>
            <button type="button" class="button quiet small" onClick={() => setQueries(true)}>
              Running
            </button>
            <button
              type="button"
              class="button quiet small"
              title="Copy an address that opens this query"
              onClick={() => void copyLink(tab.text)}
            >
              Copy link
            </button>
          </div>
        </div>
        <div
          class="query-editor"
          id={PANEL}
          ref={frame}
          role="tabpanel"
          aria-label="Text of the query"
        >
          <LateEditor
            value={tab.text}
            document={tab.id}
            language="sparql"
            label="SPARQL query"
            placeholder="SELECT * WHERE { ?s ?p ?o } LIMIT 100"
            problems={problems}
            onChange={(text) => changeText(active.value.id, text)}
            onRun={() => void run(active.value)}
            focus={focus}
          />
        </div>
        <Toolbar />
      </section>
      <Results tab={tab.id} text={tab.text} outcome={outcome} view={view} onView={setView} />
      <WhyDialog />
      <HistoryDialog open={history} onClose={() => setHistory(false)} />
      <QueriesDialog open={queries} onClose={() => setQueries(false)} />
    </div>
  );
}

/** A frame as high as the lines of the query, until the person gives it another height. */
function useFittingHeight(lines: number) {
  const frame = useRef<HTMLDivElement>(null);
  const given = useRef(0);
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element || (given.current && Math.abs(element.offsetHeight - given.current) > 2)) return;
    given.current = 22 + 20.2 * Math.min(Math.max(lines, 6), 15);
    element.style.height = `${given.current}px`;
  }, [lines]);
  return frame;
}

/** `#/query?query=...&facts=...` opens a tab of its own; `run` asks it at once. */
function useLinkedQuery(): void {
  const { page, parameters } = route.value;
  const text = page === "query" ? parameters.get("query") : null;
  useEffect(() => {
    if (text === null) return;
    const facts = parameters.get("facts");
    if (facts === "all" || facts === "explicit" || facts === "inferred") {
      options.value = { ...options.value, facts };
    }
    if (active.value.text !== text) openTab(text);
    if (parameters.has("run")) void run(active.value);
    go("query", {}, true);
  }, [text]);
}

async function copyLink(text: string): Promise<void> {
  const link = new URL(href("query", { query: text, facts: options.value.facts }), location.href);
  try {
    await navigator.clipboard.writeText(link.toString());
    toast("The link was copied", "good");
  } catch {
    toast("The browser does not allow copying here", "bad");
  }
}

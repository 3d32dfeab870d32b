/** Below the tools: the answer of the tab in one of its views. */

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { messageOf } from "../../api/client";
import type { QueryAnswer } from "../../api/types";
import { Menu, Segmented, Tabs } from "../../components/controls";
import { keyNames } from "../../components/help";
import { Empty, ErrorNote, Loading, Note } from "../../components/notes";
import { toast } from "../../components/toast";
import { count, counted, seconds } from "../../logic/numbers";
import { keep, kept } from "../../logic/kept";
import type { Naming } from "../../naming";
import { ChartView } from "./chart-view";
import { ExplainView } from "./explain-view";
import { FollowView } from "./follow-view";
import { formatsOf, save } from "./formats";
import { TriplesGraph } from "./graph-view";
import { RawView } from "./raw-view";
import { EXAMPLES } from "./examples";
import { run, runFurther, sizeOf, type Outcome } from "./running";
import { Advice, BooleanView, GridTable, gridOf, NoRows } from "./table-view";
import { active, changeText, FIRST, openTab, options } from "./tabs";

export type View = "table" | "raw" | "chart" | "graph" | "explain" | "follow";

const PANEL = "result-panel";

export function Results(props: {
  tab: string;
  text: string;
  outcome: Outcome | undefined;
  view: View;
  onView: (view: View) => void;
}) {
  const { outcome, view } = props;
  const [byLabel, setByLabel] = useState(kept("byLabel", false));
  const answer = outcome?.answer ?? null;
  const kind = answer?.kind;
  const choices: { value: View; label: string; disabled?: boolean; title?: string }[] = [
    { value: "table", label: kind === "boolean" ? "Answer" : "Table" },
    { value: "raw", label: "Raw", disabled: !answer },
    { value: "chart", label: "Chart", disabled: kind !== "rows" },
    { value: "graph", label: "Graph", disabled: kind !== "triples" },
    { value: "explain", label: "Explain", title: "How the query is computed" },
    { value: "follow", label: "Follow", title: "The result after each commit" },
  ];
  const usable = choices.some((each) => each.value === view && !each.disabled);
  const shown = usable ? view : "table";
  return (
    <section class="panel results" aria-label="Results">
      <div class="panel-head">
        <Tabs
          label="Views"
          value={shown}
          choices={choices}
          onChange={props.onView}
          panelId={PANEL}
        />
        {answer && <Summary outcome={outcome!} answer={answer} />}
        <div class="row results-end">
          {(shown === "table" || shown === "follow") && answer?.kind !== "boolean" && (
            <Segmented<Naming>
              label="Show terms by"
              value={byLabel ? "labels" : "names"}
              choices={[
                { value: "names", label: "Names" },
                { value: "labels", label: "Labels" },
              ]}
              onChange={(value) => {
                setByLabel(value === "labels");
                keep("byLabel", value === "labels");
              }}
            />
          )}
          {answer && <ExportMenu outcome={outcome!} answer={answer} />}
        </div>
      </div>
      <div id={PANEL} role="tabpanel" aria-label={choices.find((c) => c.value === shown)?.label}>
        <Body {...props} view={shown} byLabel={byLabel} />
      </div>
    </section>
  );
}

function Body(props: {
  tab: string;
  text: string;
  outcome: Outcome | undefined;
  view: View;
  byLabel: boolean;
}) {
  const { outcome, view } = props;
  const answer = outcome?.answer ?? null;
  const grid = useMemo(() => (answer ? gridOf(answer) : null), [answer]);
  const facts = outcome?.facts ?? "all";
  if (view === "explain" || view === "follow") {
    return (
      <OfQuery key={`${props.tab} ${view} ${outcome?.turn ?? 0}`} text={props.text}>
        {(text) =>
          view === "explain" ? (
            <ExplainView text={text} facts={options.value.facts} />
          ) : (
            <FollowView text={text} facts={options.value.facts} byLabel={props.byLabel} />
          )
        }
      </OfQuery>
    );
  }
  if (outcome?.error) {
    return (
      <div class="panel-body">
        <ErrorNote error={outcome.error} />
      </div>
    );
  }
  if (!answer || !grid) {
    return outcome?.running ? (
      <Loading what="the answer" />
    ) : (
      <Start />
    );
  }
  if (view === "raw") return <RawView text={outcome!.text} facts={facts} kind={answer.kind} />;
  if (answer.kind === "boolean") return <BooleanView value={answer.value} />;
  if (grid.rows.length === 0) return <NoRows advice={answer.advice ?? []} />;
  if (view === "chart") return <ChartView key={outcome!.turn} grid={grid} />;
  if (view === "graph" && answer.kind === "triples") return <TriplesGraph triples={answer.triples} />;
  return (
    <>
      {(answer.advice?.length ?? 0) > 0 && (
        <div class="panel-body">
          <Advice advice={answer.advice ?? []} />
        </div>
      )}
      {answer.first_commit !== undefined && (
        <div class="panel-body">
          <Note kind="warn">
            These rows are of commits {answer.first_commit} to {answer.commit}: some may be repeated or
            missing. Run the query again for the rows of one commit.
          </Note>
        </div>
      )}
      <GridTable key={props.tab} grid={grid} byLabel={props.byLabel} label="Results" />
      {answer.more && (
        <p class="more-rows">
          <button
            type="button"
            class="button small"
            disabled={outcome!.running !== null}
            onClick={() => void runFurther(props.tab)}
          >
            Load the next rows
          </button>
        </p>
      )}
    </>
  );
}

/** A view of the query as it was when the view was opened: typing must not ask at every key. */
function OfQuery(props: { text: string; children: (text: string) => ComponentChildren }) {
  const [text, setText] = useState(props.text);
  if (text.trim() === "") return <Empty title="Write a query first" />;
  return (
    <>
      {text !== props.text && (
        <div class="panel-body">
          <Note kind="warn">
            The query has changed.{" "}
            <button type="button" class="button small" onClick={() => setText(props.text)}>
              Take the new one
            </button>
          </Note>
        </div>
      )}
      {props.children(text)}
    </>
  );
}

/** What stands in place of the first answer: keys, and queries to begin with. */
function Start() {
  const ask = (text: string) => {
    if (active.value.text.trim() === "" || active.value.text === FIRST) {
      changeText(active.value.id, text);
    } else {
      openTab(text);
    }
    void run(active.value);
  };
  return (
    <Empty title="No answer yet">
      <p>
        <kbd>{keyNames("mod+Enter").join(" ")}</kbd> runs the query, <kbd>Ctrl Space</kbd> completes
        names of this store, <kbd>?</kbd> lists all keys.
      </p>
      <ul class="examples" aria-label="Queries to begin with">
        {EXAMPLES.map((example) => (
          <li key={example.title}>
            <button type="button" class="button" onClick={() => ask(example.text)}>
              {example.title}
            </button>
          </li>
        ))}
      </ul>
    </Empty>
  );
}

/** The size of the answer, its time and its commit. */
function Summary({ outcome, answer }: { outcome: Outcome; answer: QueryAnswer }) {
  const inferred = gridOf(answer).inferred?.filter(Boolean).length ?? 0;
  const size = sizeOf(answer);
  return (
    <p class={`summary number${outcome.running ? " stale" : ""}`} role="status">
      {answer.kind !== "boolean" && (
        <>
          <strong>{counted(size, answer.kind === "rows" ? "row" : "triple")}</strong>
          {answer.more && (
            <span class="muted">
              {answer.kind === "triples" && answer.count
                ? `of ${count(answer.count)}`
                : "and more follow"}
            </span>
          )}
          {inferred > 0 && <span class="badge inferred">◆ {count(inferred)} inferred</span>}
        </>
      )}
      <span class="muted">
        {seconds(answer.seconds)} · commit {answer.commit}
      </span>
    </p>
  );
}

function ExportMenu({ outcome, answer }: { outcome: Outcome; answer: QueryAnswer }) {
  const [busy, setBusy] = useState(false);
  return (
    <Menu
      label={busy ? "Exporting …" : "Export"}
      title="Save the whole answer as a file"
      disabled={busy}
      actions={formatsOf(answer.kind).map((format) => ({
        label: format.name,
        detail: `.${format.extension}`,
        run: () => {
          setBusy(true);
          save(outcome.text, outcome.facts, format)
            .catch((error: unknown) => toast(messageOf(error), "bad"))
            .finally(() => setBusy(false));
        },
      }))}
    />
  );
}

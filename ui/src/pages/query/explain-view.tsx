/** How the query is computed: the plan as a tree, with rows and times if it was run. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { explain, isAbort } from "../../api/client";
import type { Facts, PlanNode } from "../../api/types";
import { ErrorNote, Loading } from "../../components/notes";
import { Tree } from "../../components/tree";
import { count, seconds } from "../../logic/numbers";

export function ExplainView(props: { text: string; facts: Facts }) {
  const [analyze, setAnalyze] = useState(true);
  const [plan, setPlan] = useState<PlanNode | null>(null);
  const [text, setText] = useState("");
  const [error, fail] = useState<unknown>(null);
  useEffect(() => {
    const stop = new AbortController();
    setPlan(null);
    fail(null);
    explain(props.text, props.facts, analyze, stop.signal).then(
      (answer) => {
        setPlan(answer.plan);
        setText(answer.text);
      },
      (problem: unknown) => !isAbort(problem) && fail(problem),
    );
    return () => stop.abort();
  }, [props.text, props.facts, analyze]);
  return (
    <div class="stack panel-body">
      <label class="row">
        <input
          type="checkbox"
          checked={analyze}
          onChange={(event) => setAnalyze(event.currentTarget.checked)}
        />
        Run the query, and show rows and times
      </label>
      {error ? <ErrorNote error={error} /> : null}
      {!plan && !error && <Loading what="the plan" />}
      {plan && <PlanTree plan={plan} />}
      {text && (
        <details>
          <summary>As text</summary>
          <pre class="raw" tabIndex={0}>
            {text}
          </pre>
        </details>
      )}
    </div>
  );
}

/** The steps of a plan; a bar shows the share of each in the time. */
export function PlanTree({ plan }: { plan: PlanNode }) {
  const longest = useMemo(() => Math.max(...flat(plan).map((node) => node.seconds ?? 0)), [plan]);
  const keys = useMemo(() => new Map(flat(plan).map((node, index) => [node, `${index}`])), [plan]);
  return (
    <Tree
      label="Plan"
      version={plan}
      unfolded={50}
      keyOf={(node) => keys.get(node) ?? ""}
      hasChildren={(node: PlanNode) => node.children.length > 0}
      load={(node) => ({ items: node ? node.children : [plan], more: false })}
      render={(node) => <PlanStep node={node} longest={longest} />}
    />
  );
}

function PlanStep({ node, longest }: { node: PlanNode; longest: number }) {
  const share = longest > 0 && node.seconds ? node.seconds / longest : 0;
  return (
    <span class="plan-step">
      <span class="plan-label">
        <strong>{node.label}</strong> {node.detail && <code>{node.detail}</code>}
      </span>
      <span class="plan-numbers">
        {node.rows !== undefined && node.rows !== null && (
          <span title="rows that this step gave">{count(node.rows)} rows</span>
        )}
        {node.estimated !== undefined && node.estimated !== null && (
          <span class={isFarOff(node) ? "warn-text" : "muted"} title="rows that were estimated">
            ~{count(Math.round(node.estimated))}
          </span>
        )}
        {node.seconds !== undefined && node.seconds !== null && (
          <span class="plan-time">
            <span class="plan-bar" style={{ width: `${Math.round(40 * share)}px` }} />
            {seconds(node.seconds)}
          </span>
        )}
      </span>
    </span>
  );
}

/** Whether the estimate was wrong by more than a factor of ten. */
function isFarOff(node: PlanNode): boolean {
  const [rows, estimated] = [node.rows ?? null, node.estimated ?? null];
  if (rows === null || estimated === null) return false;
  const factor = (estimated + 1) / (rows + 1);
  return factor > 10 || factor < 0.1;
}

function flat(node: PlanNode): PlanNode[] {
  return [node, ...node.children.flatMap(flat)];
}

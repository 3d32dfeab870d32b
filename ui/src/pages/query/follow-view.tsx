/** A result that follows the store: after each commit the rows that came are marked. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { address, errorOf } from "../../api/client";
import type { Facts } from "../../api/types";
import { Empty, ErrorNote, Loading } from "../../components/notes";
import { followed, NOTHING, type Followed, type RowsEvent } from "../../logic/following";
import { counted } from "../../logic/numbers";
import { withShort } from "../../logic/shortening";
import { prefixes, store } from "../../state";
import { GridTable, type Grid } from "./table-view";

type Standing = "opening" | "open" | "broken";

export function FollowView(props: { text: string; facts: Facts; byLabel: boolean }) {
  const [state, setState] = useState<Followed>(NOTHING);
  const [standing, setStanding] = useState<Standing>("opening");
  const [error, fail] = useState<unknown>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    setState(NOTHING);
    setStanding("opening");
    fail(null);
    const source = new EventSource(
      address("subscribe", {
        query: props.text,
        ...(props.facts === "all" ? {} : { facts: props.facts }),
      }),
    );
    const take = (event: MessageEvent<string>) => {
      setStanding("open");
      setState((before) => followed(before, JSON.parse(event.data) as RowsEvent));
    };
    source.addEventListener("rows", take);
    // Too much happened since the last event: all rows are asked for again.
    source.addEventListener("lost", () => setAttempt((count) => count + 1));
    source.addEventListener("failed", (event: MessageEvent<string>) => {
      source.close();
      fail(new Error((JSON.parse(event.data) as { message: string }).message));
    });
    source.addEventListener("open", () => setStanding("open"));
    source.addEventListener("error", () => {
      if (source.readyState !== EventSource.CLOSED) setStanding("broken");
      else void reasonOf(source.url).then(fail);
    });
    return () => source.close();
  }, [props.text, props.facts, attempt]);

  const grid = useMemo<Grid>(
    () => ({
      names: state.vars,
      rows: state.rows.map(({ row }) => row.map((term) => term && withShort(term, prefixes()))),
      inferred: null,
    }),
    [state, store.value],
  );
  if (error) {
    return (
      <div class="panel-body">
        <ErrorNote error={error} title="The result cannot be followed" />
      </div>
    );
  }
  if (standing === "opening") return <Loading what="the rows" />;
  return (
    <>
      <p class="follow-state" role="status">
        <span class={`dot ${standing}`} aria-hidden="true" />
        {standing === "open" ? "Following the store" : "The connection broke; trying again"}
        <span class="muted">
          {" "}
          · commit {state.commit} · {counted(state.rows.length, "row")}
          {state.added + state.removed > 0 && ` · last change +${state.added} −${state.removed}`}
        </span>
      </p>
      {state.rows.length === 0 ? (
        <Empty title="No rows now">They appear here as soon as a commit brings them.</Empty>
      ) : (
        <GridTable
          grid={grid}
          byLabel={props.byLabel}
          label="Rows that follow the store"
          rowClass={(row) => (isNew(state, row) ? "added" : "")}
        />
      )}
    </>
  );
}

/** Whether the last commit brought a row; at first all rows are old. */
function isNew(state: Followed, row: number): boolean {
  const { since } = state.rows[row] ?? { since: 0 };
  return since === state.commit && state.added < state.rows.length;
}

/** An event source does not say why it was refused: the same address does. */
async function reasonOf(url: string): Promise<unknown> {
  const stop = new AbortController();
  try {
    const response = await fetch(url, { signal: stop.signal });
    if (response.ok) return new Error("The server ended the subscription.");
    return errorOf(response.status, await response.text());
  } catch (error) {
    return error;
  } finally {
    stop.abort();
  }
}

/** The queries that run in the server: a dialog in which each can be stopped. */

import { useEffect, useState } from "preact/hooks";
import { messageOf, runningQueries, stopQuery } from "../../api/client";
import type { RunningQuery } from "../../api/types";
import { Dialog } from "../../components/dialog";
import { Empty, ErrorNote } from "../../components/notes";
import { toast } from "../../components/toast";
import { counted, seconds } from "../../logic/numbers";

const EVERY = 1000;

export function QueriesDialog(props: { open: boolean; onClose: () => void }) {
  const [queries, setQueries] = useState<RunningQuery[]>([]);
  const [error, fail] = useState<unknown>(null);
  const look = async () => {
    try {
      setQueries(await runningQueries());
      fail(null);
    } catch (problem) {
      fail(problem);
    }
  };
  useEffect(() => {
    if (!props.open) return;
    void look();
    const timer = setInterval(() => void look(), EVERY);
    return () => clearInterval(timer);
  }, [props.open]);
  const end = async (query: RunningQuery) => {
    try {
      await stopQuery(query.id);
      toast("The query was stopped", "good");
    } catch (problem) {
      toast(messageOf(problem), "bad");
    }
    await look();
  };
  return (
    <Dialog title="Running queries" wide open={props.open} onClose={props.onClose}>
      {error ? <ErrorNote error={error} /> : null}
      {queries.length === 0 ? (
        <Empty title="No query runs now" />
      ) : (
        <ul class="history">
          {queries.map((query) => (
            <li key={query.id} class="running-query">
              <div class="grow">
                <pre>{query.text.trim()}</pre>
                <span class="muted small">
                  {seconds(query.seconds)}
                  {query.user && ` · ${query.user}`}
                  {query.rows !== undefined && query.rows !== null &&
                    ` · ${counted(query.rows, "row")}`}
                </span>
              </div>
              <button type="button" class="button danger" onClick={() => void end(query)}>
                Stop
              </button>
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}

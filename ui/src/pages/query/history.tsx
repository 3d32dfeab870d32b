/** The queries asked before: a dialog with a filter. */

import { useMemo, useState } from "preact/hooks";
import { Dialog } from "../../components/dialog";
import { Empty } from "../../components/notes";
import { counted, seconds } from "../../logic/numbers";
import { asked, forgetAll, openTab, type Asked } from "./tabs";

export function HistoryDialog(props: { open: boolean; onClose: () => void }) {
  const [filter, setFilter] = useState("");
  const entries = useMemo(() => {
    const wanted = filter.toLowerCase();
    return asked.value.filter((entry) => entry.text.toLowerCase().includes(wanted));
  }, [filter, asked.value]);
  const choose = (entry: Asked) => {
    openTab(entry.text);
    props.onClose();
  };
  return (
    <Dialog title="Queries asked before" wide open={props.open} onClose={props.onClose}>
      <div class="row">
        <input
          class="grow"
          aria-label="Filter"
          placeholder="Filter"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
        <button type="button" class="button" onClick={forgetAll} disabled={!asked.value.length}>
          Forget all
        </button>
      </div>
      {entries.length === 0 ? (
        <Empty title={filter ? "No query contains this" : "No queries yet"} />
      ) : (
        <ul class="history">
          {entries.map((entry) => (
            <li key={entry.when}>
              <button type="button" class="history-entry" onClick={() => choose(entry)}>
                <pre>{entry.text.trim()}</pre>
                <span class="muted small">
                  {new Date(entry.when).toLocaleString()}
                  {entry.failed
                    ? " · failed"
                    : ` · ${counted(entry.rows ?? 0, "row")} in ${seconds(entry.seconds ?? 0)}`}
                  {entry.facts !== "all" &&
                    ` · ${entry.facts === "explicit" ? "asserted" : "inferred"} facts`}
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}

/** Below the editor: run and stop, the facts that are asked, limits. */

import { useEffect, useState } from "preact/hooks";
import type { Facts } from "../../api/types";
import { Segmented } from "../../components/controls";
import { keyNames } from "../../components/help";
import { seconds } from "../../logic/numbers";
import { outcomes, run, stop } from "./running";
import { active, options, type Options } from "./tabs";

const FACTS: { value: Facts; label: string; title: string }[] = [
  { value: "all", label: "All", title: "Asserted and inferred facts" },
  { value: "explicit", label: "Asserted", title: "Only what was stated" },
  { value: "inferred", label: "Inferred", title: "Only what rules imply" },
];
const LIMITS = [1000, 10_000, 100_000];

function change(part: Partial<Options>): void {
  options.value = { ...options.value, ...part };
}

export function Toolbar() {
  const tab = active.value;
  const running = outcomes.value[tab.id]?.running;
  const { facts, timeout, budget, limit, marked } = options.value;
  return (
    <div class="query-tools">
      {running ? (
        <button type="button" class="button danger run" onClick={() => stop(tab.id)}>
          <span class="stop-sign" aria-hidden="true" /> Stop <Elapsed since={running.since} />
        </button>
      ) : (
        <button
          type="button"
          class="button primary run"
          title={keyNames("mod+Enter").join(" ")}
          onClick={() => void run(tab)}
          disabled={tab.text.trim() === ""}
        >
          <span class="run-sign" aria-hidden="true" /> Run
        </button>
      )}
      <Segmented
        label="Facts"
        value={facts}
        choices={FACTS}
        onChange={(value) => change({ facts: value })}
      />
      <details class="query-limits">
        <summary>
          Limits
          <span class="muted">{limitsText(options.value)}</span>
        </summary>
        <div class="row">
          <label class="field inline">
            Seconds
            <NumberField value={timeout} onChange={(value) => change({ timeout: value })} />
          </label>
          <label class="field inline">
            Memory, MB
            <NumberField value={budget} onChange={(value) => change({ budget: value })} />
          </label>
          <label class="field inline">
            Rows at once
            <select
              value={limit}
              onChange={(event) => change({ limit: Number(event.currentTarget.value) })}
            >
              {LIMITS.map((each) => (
                <option key={each} value={each}>
                  {each.toLocaleString("en")}
                </option>
              ))}
            </select>
          </label>
          <label class="row">
            <input
              type="checkbox"
              checked={marked}
              onChange={(event) => change({ marked: event.currentTarget.checked })}
            />
            Mark inferred rows
          </label>
        </div>
      </details>
    </div>
  );
}

function limitsText({ timeout, budget }: Options): string {
  const parts = [timeout === null ? "" : `${timeout} s`, budget === null ? "" : `${budget} MB`];
  return parts.filter(Boolean).join(", ");
}

/** A number that may be left empty, for the limit of the server. */
function NumberField(props: { value: number | null; onChange: (value: number | null) => void }) {
  return (
    <input
      class="number-field"
      type="number"
      min="0"
      step="any"
      placeholder="server's"
      value={props.value ?? ""}
      onChange={(event) => {
        const value = event.currentTarget.valueAsNumber;
        props.onChange(value > 0 ? value : null);
      }}
    />
  );
}

function Elapsed({ since }: { since: number }) {
  const [now, setNow] = useState(performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 100);
    return () => clearInterval(timer);
  }, []);
  const passed = Math.max((now - since) / 1000, 0);
  return <span class="number">{passed >= 0.3 ? seconds(passed) : ""}</span>;
}

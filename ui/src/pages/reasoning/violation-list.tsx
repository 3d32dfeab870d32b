/** All violations, by pages, each with its proof. */

import { useEffect, useState } from "preact/hooks";
import { messageOf } from "../../api/client";
import { report, type Report, type ViolationData } from "../../api/ontology";
import { Empty } from "../../components/notes";
import { toast } from "../../components/toast";
import { count } from "../../logic/numbers";
import { ViolationLine } from "../../preview/violation-line";
import { askWhy } from "../../proofs/why-dialog";

export function ViolationList({ found }: { found: Report }) {
  const { total } = found.violations;
  const [items, setItems] = useState<ViolationData[]>(found.violations.items);
  const [busy, setBusy] = useState(false);
  useEffect(() => setItems(found.violations.items), [found]);
  if (total === 0) {
    return (
      <Empty title="No violations">
        {found.constraint_count > 0
          ? "All constraints in force hold."
          : "No constraints are in force."}
      </Empty>
    );
  }
  const more = async () => {
    setBusy(true);
    try {
      const part = await report(false, items.length);
      setItems([...items, ...part.violations.items]);
    } catch (error) {
      toast(messageOf(error), "bad");
    }
    setBusy(false);
  };
  return (
    <div class="stack">
      <ul class="violation-list">
        {items.map((violation, index) => (
          <li key={violation.number ?? index} class="violation-item">
            <code class="rule-id">{violation.constraint}</code>
            <span>
              <ViolationLine violation={violation} />
            </span>
            <button
              type="button"
              class="button small"
              onClick={() =>
                askWhy({ violation: violation.number ?? index, text: violation.text })
              }
            >
              why
              <span class="hidden"> is {violation.text} a violation?</span>
            </button>
          </li>
        ))}
      </ul>
      {items.length < total && (
        <div class="row">
          <button type="button" class="button" disabled={busy} onClick={() => void more()}>
            Show more
          </button>
          <span class="muted small">
            {count(items.length)} of {count(total)}
          </span>
        </div>
      )}
    </div>
  );
}

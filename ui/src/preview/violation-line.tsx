/** A violation: its constraint, its message, and the values it is about. */

import type { ViolationData } from "../api/ontology";
import { TermLink } from "../components/term";
import { byLabel } from "../naming";

export function ViolationLine({ violation }: { violation: ViolationData }) {
  return (
    <span class="violation">
      <span class="violation-message">{violation.message || violation.constraint}</span>
      <span class="rule-values">
        {Object.entries(violation.bindings).map(([name, term]) => (
          <span key={name}>
            <code>?{name}</code> = <TermLink term={term} byLabel={byLabel()} />
          </span>
        ))}
      </span>
    </span>
  );
}

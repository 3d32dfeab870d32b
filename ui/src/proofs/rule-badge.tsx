/** A rule by its id; its text and values unfold below it. Also a fact in one line. */

import { useId, useState } from "preact/hooks";
import type { Fact, RuleData } from "../api/resource";
import type { Term } from "../api/types";
import { LinkedText } from "../components/linked-text";
import { TermLink } from "../components/term";
import { byLabel } from "../naming";
import { propertyText } from "../logic/proof";

interface RuleBadgeProps {
  rule: RuleData;
  values?: Record<string, Term> | undefined;
}

export function RuleBadge({ rule, values }: RuleBadgeProps) {
  const [open, setOpen] = useState(false);
  const details = useId();
  return (
    <>
      <button
        type="button"
        class="rule-badge"
        aria-expanded={open}
        aria-controls={open ? details : undefined}
        title={rule.text}
        onClick={() => setOpen(!open)}
      >
        <span class="hidden">{rule.kind} </span>
        {rule.id || rule.kind}
      </button>
      {open && (
        <div class="rule-details" id={details}>
          {rule.label && rule.label !== rule.id && <p>{rule.label}</p>}
          <p class="rule-text">
            <LinkedText text={rule.text} />
          </p>
          {values && Object.keys(values).length > 0 && <Values values={values} />}
          {rule.source && <p class="muted small">{rule.source}</p>}
        </div>
      )}
    </>
  );
}

/** The values of the variables of a rule. */
export function Values({ values }: { values: Record<string, Term> }) {
  return (
    <ul class="rule-values">
      {Object.entries(values).map(([name, term]) => (
        <li key={name}>
          <code>?{name}</code> = <TermLink term={term} byLabel={byLabel()} />
        </li>
      ))}
    </ul>
  );
}

/** A fact in one line, each term with its link. */
export function FactLine({ fact }: { fact: Fact }) {
  const labels = byLabel();
  const [subject, property, object] = fact;
  const isType = propertyText(property, false) === "a";
  return (
    <span class="fact-line">
      <TermLink term={subject} byLabel={labels} />{" "}
      <span class="fact-property">
        <TermLink term={isType ? { ...property, short: "a", label: "a" } : property} byLabel={labels} />
      </span>{" "}
      <TermLink term={object} byLabel={labels} />
    </span>
  );
}

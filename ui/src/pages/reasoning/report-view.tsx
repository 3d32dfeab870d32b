/** The report: what is in force, what lies outside of it, and warnings. */

import type { Report } from "../../api/ontology";
import { LinkedText } from "../../components/linked-text";
import { Empty, Note } from "../../components/notes";
import { InferredMark } from "../../components/term";
import { count, counted } from "../../logic/numbers";
import { byReason } from "../../logic/shortening";
import { href } from "../../router";
import "../../preview/preview.css";

export function ReportView({ found }: { found: Report }) {
  if (found.rule_count + found.constraint_count === 0) {
    return (
      <Empty title="Nothing is inferred in this store">
        Put a regime in force on the <a href={href("store")}>Store</a> page, or write rules in the{" "}
        <a href={href("reasoning/editor")}>editor</a>.
      </Empty>
    );
  }
  const { total } = found.violations;
  return (
    <div class="stack report">
      <dl class="figures">
        <Figure name="Regimes" value={found.regimes.join(", ") || "none"} />
        <Figure name="Asserted facts" value={count(found.explicit)} />
        <div class="figure inferred">
          <dt>
            <InferredMark /> Inferred facts
          </dt>
          <dd>{count(found.inferred)}</dd>
        </div>
        <Figure name="Rules" value={count(found.rule_count)} />
        <Figure name="Constraints" value={count(found.constraint_count)} />
        {found.axioms !== undefined && <Figure name="Axioms used" value={count(found.axioms)} />}
      </dl>
      {total === 0 ? (
        <Note kind="good">No constraint is violated.</Note>
      ) : (
        <div class="note bad">
          <p>
            <strong>{counted(total, "violation")}</strong> of{" "}
            {Object.entries(found.violations.by_constraint).map(([name, number], index) => (
              <span key={name}>
                {index > 0 && ", "}
                <code>{name}</code>
                {Object.keys(found.violations.by_constraint).length > 1 && ` (${count(number)})`}
              </span>
            ))}
            . <a href={href("reasoning/violations")}>See them with their proofs</a>
          </p>
        </div>
      )}
      <Texts title="Warnings" texts={found.warnings} kind="warn" />
      <Texts title="Problems in axioms" texts={found.problems ?? []} kind="warn" />
      <Texts title="Imports that were not found" texts={found.unresolved ?? []} kind="warn" />
      <Outside found={found} />
    </div>
  );
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Texts(props: { title: string; texts: string[]; kind: "warn" }) {
  if (props.texts.length === 0) return null;
  return (
    <section class={`note ${props.kind}`}>
      <h2>{props.title}</h2>
      <ul class="plain-texts">
        {props.texts.map((text) => (
          <li key={text}>
            <LinkedText text={text} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Outside({ found }: { found: Report }) {
  const groups = byReason(found.outside, found.outside_reasons);
  if (groups.length === 0) {
    return found.regimes.length > 0 ? (
      <p class="muted">All axioms are inside of the regimes in force.</p>
    ) : null;
  }
  const all = found.outside_count ?? found.outside.length;
  return (
    <section class="outside">
      <h2>Outside of the regimes</h2>
      <p class="muted small">
        {counted(all, "axiom has", "axioms have")} a part that the regimes in force do not use.
        {all > found.outside.length && ` ${count(found.outside.length)} of them are shown.`}
      </p>
      {groups.map((group, index) => (
        <details key={group.reason} open={index === 0 && group.axioms.length <= 20}>
          <summary>
            {group.reason || "Others"} <span class="badge">{count(group.count)}</span>
          </summary>
          <ul>
            {group.axioms.map((axiom) => (
              <li key={axiom} class="axiom">
                <LinkedText text={axiom} />
              </li>
            ))}
          </ul>
        </details>
      ))}
    </section>
  );
}

/** The rules in force by id: how many there are of each, and what they infer. */

import { useState } from "preact/hooks";
import type { RuleEntry } from "../../api/ontology";
import { LinkedText } from "../../components/linked-text";
import { Empty } from "../../components/notes";
import { count, counted } from "../../logic/numbers";

interface RuleListProps {
  rules: RuleEntry[];
  busy: boolean;
  onCount: () => void;
}

export function RuleList({ rules, busy, onCount }: RuleListProps) {
  const [text, setText] = useState("");
  const wanted = text.trim().toLowerCase();
  const fits = (rule: RuleEntry) =>
    rule.id.toLowerCase().includes(wanted) || (rule.text ?? "").toLowerCase().includes(wanted);
  const shown = wanted ? rules.filter(fits) : rules;
  const isCounted = rules.some((rule) => rule.inferred !== undefined);
  const groups = [
    { title: "Rules of users", rules: shown.filter((rule) => rule.user) },
    { title: "Rules of the regimes", rules: shown.filter((rule) => !rule.user) },
  ].filter((group) => group.rules.length > 0);
  if (rules.length === 0) return <Empty title="No rules are in force" />;
  return (
    <div class="stack">
      <div class="row">
        <label class="field inline grow">
          <span class="hidden">Rules with this text</span>
          <input
            type="search"
            class="grow"
            placeholder="Filter by id or text"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        {!isCounted && (
          <button
            type="button"
            class="button"
            disabled={busy}
            title="Evaluates all rules once"
            onClick={onCount}
          >
            {busy ? "Counting …" : "Count what each infers"}
          </button>
        )}
      </div>
      {groups.length === 0 && <Empty title="No rule has this text" />}
      {groups.map((group) => (
        <section key={group.title}>
          <h2 class="rules-title">{group.title}</h2>
          <ul class="rules">
            {group.rules.map((rule) => (
              <RuleLine key={`${rule.kind} ${rule.id}`} rule={rule} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

function RuleLine({ rule }: { rule: RuleEntry }) {
  return (
    <li class="rule">
      <div class="rule-head">
        <code class="rule-id">{rule.id}</code>
        {rule.kind === "constraint" && <span class="badge">constraint</span>}
        {rule.count > 1 && <span class="muted small">{counted(rule.count, rule.kind)}</span>}
        {rule.inferred !== undefined && (
          <span class="badge inferred" title="facts that it infers">
            ◆ {count(rule.inferred)}
            <span class="hidden"> inferred</span>
          </span>
        )}
      </div>
      {rule.text && (
        <p class="rule-text">
          {rule.count > 1 && <span class="muted">such as </span>}
          <LinkedText text={withoutName(rule.text)} />
        </p>
      )}
    </li>
  );
}

/** The text of a rule without its name, which stands above it. */
function withoutName(text: string): string {
  return text.replace(/^(rule|constraint) "(?:[^"\\]|\\.)*"\s+/, "");
}

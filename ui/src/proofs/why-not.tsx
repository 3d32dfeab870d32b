/** Why a fact does not hold: the rules that could conclude it, and what each lacks. */

import type { Attempt, Item, NotHeld } from "../api/resource";
import { LinkedText } from "../components/linked-text";
import { Empty } from "../components/notes";
import { counted } from "../logic/numbers";
import { FactLine, RuleBadge, Values } from "./rule-badge";
import "./proofs.css";

export function WhyNotView({ found }: { found: NotHeld }) {
  return (
    <div class="proof">
      {found.fact && (
        <p>
          <FactLine fact={found.fact} /> <strong class="bad-text">does not hold.</strong>
        </p>
      )}
      {found.reasons.length === 0 ? (
        <Empty title="No rule could conclude it">
          {found.rules === 0
            ? "It is not asserted, and no rule in force has such a conclusion."
            : found.text}
        </Empty>
      ) : (
        <>
          <p class="muted">
            {counted(found.rules, "rule")} could conclude it. The nearest:
          </p>
          <ol class="attempts">
            {found.reasons.map((attempt, index) => (
              <li key={index}>
                <AttemptView attempt={attempt} />
              </li>
            ))}
          </ol>
        </>
      )}
      {found.outside.length > 0 && (
        <div class="note warn">
          <p>Some axioms about it are outside of the regimes in force, so no rule was made of them:</p>
          <ul class="plain-list">
            {found.outside.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

function AttemptView({ attempt }: { attempt: Attempt }) {
  return (
    <div class="attempt">
      <div class="row">
        <RuleBadge rule={attempt.rule} />
        {attempt.ways > 1 && (
          <span class="muted small">{counted(attempt.ways, "way")} to match its first conditions</span>
        )}
      </div>
      <ul class="conditions">
        {attempt.matched.map((item, index) => (
          <Line key={`m${index}`} kind="met" item={item} />
        ))}
        <Line kind="missing" item={attempt.missing} note={attempt.missing.explanation} />
        {attempt.in_the_way.map((item, index) => (
          <Line key={`w${index}`} kind="blocking" item={item} />
        ))}
        {attempt.left.map((item, index) => (
          <Line key={`l${index}`} kind="unchecked" item={item} />
        ))}
      </ul>
      {Object.keys(attempt.values).length > 0 && <Values values={attempt.values} />}
    </div>
  );
}

/** An explanation without the text that stands before it. */
function shortNote(note: string, text: string): string {
  return note.replace(text, "").replace(/[:\s]+$/, "").trim();
}

const SIGNS = { met: "✓", missing: "✗", blocking: "!", unchecked: "·" };
const TEXTS = { met: "holds", missing: "missing", blocking: "stands in the way", unchecked: "not checked" };

function Line(props: { kind: keyof typeof SIGNS; item: Item; note?: string }) {
  return (
    <li class={`condition ${props.kind}`}>
      <span class="condition-sign" aria-hidden="true">
        {SIGNS[props.kind]}
      </span>
      <span>
        <span class="hidden">{TEXTS[props.kind]}: </span>
        {props.item.fact ? <FactLine fact={props.item.fact} /> : (
          <span class="rule-text">
            <LinkedText text={props.item.text} />
          </span>
        )}
        {props.note && <span class="muted"> {shortNote(props.note, props.item.text)}</span>}
        {!props.note && props.kind !== "met" && <span class="muted"> {TEXTS[props.kind]}</span>}
      </span>
    </li>
  );
}

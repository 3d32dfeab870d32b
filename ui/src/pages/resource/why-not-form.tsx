/** *Why not?* for a triple that one types in. */

import { useState } from "preact/hooks";
import { useAnswer } from "../../answers";
import { why } from "../../api/resource";
import type { Term } from "../../api/types";
import { ErrorNote, Loading } from "../../components/notes";
import { TermInput } from "../../components/term-input";
import { typedForRequest } from "../../logic/proof";
import { named, ntriples } from "../../logic/terms";
import { ProofView } from "../../proofs/proof-view";

interface Asked {
  s: string;
  p: string;
  o: string;
}

export function WhyNotForm({ subject }: { subject: Term }) {
  const [property, setProperty] = useState("a");
  const [object, setObject] = useState("");
  const [asked, setAsked] = useState<Asked | null>(null);
  const answer = useAnswer(
    asked && ((signal) => why(asked.s, asked.p, asked.o, signal)),
    [asked],
    true,
  );
  const submit = (event: Event) => {
    event.preventDefault();
    if (!property.trim() || !object.trim()) return;
    setAsked({
      s: ntriples(subject),
      p: typedForRequest(property, "property"),
      o: typedForRequest(object, "object"),
    });
  };
  return (
    <section class="panel" aria-labelledby="why-not">
      <div class="panel-head">
        <h2 id="why-not">Why not?</h2>
      </div>
      <div class="panel-body stack">
        <p class="muted small">
          Type a fact that you expected of {named(subject)}: you see which rule is nearest to it,
          and what is missing.
        </p>
        <form class="why-not-form" onSubmit={submit}>
          <TermInput
            label="Property"
            kind="property"
            value={property}
            onChange={setProperty}
            placeholder="a, or a name"
          />
          <TermInput
            label="Object"
            value={object}
            onChange={setObject}
            placeholder='Name, IRI, "text" or number'
          />
          <button type="submit" class="button" disabled={!property.trim() || !object.trim()}>
            Why not?
          </button>
        </form>
        {answer.error ? (
          <ErrorNote error={answer.error} />
        ) : asked && answer.value ? (
          <div class="why-not-answer" aria-live="polite">
            {answer.value.holds && <p class="good-text">It holds.</p>}
            <ProofView found={answer.value} />
          </div>
        ) : (
          asked && <Loading what="the rules" />
        )}
      </div>
    </section>
  );
}

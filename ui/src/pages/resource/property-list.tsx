/** The values of one property of a resource, a page at a time. */

import { useEffect, useRef, useState } from "preact/hooks";
import { messageOf } from "../../api/client";
import { values as askValues, type Direction, type Fact, type Value, type Values } from "../../api/resource";
import type { Term } from "../../api/types";
import { InferredMark, TermLink } from "../../components/term";
import { count } from "../../logic/numbers";
import { propertyText } from "../../logic/proof";
import { ntriples } from "../../logic/terms";
import { byLabel } from "../../naming";
import { WhyButton } from "../../proofs/why-dialog";
import { href } from "../../router";

/** How many values each *show more* adds. */
const PAGE = 100;

interface PropertyListProps {
  subject: Term;
  group: Values;
  direction: Direction;
}

export function PropertyList({ subject, group, direction }: PropertyListProps) {
  const [shown, setShown] = useState<Value[]>(group.values);
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => {
    setShown(group.values);
    return () => stop.current?.abort();
  }, [group]);
  const left = group.count - shown.length;
  const more = async () => {
    setBusy(true);
    stop.current = new AbortController();
    try {
      const [term, property] = [ntriples(subject), ntriples(group.property)];
      const { signal } = stop.current;
      const part = await askValues(term, property, direction, shown.length, PAGE, signal);
      setShown([...shown, ...part.values]);
      setError("");
    } catch (problem) {
      setError(messageOf(problem));
    }
    setBusy(false);
  };
  const factOf = (value: Value): Fact =>
    direction === "out"
      ? [subject, group.property, value.term]
      : [value.term, group.property, subject];
  const inferred = group.count - group.asserted;
  return (
    <div class="property">
      <div class="property-name">
        <PropertyName term={group.property} direction={direction} />
        {group.count > 1 && <span class="badge">{count(group.count)}</span>}
        {inferred > 0 && group.count > 1 && (
          <span class="badge inferred" title={`${count(inferred)} inferred`}>
            ◆ {count(inferred)}
          </span>
        )}
      </div>
      <div>
        <ul class="values">
          {shown.map((value) => (
            <li key={ntriples(value.term)} class="value">
              <TermLink term={value.term} byLabel={byLabel()} />
              {value.inferred && (
                <span class="marks">
                  <InferredMark /> <WhyButton fact={factOf(value)} />
                </span>
              )}
              {value.graphs?.map((graph) => (
                <span key={ntriples(graph)} class="value-graph" title="named graph">
                  in <TermLink term={graph} byLabel={byLabel()} />
                </span>
              ))}
            </li>
          ))}
        </ul>
        {left > 0 && (
          <button type="button" class="button quiet small more-button" disabled={busy} onClick={() => void more()}>
            {left > PAGE ? `Show ${PAGE} more of ${count(left)}` : `Show ${count(left)} more`}
            <span class="hidden"> values of {propertyText(group.property, byLabel())}</span>
          </button>
        )}
        {error && <p class="bad-text small">{error}</p>}
      </div>
    </div>
  );
}

function PropertyName({ term, direction }: { term: Term; direction: Direction }) {
  if (propertyText(term, false) === "a") {
    return (
      <a class="term uri" href={href("resource", { term: ntriples(term) })} title={String(term.value)}>
        {byLabel() ? (direction === "out" ? "type" : "type of") : "rdf:type"}
      </a>
    );
  }
  return <TermLink term={term} byLabel={byLabel()} />;
}

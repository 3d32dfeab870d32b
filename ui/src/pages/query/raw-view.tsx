/** The answer as the server writes it, in a chosen format. */

import { useEffect, useState } from "preact/hooks";
import { isAbort } from "../../api/client";
import type { Facts, QueryAnswer } from "../../api/types";
import { Segmented } from "../../components/controls";
import { ErrorNote, Loading, Note } from "../../components/notes";
import { answered, beginning, formatsOf } from "./formats";

const MOST = 300_000;

export function RawView(props: { text: string; facts: Facts; kind: QueryAnswer["kind"] }) {
  const formats = formatsOf(props.kind).filter((format) => format.text);
  const [name, setName] = useState(formats[0]!.name);
  const [shown, show] = useState<{ text: string; whole: boolean } | null>(null);
  const [error, fail] = useState<unknown>(null);
  const format = formats.find((each) => each.name === name) ?? formats[0]!;
  useEffect(() => {
    const stop = new AbortController();
    show(null);
    fail(null);
    answered(props.text, props.facts, format.mediaType, stop.signal)
      .then((response) => beginning(response, MOST))
      .then(show, (problem: unknown) => !isAbort(problem) && fail(problem));
    return () => stop.abort();
  }, [props.text, props.facts, format]);
  return (
    <div class="stack panel-body">
      <div class="row">
        <Segmented
          label="Format"
          value={format.name}
          choices={formats.map((each) => ({ value: each.name, label: each.name }))}
          onChange={setName}
        />
        <span class="muted small mono">{format.mediaType}</span>
      </div>
      {error ? <ErrorNote error={error} /> : null}
      {!shown && !error && <Loading what="the answer" />}
      {shown && !shown.whole && <Note>Only the beginning is shown; Export saves all of it.</Note>}
      {shown && (
        <pre class="raw" tabIndex={0} role="region" aria-label={`Answer as ${format.name}`}>
          {shown.text}
        </pre>
      )}
    </div>
  );
}

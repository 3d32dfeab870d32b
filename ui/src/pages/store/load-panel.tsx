/** Load a file of any size: sent as a stream, loaded as a job. */

import { useRef, useState } from "preact/hooks";
import { isAbort, messageOf } from "../../api/client";
import { load } from "../../api/jobs";
import { FORMATS } from "../../logic/formats-of-files";
import { formatOf } from "../../logic/preview";
import { bytes } from "../../logic/numbers";
import { watch } from "./jobs";

export function LoadPanel() {
  const [file, setFile] = useState<File | null>(null);
  const [format, setFormat] = useState("");
  const [graph, setGraph] = useState("");
  const [sent, setSent] = useState<number | null>(null);
  const [error, setError] = useState("");
  const stop = useRef<AbortController | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const start = async (event: Event) => {
    event.preventDefault();
    if (!file) return;
    stop.current = new AbortController();
    setError("");
    setSent(0);
    try {
      const iri = graph.trim().replace(/^<|>$/g, "");
      const options = { ...(format ? { format } : {}), ...(iri ? { graph: iri } : {}) };
      const { job } = await load(file, options, setSent, stop.current.signal);
      watch(job);
      setFile(null);
      setFormat("");
      if (field.current) field.current.value = "";
    } catch (problem) {
      if (!isAbort(problem)) setError(messageOf(problem));
    }
    setSent(null);
  };
  return (
    <section class="panel" aria-labelledby="load">
      <div class="panel-head">
        <h2 id="load">Load</h2>
      </div>
      <form class="panel-body form" onSubmit={(event) => void start(event)}>
        <label class="field">
          File
          <input
            ref={field}
            type="file"
            class="file-field"
            onChange={(event) => {
              const chosen = event.currentTarget.files?.[0] ?? null;
              setFile(chosen);
              setFormat(chosen ? formatOf(chosen.name) : "");
              setError("");
            }}
          />
        </label>
        <div class="pair">
          <label class="field">
            Format
            <select value={format} onChange={(event) => setFormat(event.currentTarget.value)}>
              <option value="">by the file's name</option>
              {FORMATS.map((each) => (
                <option key={each.name} value={each.name}>
                  {each.title}
                </option>
              ))}
            </select>
          </label>
          <label class="field">
            Graph
            <input
              type="text"
              placeholder="default graph"
              value={graph}
              onInput={(event) => setGraph(event.currentTarget.value)}
            />
          </label>
        </div>
        {error && (
          <p class="bad-text" role="alert">
            {error}
          </p>
        )}
        <div class="row">
          <button type="submit" class="button primary" disabled={!file || sent !== null}>
            {sent === null ? "Load" : `Sending ${Math.round(sent * 100)} %`}
          </button>
          {sent !== null && (
            <button type="button" class="button" onClick={() => stop.current?.abort()}>
              Stop
            </button>
          )}
          {file && sent === null && <span class="muted small">{bytes(file.size)}</span>}
        </div>
        <p class="muted small">
          One commit; what follows is inferred with it. The <a href="#/change">Change</a> page shows
          the consequences first.
        </p>
      </form>
    </section>
  );
}

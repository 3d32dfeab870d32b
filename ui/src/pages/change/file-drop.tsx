/** Files of a change: dropped or chosen, each with its format and graph. */

import { useState } from "preact/hooks";
import { toast } from "../../components/toast";
import { FORMATS } from "../../logic/formats-of-files";
import { bytes } from "../../logic/numbers";
import { addFiles, changeFile, draft, removeFile, type DraftFile } from "./draft";

export function FileDrop() {
  const [over, setOver] = useState(false);
  const add = async (files: FileList | null | undefined) => {
    for (const problem of await addFiles([...(files ?? [])])) toast(problem, "bad");
  };
  return (
    <div class="stack">
      <label
        class={`drop${over ? " over" : ""}`}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          void add(event.dataTransfer?.files);
        }}
      >
        <input
          type="file"
          multiple
          class="hidden"
          onChange={(event) => {
            const input = event.currentTarget;
            void add(input.files).then(() => (input.value = ""));
          }}
        />
        <span>
          Drop files here, or <u>choose them</u>
        </span>
        <span class="muted small">
          Turtle, N-Triples, N-Quads, TriG, RDF/XML, JSON-LD, N3; also packed with gzip
        </span>
      </label>
      {draft.value.files.length > 0 && (
        <ul class="files">
          {draft.value.files.map((file) => (
            <FileLine key={file.id} file={file} />
          ))}
        </ul>
      )}
    </div>
  );
}

function FileLine({ file }: { file: DraftFile }) {
  return (
    <li class="file">
      <span class="file-name">
        {file.name} <span class="muted small">{bytes(file.size)}</span>
      </span>
      <label class="field inline">
        Format
        <select
          aria-label={`Format of ${file.name}`}
          value={file.format}
          onChange={(event) => changeFile(file.id, { format: event.currentTarget.value })}
        >
          {!file.format && <option value="">choose …</option>}
          {FORMATS.map((format) => (
            <option key={format.name} value={format.name}>
              {format.title}
            </option>
          ))}
        </select>
      </label>
      <label class="field inline">
        Graph
        <input
          type="text"
          class="mono"
          aria-label={`Graph of ${file.name}`}
          placeholder="default graph"
          value={file.graph}
          onInput={(event) => changeFile(file.id, { graph: event.currentTarget.value })}
        />
      </label>
      <button
        type="button"
        class="button quiet icon"
        aria-label={`Leave out ${file.name}`}
        onClick={() => removeFile(file.id)}
      >
        ×
      </button>
    </li>
  );
}

/** A change: typed or from files, previewed with its consequences, then committed or discarded. */

import { Segmented } from "../../components/controls";
import { NamingSwitch } from "../../components/naming-switch";
import { Empty, Note } from "../../components/notes";
import Editor from "../../editor/editor";
import { problemsOf } from "../../logic/places-of-errors";
import { WhyDialog } from "../../proofs/why-dialog";
import { useShortcuts } from "../../shortcuts";
import { mayUpdate, session } from "../../state";
import { draft, type Source } from "./draft";
import { FileDrop } from "./file-drop";
import { Outcome } from "./outcome";
import { usePreview } from "./previewing";
import "../../preview/preview.css";
import "./change.css";

const EXAMPLE = `INSERT DATA { :a :p :b }`;

export default function ChangePage() {
  return (
    <div class="page">
      <div class="page-head">
        <h1>Change</h1>
        <span class="grow" />
        <NamingSwitch />
      </div>
      {session.value?.login && !session.value.user ? (
        <div class="panel">
          <Empty title="Log in to change the store" />
        </div>
      ) : session.value && !mayUpdate() ? (
        <div class="panel">
          <Empty title="This store cannot be changed here">
            {session.value.update
              ? "Your role is to read. Ask an administrator of the server for the role “write”."
              : "The server was started without --allow-update."}
          </Empty>
        </div>
      ) : (
        <Form />
      )}
      <WhyDialog />
    </div>
  );
}

function Form() {
  const preview = usePreview(draft.value);
  useShortcuts([
    { keys: "mod+Enter", what: "Preview the change", run: () => preview.run(), whileTyping: true },
  ]);
  const { source, update } = draft.value;
  return (
    <div class="stack">
      <section class="panel" aria-label="The change">
        <div class="panel-head">
          <Segmented<Source>
            label="Where the change comes from"
            value={source}
            onChange={(value) => (draft.value = { ...draft.value, source: value })}
            choices={[
              { value: "update", label: "Update" },
              { value: "files", label: "Files" },
            ]}
          />
          <span class="muted small">
            {source === "update"
              ? "SPARQL Update. Prefixes of the store are known."
              : "Their facts are added in one commit."}
          </span>
        </div>
        <div class="panel-body stack">
          {source === "update" ? (
            <div class="editor-box">
              <Editor
                value={update}
                onChange={(value) => (draft.value = { ...draft.value, update: value })}
                language="sparql"
                label="Update"
                placeholder={EXAMPLE}
                problems={problemsOf(preview.error)}
                onRun={preview.run}
              />
            </div>
          ) : (
            <FileDrop />
          )}
          <div class="row">
            <button
              type="button"
              class="button primary"
              title="Ctrl-Enter"
              disabled={preview.busy || !preview.possible}
              onClick={preview.run}
            >
              {preview.busy ? "Trying …" : "Preview"}
            </button>
            {preview.busy && (
              <button type="button" class="button" onClick={preview.discard}>
                Stop
              </button>
            )}
            <span class="muted small">A preview writes nothing.</span>
          </div>
        </div>
      </section>
      <Outcome preview={preview} />
      {!preview.found && !preview.error && !preview.busy && (
        <Note>
          The preview shows what is added and removed, what can be inferred then and what no longer,
          and which constraints are violated or hold again.
        </Note>
      )}
    </div>
  );
}

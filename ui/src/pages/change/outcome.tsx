/** What the preview found, with *commit* and *discard*. */

import { useEffect, useRef } from "preact/hooks";
import { ErrorNote, Note } from "../../components/notes";
import { isEmpty } from "../../logic/preview";
import { counted } from "../../logic/numbers";
import { PreviewView } from "../../preview/preview-view";
import type { Previewing } from "./previewing";

export function Outcome({ preview }: { preview: Previewing }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (preview.found) heading.current?.scrollIntoView?.({ block: "nearest" });
  }, [preview.found]);
  if (preview.error) {
    return (
      <div class="stack">
        <ErrorNote
          error={preview.error}
          title={preview.moved ? "The store has changed since the preview" : ""}
        />
        {preview.moved && (
          <div>
            <button type="button" class="button" onClick={preview.run}>
              Preview again
            </button>
          </div>
        )}
      </div>
    );
  }
  if (!preview.found || !preview.change) return null;
  const bad = preview.found.violations.new_count;
  return (
    <section class="panel" aria-labelledby="outcome">
      <div class="panel-head">
        <h2 id="outcome" class="grow" ref={heading}>
          Preview
        </h2>
        <button type="button" class="button" onClick={preview.discard}>
          Discard
        </button>
        {!isEmpty(preview.found) && !preview.found.refused && (
          <button
            type="button"
            class={`button ${bad > 0 ? "danger" : "primary"}`}
            disabled={preview.committing}
            onClick={preview.commit}
          >
            {preview.committing
              ? "Committing …"
              : bad > 0
                ? `Commit with ${counted(bad, "new violation")}`
                : "Commit"}
          </button>
        )}
      </div>
      <div class="panel-body stack">
        {preview.found.refused && (
          <Note kind="warn">
            This store is strict: it refuses changes that bring violations, so this one cannot be
            committed.
          </Note>
        )}
        <PreviewView preview={preview.found} change={preview.change} />
      </div>
    </section>
  );
}

/** Preview, commit and discard of a draft: `usePreview`. */

import { useEffect, useRef, useState } from "preact/hooks";
import { commit, preview, type ChangeRequest, type Preview } from "../../api/change";
import { ApiError, isAbort } from "../../api/client";
import { toast } from "../../components/toast";
import { refreshStore } from "../../state";
import { clearDraft, draft as draftNow, requestOf, type Draft } from "./draft";

export interface Previewing {
  /** What the preview found; it belongs to the draft as it is now. */
  found: Preview | null;
  /** What it was made of. */
  change: ChangeRequest | null;
  error: unknown;
  busy: boolean;
  committing: boolean;
  /** Whether the draft is whole. */
  possible: boolean;
  /** The store has changed since the preview. */
  moved: boolean;
  run: () => void;
  commit: () => void;
  discard: () => void;
}

/** A preview belongs to the text that it was made of: any edit forgets it. */
export function usePreview(draft: Draft): Previewing {
  const [found, setFound] = useState<Preview | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const [committing, setCommitting] = useState(false);
  const stop = useRef<AbortController | null>(null);
  const previewed = useRef<ChangeRequest | null>(null);
  const asked = useRef<Draft | null>(null);

  const discard = () => {
    stop.current?.abort();
    stop.current = null;
    previewed.current = null;
    setFound(null);
    setError(null);
    setBusy(false);
  };
  useEffect(() => {
    if (asked.current !== draft) discard();
  }, [draft]);
  useEffect(() => discard, []);

  const run = async () => {
    const current = draftNow.value; // what was typed last, maybe not drawn yet
    const change = requestOf(current);
    if (!change) return;
    discard();
    asked.current = current;
    const own = new AbortController();
    stop.current = own;
    setBusy(true);
    try {
      const answer = await preview(change, own.signal);
      if (stop.current !== own) return;
      previewed.current = change;
      setFound(answer);
    } catch (problem) {
      if (!isAbort(problem) && stop.current === own) setError(problem);
    }
    if (stop.current === own) setBusy(false);
  };
  const write = async () => {
    if (!found || !previewed.current) return;
    setCommitting(true);
    try {
      const change = await commit(previewed.current, found.commit);
      discard();
      clearDraft();
      toast(`Committed: ${change.text}`, "good");
      for (const problem of change.problems) toast(problem);
      await refreshStore();
    } catch (problem) {
      setFound(null);
      setError(problem);
    }
    setCommitting(false);
  };
  return {
    found,
    change: previewed.current,
    error,
    busy,
    committing,
    possible: requestOf(draft) !== null,
    moved: error instanceof ApiError && error.status === 409,
    run: () => void run(),
    commit: () => void write(),
    discard,
  };
}

/** What a page shows of a request: nothing yet, an answer, or an error. Start at `useAnswer`. */

import { useEffect, useState } from "preact/hooks";
import { ApiError, isAbort } from "./api/client";
import { session } from "./state";

export interface Answer<T> {
  value: T | null;
  error: unknown;
  /** Whether a request is under way; an older answer may be shown meanwhile. */
  busy: boolean;
  again: () => void;
}

/**
 * The answer of a request, asked anew when something of `inputs` changes. `keep` shows the older
 * answer until the newer one is there. Requests that are no longer needed are stopped. After a
 * login it is asked again.
 */
export function useAnswer<T>(
  ask: ((signal: AbortSignal) => Promise<T>) | null,
  inputs: unknown[],
  keep = false,
): Answer<T> {
  const [value, setValue] = useState<T | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(true);
  const [turn, setTurn] = useState(0);
  const user = session.value?.user;
  useEffect(() => {
    const stop = new AbortController();
    if (!keep) setValue(null);
    setError(null);
    if (ask === null) {
      setBusy(false);
      return;
    }
    setBusy(true);
    ask(stop.signal).then(
      (answer) => {
        setValue(() => answer);
        setBusy(false);
      },
      (problem: unknown) => {
        if (isAbort(problem)) return;
        setError(problem);
        setBusy(false);
      },
    );
    return () => stop.abort();
  }, [...inputs, turn, user]);
  useEffect(() => {
    if (error instanceof ApiError && error.status === 401 && user) setTurn(turn + 1);
  }, [session.value]);
  return { value, error, busy, again: () => setTurn(turn + 1) };
}

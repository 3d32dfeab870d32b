/** Small blocks of text in place of content: empty, loading, wrong. */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../api/client";

/** Nothing to show: what is empty, and what to do. */
export function Empty(props: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{props.title}</p>
      {props.children && <div class="empty-text">{props.children}</div>}
    </div>
  );
}

/** A wait; nothing appears for waits under 0.2 s. */
export function Loading(props: { what?: string }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 200);
    return () => clearTimeout(timer);
  }, []);
  return late ? (
    <p class="loading" role="status">
      <span class="spinner" aria-hidden="true" /> Loading{props.what ? ` ${props.what}` : ""} …
    </p>
  ) : null;
}

/** What went wrong, where, and what to do. */
export function ErrorNote(props: { error: unknown; title?: string }) {
  const error = props.error;
  const problem = error instanceof ApiError ? error : null;
  const place = problem?.line
    ? ` (line ${problem.line}${problem.column ? `, column ${problem.column}` : ""})`
    : "";
  return (
    <div class="note bad" role="alert">
      <p>
        {props.title && <strong>{props.title}: </strong>}
        {error instanceof Error ? error.message : String(error)}
        {place}
      </p>
      {problem?.hint && <p class="muted">{problem.hint}</p>}
    </div>
  );
}

/** A remark in a box. */
export function Note(props: { kind?: "plain" | "warn" | "good"; children: ComponentChildren }) {
  return <div class={`note ${props.kind ?? "plain"}`}>{props.children}</div>;
}

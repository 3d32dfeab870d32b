/** Terms on the page: `TermLink` for any term, `InferredMark` for what was inferred. */

import type { Term } from "../api/types";
import { datatypeTag, hasPage, isWebAddress, named, ntriples, shown, valueOf } from "../logic/terms";
import { href } from "../router";

interface TermProps {
  term: Term;
  /** Show the label of the store instead of the prefixed name. */
  byLabel?: boolean;
}

/**
 * A term: IRIs and blank nodes link to their resource page, literals are text with a tag of their
 * language or datatype. The IRI itself is never the target of the link.
 */
export function TermLink({ term, byLabel }: TermProps) {
  if (hasPage(term)) {
    const text = byLabel ? named(term) : shown(term);
    return (
      <a
        class={`term ${term.type}${byLabel && term.label ? " labelled" : ""}`}
        href={href("resource", { term: ntriples(term) })}
        title={titleOf(term)}
      >
        {text}
      </a>
    );
  }
  const tag = datatypeTag(term);
  return (
    <span class={`term ${term.type}`} title={titleOf(term)}>
      {valueOf(term)}
      {tag && <span class="tag">{tag}</span>}
    </span>
  );
}

/** A link out of the page for web addresses; other IRIs are plain text. */
export function OutLink({ value }: { value: string }) {
  return isWebAddress(value) ? (
    <a class="mono" href={value} target="_blank" rel="noopener noreferrer">
      {value}
    </a>
  ) : (
    <span class="mono">{value}</span>
  );
}

/** The mark of inferred facts, the same on every page: a violet diamond with a text. */
export function InferredMark({ text = false }: { text?: boolean }) {
  return (
    <span class="inferred-mark" title="inferred">
      <span aria-hidden="true">◆</span>
      <span class={text ? "" : "hidden"}> inferred</span>
    </span>
  );
}

function titleOf(term: Term): string {
  const full = term.type === "literal" || term.type === "triple" ? ntriples(term) : valueOf(term);
  return term.label ? `${term.label}\n${full}` : full;
}

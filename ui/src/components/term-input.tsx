/** A field for a term that keeps what was typed, with terms of the store to choose from. */

import { useId } from "preact/hooks";
import type { Found, SearchKind } from "../api/types";
import { ntriples } from "../logic/terms";
import { TermCombobox } from "./term-combobox";

interface TermInputProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  kind?: SearchKind;
  placeholder?: string;
}

/** Arrow keys go through the terms found, Enter takes one; without one, Enter sends the form. */
export function TermInput(props: TermInputProps) {
  const id = useId();
  return (
    <div class="field term-input">
      <label for={id}>{props.label}</label>
      <TermCombobox
        value={props.value}
        onInput={props.onChange}
        onTake={(item) => props.onChange(nameOf(item))}
        isOther={(text) => /^["'<]/.test(text)}
        kind={props.kind}
        id={id}
        class="mono"
        placeholder={props.placeholder}
      />
    </div>
  );
}

/** The name of a found term as it is typed: with its prefix, or its whole IRI. */
function nameOf(item: Found): string {
  const short = item.term.short ?? "";
  return /^[\w.-]*:[\w.-]*$/.test(short) ? short : ntriples(item.term);
}

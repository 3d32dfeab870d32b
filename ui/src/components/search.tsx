/** A search for terms by label or IRI, which goes to the one that is taken. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { SearchKind, Term } from "../api/types";
import { ntriples, typedTerm } from "../logic/terms";
import { prefixes } from "../state";
import { TermCombobox } from "./term-combobox";

interface SearchProps {
  /** Called with the chosen term as N-Triples. */
  onChoose: (term: string) => void;
  kind?: SearchKind;
  placeholder?: string;
  /** The id of the field, by which a shortcut gives it the focus. */
  id?: string;
  /** A number that changes when the field is to get the focus. */
  focus?: number;
}

export function TermSearch(props: SearchProps) {
  const [text, setText] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (props.focus) field.current?.focus();
  }, [props.focus]);
  const choose = (term: Term | null) => {
    if (!term) return;
    setText("");
    field.current?.blur();
    props.onChoose(ntriples(term));
  };
  return (
    <TermCombobox
      eager
      value={text}
      onInput={setText}
      onTake={(item) => choose(item.term)}
      onEnter={() => choose(typedTerm(text, prefixes()))}
      kind={props.kind}
      id={props.id}
      class="search-field"
      placeholder={props.placeholder ?? "Search  /"}
      label={props.placeholder ?? "Search terms of the store"}
      field={field}
    />
  );
}

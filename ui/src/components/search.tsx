/** A search for terms by label or IRI: a combobox with the terms found, best first. */

import { useEffect, useId, useRef, useState } from "preact/hooks";
import { isAbort, search } from "../api/client";
import type { Found, SearchKind } from "../api/types";
import { count } from "../logic/numbers";
import { named, ntriples, shown, typedTerm } from "../logic/terms";
import { prefixes } from "../state";

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
  const [found, setFound] = useState<Found[]>([]);
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const field = useRef<HTMLInputElement>(null);
  const list = useId();
  useEffect(() => {
    if (props.focus) field.current?.focus();
  }, [props.focus]);
  useEffect(() => {
    const asked = text.trim();
    if (asked === "") {
      setFound([]);
      return;
    }
    const stop = new AbortController();
    const timer = setTimeout(() => {
      search(asked, props.kind ?? "any", 12, stop.signal).then(
        (items) => {
          setFound(items);
          setActive(items.length > 0 ? 0 : -1);
        },
        (error: unknown) => !isAbort(error) && setFound([]),
      );
    }, 80);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, props.kind]);

  const choose = (item: Found | undefined) => {
    const typed = typedTerm(text, prefixes());
    const term = item ? item.term : typed;
    if (!term) return;
    setText("");
    setOpen(false);
    field.current?.blur();
    props.onChoose(ntriples(term));
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setActive(Math.min(active + 1, found.length - 1));
    else if (event.key === "ArrowUp") setActive(Math.max(active - 1, -1));
    else if (event.key === "Enter") choose(found[active]);
    else if (event.key === "Escape") {
      setOpen(false);
      field.current?.blur();
    } else return;
    event.preventDefault();
  };
  const shownList = open && found.length > 0;
  return (
    <div class="search">
      <input
        ref={field}
        id={props.id}
        type="text"
        class="search-field"
        placeholder={props.placeholder ?? "Search  /"}
        aria-label={props.placeholder ?? "Search terms of the store"}
        role="combobox"
        aria-expanded={shownList}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={shownList && active >= 0 ? `${list}-${active}` : undefined}
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={keys}
      />
      <ul class="search-list" id={list} role="listbox" aria-label="Terms" hidden={!shownList}>
        {found.map((item, index) => (
          <li
            key={ntriples(item.term)}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === active}
            onPointerDown={(event) => {
              event.preventDefault();
              choose(item);
            }}
          >
            <span class="search-name">
              {named({ ...item.term, label: item.label, short: item.short })}
            </span>
            <span class="muted mono">{shown({ ...item.term, short: item.short })}</span>
            <span class="search-kind">
              {item.kind} {count(item.count)}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

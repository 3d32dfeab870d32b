/** A field for a term that keeps what was typed, with terms of the store to choose from. */

import { useEffect, useId, useRef, useState } from "preact/hooks";
import { isAbort, search } from "../api/client";
import type { Found, SearchKind } from "../api/types";
import { named, ntriples, shown } from "../logic/terms";

interface TermInputProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  kind?: SearchKind;
  placeholder?: string;
}

const NOTHING: Found[] = [];

/** Arrow keys go through the terms found, Enter takes one; without one, Enter sends the form. */
export function TermInput(props: TermInputProps) {
  const [found, setFound] = useState<Found[]>(NOTHING);
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const typed = useRef(false);
  const list = useId();
  useEffect(() => {
    const text = props.value.trim();
    if (!typed.current || text.length < 1 || /^["'<]/.test(text)) {
      setFound(NOTHING);
      return;
    }
    const stop = new AbortController();
    const timer = setTimeout(() => {
      search(text, props.kind ?? "any", 8, stop.signal).then(
        (items) => {
          setFound(items);
          setActive(-1);
        },
        (error: unknown) => !isAbort(error) && setFound(NOTHING),
      );
    }, 100);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [props.value]);
  const take = (item: Found) => {
    typed.current = false;
    setOpen(false);
    props.onChange(nameOf(item));
  };
  const shownList = open && found.length > 0;
  const keys = (event: KeyboardEvent) => {
    if (!shownList) return;
    if (event.key === "ArrowDown") setActive(Math.min(active + 1, found.length - 1));
    else if (event.key === "ArrowUp") setActive(Math.max(active - 1, -1));
    else if (event.key === "Enter" && active >= 0) take(found[active]!);
    else if (event.key === "Escape") setOpen(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="field term-input">
      <label for={`${list}-input`}>{props.label}</label>
      <div class="search">
        <input
          id={`${list}-input`}
          type="text"
          class="mono"
          role="combobox"
          autocomplete="off"
          spellcheck={false}
          aria-expanded={shownList}
          aria-controls={list}
          aria-autocomplete="list"
          aria-activedescendant={shownList && active >= 0 ? `${list}-${active}` : undefined}
          placeholder={props.placeholder}
          value={props.value}
          onInput={(event) => {
            typed.current = true;
            setOpen(true);
            props.onChange(event.currentTarget.value);
          }}
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
                take(item);
              }}
            >
              <span class="search-name">{named(item.term)}</span>
              <span class="muted mono">{shown(item.term)}</span>
              <span class="search-kind">{item.kind}</span>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

/** The name of a found term as it is typed: with its prefix, or its whole IRI. */
function nameOf(item: Found): string {
  const short = item.term.short ?? "";
  return /^[\w.-]*:[\w.-]*$/.test(short) ? short : ntriples(item.term);
}

/** A field with the terms of the store that fit its text, best first: `TermCombobox`. */

import type { Ref } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { isAbort, search } from "../api/client";
import type { Found, SearchKind } from "../api/types";
import { count } from "../logic/numbers";
import { named, ntriples, shown } from "../logic/terms";

interface TermComboboxProps {
  value: string;
  onInput: (text: string) => void;
  onTake: (item: Found) => void;
  /** Whether the best term is marked at once; else Enter sends the form until one is marked. */
  eager?: boolean;
  /** Enter with an eager field for which no term was found. */
  onEnter?: () => void;
  /** Texts that are not looked for. */
  isOther?: (text: string) => boolean;
  kind?: SearchKind | undefined;
  id?: string | undefined;
  class: string;
  placeholder?: string | undefined;
  /** For fields without a visible label. */
  label?: string;
  field?: Ref<HTMLInputElement>;
}

/** Milliseconds without a key after which terms are looked for. */
const QUIET = 80;
const MOST = 12;
const NOTHING = { text: "", items: [] as Found[] };

/** Arrow keys go through the terms found, Enter takes the marked one, Escape closes the list. */
export function TermCombobox(props: TermComboboxProps) {
  const [asked, ask] = useState("");
  const [found, setFound] = useState(NOTHING);
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const hurried = useRef<string | null>(null); // Enter was pressed before its terms were there
  const list = useId();
  useEffect(() => {
    if (asked === "" || props.isOther?.(asked)) {
      setFound({ text: asked, items: [] });
      return;
    }
    const stop = new AbortController();
    const show = (items: Found[]) => {
      setFound({ text: asked, items });
      setActive(props.eager && items.length > 0 ? 0 : -1);
    };
    const timer = setTimeout(() => {
      search(asked, props.kind ?? "any", MOST, stop.signal).then(
        show,
        (error: unknown) => !isAbort(error) && show([]),
      );
    }, QUIET);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [asked, props.kind]);

  const take = (item: Found) => {
    ask("");
    setOpen(false);
    props.onTake(item);
  };
  const enter = (item: Found | undefined) => {
    if (item) take(item);
    else props.onEnter?.();
  };
  useEffect(() => {
    if (hurried.current !== found.text) return;
    hurried.current = null;
    enter(found.items[0]);
  }, [found]);

  const shownList = open && found.items.length > 0;
  const keys = (event: KeyboardEvent) => {
    const field = event.currentTarget as HTMLInputElement;
    if (event.isComposing) return;
    if (event.key === "Enter" && props.eager) {
      const typed = field.value.trim(); // maybe not drawn yet
      if (found.text === typed) enter(found.items[active]);
      else hurried.current = typed;
    } else if (event.key === "Escape" && props.eager) {
      setOpen(false);
      field.blur();
    } else if (!shownList) return;
    else if (event.key === "ArrowDown") setActive(Math.min(active + 1, found.items.length - 1));
    else if (event.key === "ArrowUp") setActive(Math.max(active - 1, -1));
    else if (event.key === "Enter" && active >= 0) take(found.items[active]!);
    else if (event.key === "Escape") setOpen(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="search">
      <input
        ref={props.field ?? null}
        id={props.id}
        type="text"
        class={props.class}
        placeholder={props.placeholder}
        aria-label={props.label}
        role="combobox"
        aria-expanded={shownList}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={shownList && active >= 0 ? `${list}-${active}` : undefined}
        autocomplete="off"
        spellcheck={false}
        value={props.value}
        onInput={(event) => {
          hurried.current = null;
          ask(event.currentTarget.value.trim());
          setOpen(true);
          props.onInput(event.currentTarget.value);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={keys}
      />
      <ul class="search-list" id={list} role="listbox" aria-label="Terms" hidden={!shownList}>
        {found.items.map((item, index) => (
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
            <span class="search-kind">
              {item.kind} {count(item.count)}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Controls: a choice of few (`Segmented`), tabs, a menu behind a button. */

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";

interface Choice<T extends string> {
  value: T;
  label: string;
  title?: string;
  disabled?: boolean;
}

/** One of a few values: radio buttons that look like one bar. */
export function Segmented<T extends string>(props: {
  label: string;
  value: T;
  choices: Choice<T>[];
  onChange: (value: T) => void;
}) {
  const name = useId();
  return (
    <fieldset class="segmented">
      <legend class="hidden">{props.label}</legend>
      {props.choices.map((choice) => (
        <label key={choice.value} title={choice.title}>
          <input
            type="radio"
            name={name}
            checked={choice.value === props.value}
            disabled={choice.disabled}
            onChange={() => props.onChange(choice.value)}
          />
          <span>{choice.label}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** Tabs above a panel: the caller shows the panel with `role="tabpanel"` and `panelId`. */
export function Tabs<T extends string>(props: {
  label: string;
  value: T;
  choices: Choice<T>[];
  onChange: (value: T) => void;
  panelId: string;
}) {
  const list = useRef<HTMLDivElement>(null);
  const usable = props.choices.filter((choice) => !choice.disabled);
  const move = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const at = usable.findIndex((choice) => choice.value === props.value);
    const next = usable[(at + step + usable.length) % usable.length];
    if (!next) return;
    props.onChange(next.value);
    list.current?.querySelector<HTMLElement>(`[data-tab="${CSS.escape(next.value)}"]`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={props.label} ref={list} onKeyDown={move}>
      {props.choices.map((choice) => (
        <button
          key={choice.value}
          type="button"
          role="tab"
          class="tab"
          data-tab={choice.value}
          title={choice.title}
          disabled={choice.disabled}
          aria-selected={choice.value === props.value}
          aria-controls={choice.value === props.value ? props.panelId : undefined}
          tabIndex={choice.value === props.value ? 0 : -1}
          onClick={() => props.onChange(choice.value)}
        >
          {choice.label}
        </button>
      ))}
    </div>
  );
}

/** A button that opens a list of actions. */
export function Menu(props: {
  label: ComponentChildren;
  title?: string;
  disabled?: boolean;
  actions: { label: string; detail?: string; run: () => void; disabled?: boolean }[];
}) {
  const [open, setOpen] = useState(false);
  const whole = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    const items = [...(whole.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
    items[0]?.focus();
    const outside = (event: Event) => {
      if (!whole.current?.contains(event.target as Node)) setOpen(false);
    };
    addEventListener("pointerdown", outside);
    return () => removeEventListener("pointerdown", outside);
  }, [open]);
  const keys = (event: KeyboardEvent) => {
    if (!open) return;
    const items = [...(whole.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
    const at = items.indexOf(document.activeElement as HTMLElement);
    if (event.key === "Escape") {
      setOpen(false);
      whole.current?.querySelector<HTMLElement>("button")?.focus();
    } else if (event.key === "ArrowDown") items[(at + 1) % items.length]?.focus();
    else if (event.key === "ArrowUp") items[(at + items.length - 1) % items.length]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="menu" ref={whole} onKeyDown={keys}>
      <button
        type="button"
        class="button"
        title={props.title}
        disabled={props.disabled}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {props.label} <span aria-hidden="true">▾</span>
      </button>
      {open && (
        <div class="menu-list" role="menu">
          {props.actions.map((action) => (
            <button
              key={action.label}
              type="button"
              role="menuitem"
              disabled={action.disabled}
              onClick={() => {
                setOpen(false);
                action.run();
              }}
            >
              {action.label}
              {action.detail && <span class="muted"> {action.detail}</span>}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

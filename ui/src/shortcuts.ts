/** Keys that work everywhere, and the list that `?` shows. Start at `useShortcuts`. */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

export interface Shortcut {
  /** As `KeyboardEvent.key`, with `mod+` for Ctrl or Command, and `alt+`. */
  keys: string;
  what: string;
  run: () => void;
  /** Whether it also works while the person types in a field. */
  whileTyping?: boolean;
}

/** The shortcuts in force, by who asked for them; the help dialog lists them. */
export const shortcuts = signal<Shortcut[]>([]);

/** Keys in force while a component is shown. The list must not change from render to render. */
export function useShortcuts(list: Shortcut[]): void {
  useEffect(() => {
    shortcuts.value = [...shortcuts.value, ...list];
    return () => {
      shortcuts.value = shortcuts.value.filter((shortcut) => !list.includes(shortcut));
    };
  }, []);
}

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
  const typing = isField(event.composedPath()[0]);
  for (const shortcut of shortcuts.value) {
    if (matches(shortcut.keys, event) && (shortcut.whileTyping || !typing)) {
      event.preventDefault();
      shortcut.run();
      return;
    }
  }
});

/** Whether a key event is the one that `mod+Enter` and the like describe. */
export function matches(
  keys: string,
  event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey">,
): boolean {
  const parts = keys.split("+");
  const key = keys.endsWith("+") ? "+" : parts[parts.length - 1]!;
  return (
    event.key.toLowerCase() === key.toLowerCase() &&
    (event.ctrlKey || event.metaKey) === parts.includes("mod") &&
    event.altKey === parts.includes("alt")
  );
}

/** Whether one types into an element. */
export function isField(target: EventTarget | null | undefined): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName))
  );
}

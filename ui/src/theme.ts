/** Light and dark: the system's choice unless the person made one. */

import { effect, signal } from "@preact/signals";
import { keep, kept } from "./logic/kept";

export type Theme = "system" | "light" | "dark";

export const theme = signal<Theme>(kept<Theme>("theme", "system"));

const system = matchMedia("(prefers-color-scheme: dark)");
const systemIsDark = signal(system.matches);
system.addEventListener("change", (event) => {
  systemIsDark.value = event.matches;
});

/** Whether dark colours are shown now; charts and graphs read it. */
export function isDark(): boolean {
  return theme.value === "dark" || (theme.value === "system" && systemIsDark.value);
}

effect(() => {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  keep("theme", theme.value);
});

/** The value of a colour of tokens.css, for canvases. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Whether terms are shown by their labels or by their names, as the person chose. */

import { effect, signal } from "@preact/signals";
import { keep, kept } from "./logic/kept";

export type Naming = "labels" | "names";

export const naming = signal<Naming>(kept<Naming>("naming", "labels"));

effect(() => keep("naming", naming.value));

/** Whether labels are shown where there are any. */
export function byLabel(): boolean {
  return naming.value === "labels";
}

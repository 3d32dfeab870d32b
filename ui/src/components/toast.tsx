/** Short messages at the edge of the page: `toast("Saved")`, `toast("...", "bad")`. */

import { signal } from "@preact/signals";

type Kind = "good" | "bad" | "plain";

interface Toast {
  id: number;
  text: string;
  kind: Kind;
}

const toasts = signal<Toast[]>([]);
let last = 0;

/** Say something for a few seconds; errors stay until they are dismissed. */
export function toast(text: string, kind: Kind = "plain"): void {
  const id = ++last;
  toasts.value = [...toasts.value.slice(-3), { id, text, kind }];
  if (kind !== "bad") setTimeout(() => dismiss(id), 5000);
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((each) => each.id !== id);
}

/** Where the messages appear; the shell shows it once. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((each) => (
        <div key={each.id} class={`toast ${each.kind}`}>
          <span>{each.text}</span>
          <button
            type="button"
            class="button quiet icon"
            aria-label="Dismiss"
            onClick={() => dismiss(each.id)}
          >
            ×
          </button>
        </div>
      ))}
    </div>
  );
}

/** The list of shortcuts, behind `?`. */

import { signal } from "@preact/signals";
import { address } from "../api/client";
import { shortcuts } from "../shortcuts";
import { Dialog } from "./dialog";

const open = signal(false);

export function openHelp(): void {
  open.value = true;
}

export function HelpDialog() {
  return (
    <Dialog title="Keyboard" open={open.value} onClose={() => (open.value = false)}>
      <dl class="keys">
        {shortcuts.value.map((shortcut) => (
          <div key={shortcut.keys + shortcut.what}>
            <dt>
              {keyNames(shortcut.keys).map((name) => (
                <kbd key={name}>{name}</kbd>
              ))}
            </dt>
            <dd>{shortcut.what}</dd>
          </div>
        ))}
      </dl>
      <p class="muted small">
        <a href={address("page/licenses.txt")}>Licences of the libraries of this page</a>
      </p>
    </Dialog>
  );
}

/** `mod+Enter` as the keys of this machine are called. */
export function keyNames(keys: string): string[] {
  const mac = /Mac|iP(hone|ad)/.test(navigator.userAgent);
  return keys.split("+").map((part) => {
    if (part === "mod") return mac ? "⌘" : "Ctrl";
    if (part === "alt") return mac ? "⌥" : "Alt";
    return part.length === 1 ? part.toUpperCase() : part;
  });
}

/** A dialog over the page: the browser's own, with focus kept inside and Escape to close. */

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

export function Dialog(props: {
  title: string;
  open: boolean;
  onClose: () => void;
  children: ComponentChildren;
  wide?: boolean;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  useEffect(() => {
    const element = dialog.current;
    if (props.open && element && !element.open) element.showModal();
    if (!props.open && element?.open) element.close();
  }, [props.open]);
  return (
    <dialog
      ref={dialog}
      class={`dialog${props.wide ? " wide" : ""}`}
      aria-labelledby={title}
      onClose={props.onClose}
      onClick={(event) => event.target === dialog.current && props.onClose()}
    >
      {props.open && (
        <div class="dialog-body">
          <div class="dialog-head">
            <h2 id={title}>{props.title}</h2>
            <button
              type="button"
              class="button quiet icon"
              aria-label="Close"
              onClick={props.onClose}
            >
              ×
            </button>
          </div>
          {props.children}
        </div>
      )}
    </dialog>
  );
}

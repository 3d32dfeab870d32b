/** The editor for any page, loaded a moment after the page: `LateEditor`. */

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Loading } from "../components/notes";
import type { EditorProps } from "./editor";

let loaded: ComponentType<EditorProps> | null = null;

/** `Editor`, whose library is the largest part of the page and is fetched when it is shown. */
export function LateEditor(props: EditorProps) {
  const [Editor, set] = useState<ComponentType<EditorProps> | null>(() => loaded);
  useEffect(() => {
    if (Editor) return;
    void import("./editor").then((module) => {
      loaded = module.default;
      set(() => module.default);
    });
  }, []);
  return Editor ? <Editor {...props} /> : <Loading what="the editor" />;
}

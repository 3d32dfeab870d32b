/** A text editor for queries, updates and rules: `Editor`. It lives in a shadow root. */

import { autocompletion, closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { completionKeymap, startCompletion } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, indentUnit } from "@codemirror/language";
import { lintKeymap, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { Annotation, EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  placeholder,
  tooltips,
} from "@codemirror/view";
import { useEffect, useRef } from "preact/hooks";
import { spanAt } from "../logic/places";
import { completeByServer, kindOf, prepareCompletion } from "./completing";
import { rulesLanguage, sparqlLanguage } from "./languages";
import { looks } from "./looks";

/** What is wrong at a place; lines and columns count from 1, in characters. */
export interface Problem {
  line: number;
  column: number;
  message: string;
}

export interface EditorProps {
  value: string;
  onChange: (value: string) => void;
  language: "sparql" | "rules" | "plain";
  label: string;
  problems?: Problem[];
  /** Ctrl-Enter. */
  onRun?: () => void;
  placeholder?: string;
  /** Changes of it put the cursor into the editor. */
  focus?: number;
  /** Another text in the same place, such as another tab: forgets what can be undone. */
  document?: string;
}

const NO_PROBLEMS: Problem[] = [];
const fromOutside = Annotation.define<boolean>();

export default function Editor(props: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const typed = useRef<string[]>([]);
  const report = (text: string) => {
    typed.current.push(text);
    latest.current.onChange(text);
  };

  useEffect(() => {
    if (props.language === "sparql") prepareCompletion();
    const root = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: "open" });
    const made = new EditorView({ root, parent: root, state: stateOf(latest, report) });
    view.current = made;
    return () => {
      made.destroy();
      view.current = null;
    };
  }, []);

  useEffect(() => {
    typed.current = [];
    view.current?.setState(stateOf(latest, report));
  }, [props.document, props.language]);

  useEffect(() => {
    // While a person types fast, values come back late: those that we reported are not changes.
    const editor = view.current;
    const reported = typed.current.indexOf(props.value);
    typed.current = typed.current.slice(reported + 1);
    if (!editor || reported >= 0 || editor.state.doc.toString() === props.value) return;
    typed.current = [];
    editor.dispatch({
      changes: { from: 0, to: editor.state.doc.length, insert: props.value },
      annotations: fromOutside.of(true),
    });
  }, [props.value]);

  const problems = props.problems ?? NO_PROBLEMS;
  useEffect(() => {
    const editor = view.current;
    if (editor) editor.dispatch(setDiagnostics(editor.state, diagnosticsOf(editor.state, problems)));
  }, [problems, props.document]);

  useEffect(() => {
    if (props.focus) view.current?.focus();
  }, [props.focus]);

  return <div class="editor" ref={host} />;
}

function stateOf(
  latest: { current: EditorProps },
  report: (text: string) => void,
): EditorState {
  const { language, label, value } = latest.current;
  const run = (): boolean => {
    latest.current.onRun?.();
    return latest.current.onRun !== undefined;
  };
  const extensions: Extension[] = [
    lineNumbers(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    history(),
    drawSelection(),
    bracketMatching(),
    closeBrackets(),
    indentUnit.of("  "),
    EditorView.lineWrapping,
    tooltips({ position: "fixed" }),
    looks,
    keymap.of([
      { key: "Mod-Enter", run, preventDefault: true },
      { key: "Alt-Space", run: startCompletion },
      ...closeBracketsKeymap,
      ...completionKeymap,
      ...lintKeymap,
      ...historyKeymap,
      ...defaultKeymap,
    ]),
    EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", tabindex: "0" }),
    EditorView.domEventHandlers({ beforeinput: replaceSelection }),
    EditorView.updateListener.of((update) => {
      const own = !update.transactions.some((each) => each.annotation(fromOutside));
      if (update.docChanged && own) report(update.state.doc.toString());
    }),
    placeholder(latest.current.placeholder ?? ""),
  ];
  if (language === "sparql") {
    extensions.push(
      sparqlLanguage,
      autocompletion({
        override: [completeByServer],
        activateOnTypingDelay: 10,
        updateSyncTime: 60,
        icons: false,
        addToOptions: [{ render: kindOf, position: 90 }],
      }),
    );
  }
  if (language === "rules") extensions.push(rulesLanguage);
  return EditorState.create({ doc: value, extensions });
}

/**
 * Typing over a selection, done here: the browser would keep the look of the replaced text by an
 * inline style, which the Content-Security-Policy refuses with a complaint.
 */
function replaceSelection(event: InputEvent, view: EditorView): boolean {
  const { ranges, main } = view.state.selection;
  const text = event.data;
  if (event.inputType !== "insertText" || !text || main.empty || ranges.length > 1) return false;
  if (view.composing) return false;
  const insert = () =>
    view.state.update({
      changes: { from: main.from, to: main.to, insert: text },
      selection: { anchor: main.from + text.length },
      userEvent: "input.type",
    });
  const handlers = view.state.facet(EditorView.inputHandler);
  if (!handlers.some((handle) => handle(view, main.from, main.to, text, insert))) {
    view.dispatch(insert());
  }
  return true;
}

function diagnosticsOf(state: EditorState, problems: Problem[]): Diagnostic[] {
  return problems.map((problem) => {
    const line = state.doc.line(Math.min(Math.max(problem.line, 1), state.doc.lines));
    const span = spanAt(line.text, problem.column);
    return {
      from: line.from + span.from,
      to: line.from + span.to,
      severity: "error" as const,
      message: problem.message,
    };
  });
}

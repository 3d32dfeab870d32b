/** The editor of users' rules: checked as one types, tried in a dry run, then put in force. */

import { useEffect, useRef, useState } from "preact/hooks";
import { useAnswer } from "../../answers";
import { ApiError, isAbort, messageOf } from "../../api/client";
import { dryRun, putRules, type Preview } from "../../api/change";
import { checkRules, userRules, type RuleProblem } from "../../api/ontology";
import { ErrorNote, Loading, Note } from "../../components/notes";
import { toast } from "../../components/toast";
import Editor from "../../editor/editor";
import { counted } from "../../logic/numbers";
import { PreviewView } from "../../preview/preview-view";
import { mayUpdate, refreshStore, store } from "../../state";

/** Milliseconds without a key after which the text is checked. */
const QUIET = 250;

export function RuleEditor() {
  const answer = useAnswer((signal) => userRules(signal), [store.value?.commit], true);
  const inForce = answer.value?.text;
  const [text, setText] = useState<string | null>(null);
  const current = text ?? inForce ?? "";
  const typed = useRef(current); // what was typed last, maybe not drawn yet
  typed.current = current;
  const problems = useProblems(inForce === undefined ? null : current);
  const trial = useTrial(current, typed);
  if (answer.error) return <ErrorNote error={answer.error} />;
  if (inForce === undefined) return <Loading what="the rules" />;
  const errors = problems?.filter((problem) => !problem.warning) ?? [];
  const changed = text !== null && text !== inForce;
  const apply = async () => {
    if (!trial.preview) return;
    try {
      const change = await putRules(current, trial.preview.commit);
      trial.forget();
      setText(null);
      await refreshStore();
      toast(`The rules are in force: ${change.text}`, "good");
    } catch (error) {
      trial.fail(error);
    }
  };
  return (
    <div class="stack rules-editor">
      <p class="muted small">
        These are the rules that users gave; all rules in force are listed under “Rules”.
        {!mayUpdate() && " They cannot be changed here: the server does not allow updates to you."}
      </p>
      <div class="editor-box">
        <Editor
          value={current}
          onChange={(value) => {
            typed.current = value;
            setText(value);
          }}
          language="rules"
          label="Rules"
          problems={problems ?? []}
          placeholder={'rule "name" :Head[?x] :- :Body[?x, ?y] .'}
          onRun={() => mayUpdate() && errors.length === 0 && void trial.run()}
        />
      </div>
      <Problems problems={problems} isEmpty={current.trim() === ""} />
      <div class="row">
        {mayUpdate() && (
          <button
            type="button"
            class="button primary"
            disabled={trial.busy || errors.length > 0 || !changed}
            title="Ctrl-Enter"
            onClick={() => void trial.run()}
          >
            {trial.busy ? "Running …" : "Dry run"}
          </button>
        )}
        {trial.busy && (
          <button type="button" class="button" onClick={trial.forget}>
            Stop
          </button>
        )}
        {changed && (
          <button type="button" class="button quiet" onClick={() => setText(null)}>
            Back to the rules in force
          </button>
        )}
      </div>
      <Trial trial={trial} text={current} onApply={() => void apply()} />
    </div>
  );
}

function Problems(props: { problems: RuleProblem[] | null; isEmpty: boolean }) {
  const { problems } = props;
  return (
    <div aria-live="polite">
      {problems === null ? (
        <p class="muted small">Checking …</p>
      ) : problems.length === 0 ? (
        <p class="good-text small">{props.isEmpty ? "No rules." : "✓ Nothing is wrong."}</p>
      ) : (
        <ul class="problems">
          {problems.map((problem, index) => (
            <li key={index}>
              <span class={problem.warning ? "warn-text" : "bad-text"}>
                Line {problem.line}, column {problem.column}
              </span>{" "}
              {problem.message}
              {problem.hint && <span class="muted"> {problem.hint}</span>}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Trial(props: {
  trial: ReturnType<typeof useTrial>;
  text: string;
  onApply: () => void;
}) {
  const { trial, text, onApply } = props;
  if (trial.error) {
    const moved = trial.error instanceof ApiError && trial.error.status === 409;
    return (
      <>
        <ErrorNote error={trial.error} />
        {moved && (
          <div>
            <button type="button" class="button" onClick={() => void trial.run()}>
              Run again
            </button>
          </div>
        )}
      </>
    );
  }
  if (!trial.preview) return null;
  return (
    <section class="stack" aria-labelledby="dry-run">
      <h2 id="dry-run">What the rules would do</h2>
      <PreviewView preview={trial.preview} change={{ rules: text }} />
      {trial.preview.violations.new_count > 0 && (
        <Note kind="warn">
          These rules bring {counted(trial.preview.violations.new_count, "new violation")}
          {trial.preview.refused && ", and this store is strict: it refuses them"}.
        </Note>
      )}
      <div class="row">
        {!trial.preview.refused && (
          <button type="button" class="button primary" onClick={onApply}>
            Put in force
          </button>
        )}
        <button type="button" class="button" onClick={trial.forget}>
          Discard
        </button>
      </div>
    </section>
  );
}

/** What is wrong with a text, shortly after it stays the same; null while it is checked. */
function useProblems(text: string | null): RuleProblem[] | null {
  const [problems, setProblems] = useState<RuleProblem[] | null>(null);
  useEffect(() => {
    if (text === null) return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      checkRules(text, stop.signal).then(
        (found) => setProblems(found.problems),
        (error: unknown) => {
          if (!isAbort(error)) setProblems([wrong(messageOf(error))]);
        },
      );
    }, QUIET);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text]);
  return problems;
}

function wrong(message: string): RuleProblem {
  return { line: 1, column: 1, code: "", message, hint: null, warning: false };
}

/** A dry run of a text; it is forgotten when the text changes. */
function useTrial(text: string, typed: { current: string }) {
  const [preview, setPreview] = useState<Preview | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const stop = useRef<AbortController | null>(null);
  const forget = () => {
    stop.current?.abort();
    setPreview(null);
    setError(null);
    setBusy(false);
  };
  const asked = useRef<string | null>(null);
  useEffect(() => {
    if (asked.current !== text) forget();
  }, [text]);
  useEffect(() => forget, []);
  const run = async () => {
    forget();
    asked.current = typed.current;
    const own = new AbortController();
    stop.current = own;
    setBusy(true);
    try {
      setPreview(await dryRun(typed.current, own.signal));
    } catch (problem) {
      if (!isAbort(problem)) setError(problem);
    }
    if (stop.current === own) setBusy(false);
  };
  const fail = (problem: unknown) => {
    setPreview(null);
    setError(problem);
  };
  return { preview, error, busy, run, forget, fail };
}

/** *Why* in a dialog: `askWhy(...)` opens it; pages that ask show `<WhyDialog />` once. */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useAnswer } from "../answers";
import { why, whyViolation, type Fact, type Why } from "../api/resource";
import { Dialog } from "../components/dialog";
import { ErrorNote, Loading } from "../components/notes";
import { ntriples } from "../logic/terms";
import { route } from "../router";
import { ProofView } from "./proof-view";

type Question =
  | { fact: Fact }
  /** A violation of the report, by its number and text. */
  | { violation: number; text: string }
  /** A violation that a change would bring. */
  | { ask: (signal: AbortSignal) => Promise<Why> };

const question = signal<Question | null>(null);

/** Show the proof of a fact or of a violation. */
export function askWhy(asked: Question): void {
  question.value = asked;
}

export function WhyDialog() {
  const asked = question.value;
  const close = () => {
    question.value = null;
  };
  useEffect(() => {
    close(); // a link in the proof leads to another place
  }, [route.value]);
  const title = asked && !("fact" in asked) ? "Why is this a violation?" : "Why does this hold?";
  return (
    <Dialog title={title} open={asked !== null} onClose={close} wide>
      {asked && <Found asked={asked} />}
    </Dialog>
  );
}

function Found({ asked }: { asked: Question }) {
  const answer = useAnswer(
    (signal) => {
      if ("ask" in asked) return asked.ask(signal);
      if ("violation" in asked) return whyViolation(asked.violation, asked.text, signal);
      const [s, p, o] = asked.fact;
      return why(ntriples(s), ntriples(p), ntriples(o), signal);
    },
    [asked],
  );
  if (answer.error) return <ErrorNote error={answer.error} />;
  return answer.value ? <ProofView found={answer.value} /> : <Loading what="the proof" />;
}

/** The button beside an inferred fact. */
export function WhyButton({ fact }: { fact: Fact }) {
  return (
    <button
      type="button"
      class="button quiet small why-button"
      title="Show the proof"
      onClick={() => askWhy({ fact })}
    >
      why
      <span class="hidden"> does this hold?</span>
    </button>
  );
}

/** *Why* in a dialog: `askWhy(...)` opens it; pages that ask show `<WhyDialog />` once. */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useAnswer } from "../answers";
import { why, whyViolation, type Fact } from "../api/resource";
import { Dialog } from "../components/dialog";
import { ErrorNote, Loading } from "../components/notes";
import { ntriples } from "../logic/terms";
import { route } from "../router";
import { ProofView } from "./proof-view";

type Question = { fact: Fact } | { violation: number };

const question = signal<Question | null>(null);

/** Show the proof of a fact, or of a violation by its number in the report. */
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
  const title = asked && "violation" in asked ? "Why is this a violation?" : "Why does this hold?";
  return (
    <Dialog title={title} open={asked !== null} onClose={close} wide>
      {asked && <Found asked={asked} />}
    </Dialog>
  );
}

function Found({ asked }: { asked: Question }) {
  const answer = useAnswer(
    (signal) =>
      "fact" in asked
        ? why(ntriples(asked.fact[0]), ntriples(asked.fact[1]), ntriples(asked.fact[2]), signal)
        : whyViolation(asked.violation, signal),
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

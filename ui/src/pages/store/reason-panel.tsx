/** Put regimes in force and infer, as a job that can be stopped. */

import { useState } from "preact/hooks";
import { messageOf } from "../../api/client";
import { reason } from "../../api/jobs";
import { watch } from "./jobs";

const REGIMES = [
  { name: "rdfs", text: "RDFS: subclasses, subproperties, domains, ranges" },
  { name: "owl-rl", text: "OWL 2 RL: the profile for rules" },
  { name: "owl-el", text: "OWL 2 EL: large class hierarchies, classified" },
  { name: "owl-horst", text: "OWL Horst (pD*): a small part of OWL" },
  { name: "skos", text: "SKOS: broader, narrower, schemes, and its constraints" },
  { name: "swrl", text: "SWRL: rules in the data" },
];

export function ReasonPanel({ inForce }: { inForce: string[] }) {
  const [chosen, setChosen] = useState<string[]>([]);
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const start = async (names: string[]) => {
    setBusy(true);
    setError("");
    try {
      const { job } = await reason(names);
      watch(job);
      setChosen([]);
    } catch (problem) {
      setError(messageOf(problem));
    }
    setBusy(false);
  };
  return (
    <section class="panel" aria-labelledby="reason">
      <div class="panel-head">
        <h2 id="reason">Infer</h2>
      </div>
      <form
        class="panel-body form"
        onSubmit={(event) => {
          event.preventDefault();
          void start(chosen);
        }}
      >
        <fieldset class="regimes">
          <legend class="hidden">Regimes</legend>
          {REGIMES.map(({ name, text }) => {
            const isOn = inForce.includes(name);
            return (
              <label key={name} class="regime">
                <input
                  type="checkbox"
                  checked={isOn || chosen.includes(name)}
                  disabled={isOn}
                  onChange={(event) =>
                    setChosen(
                      event.currentTarget.checked
                        ? [...chosen, name]
                        : chosen.filter((each) => each !== name),
                    )
                  }
                />
                <span>
                  {text}
                  {isOn && <span class="badge good">in force</span>}
                </span>
              </label>
            );
          })}
        </fieldset>
        {error && (
          <p class="bad-text" role="alert">
            {error}
          </p>
        )}
        <div class="row">
          <button type="submit" class="button primary" disabled={busy || chosen.length === 0}>
            Add and infer
          </button>
          {inForce.length > 0 && (
            <button
              type="button"
              class="button danger"
              disabled={busy}
              onClick={() => void start(["none"])}
            >
              Turn inference off
            </button>
          )}
        </div>
      </form>
    </section>
  );
}

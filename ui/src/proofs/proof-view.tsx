/** A proof: as a tree, as a graph, as text. For a fact that does not hold, why not. */

import { useMemo, useState } from "preact/hooks";
import type { Held, Why } from "../api/resource";
import { Segmented } from "../components/controls";
import { toast } from "../components/toast";
import { GraphView } from "../graph/graph";
import { drawnProof, sizeText } from "../logic/proof";
import { byLabel } from "../naming";
import { ProofTree } from "./proof-tree";
import { WhyNotView } from "./why-not";
import "./proofs.css";

type Form = "tree" | "graph" | "text";

export function ProofView({ found }: { found: Why }) {
  return found.holds ? <HeldView proof={found} /> : <WhyNotView found={found} />;
}

function HeldView({ proof }: { proof: Held }) {
  const [form, setForm] = useState<Form>("tree");
  const labels = byLabel();
  const drawn = useMemo(() => drawnProof(proof.graph, labels), [proof, labels]);
  return (
    <div class="proof">
      <div class="row">
        <p class="grow muted">{sizeText(proof)}</p>
        <Segmented<Form>
          label="Form of the proof"
          value={form}
          onChange={setForm}
          choices={[
            { value: "tree", label: "Tree" },
            { value: "graph", label: "Graph" },
            { value: "text", label: "Text" },
          ]}
        />
      </div>
      {form === "tree" && <ProofTree proof={proof} />}
      {form === "graph" && (
        <GraphView
          nodes={drawn.nodes}
          edges={drawn.edges}
          label="Proof"
          arrangement="layers"
          height={420}
        />
      )}
      {form === "text" && <ProofText text={proof.text} />}
    </div>
  );
}

function ProofText({ text }: { text: string }) {
  const copy = () =>
    navigator.clipboard?.writeText(text).then(
      () => toast("Copied", "good"),
      () => toast("The browser does not allow copying", "bad"),
    );
  return (
    <div class="stack">
      <pre class="proof-pre">{text}</pre>
      {navigator.clipboard && (
        <div>
          <button type="button" class="button small" onClick={() => void copy()}>
            Copy
          </button>
        </div>
      )}
    </div>
  );
}

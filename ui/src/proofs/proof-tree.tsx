/** A proof as a tree that unfolds: each fact above what it follows from. */

import { useMemo } from "preact/hooks";
import { why, type Held, type Node } from "../api/resource";
import { TermLink } from "../components/term";
import { LinkedText } from "../components/linked-text";
import { Tree, type Branch } from "../components/tree";
import { InferredMark } from "../components/term";
import { factKey } from "../logic/proof";
import { ntriples } from "../logic/terms";
import { byLabel } from "../naming";
import { FactLine, RuleBadge } from "./rule-badge";

/** Levels that are unfolded at first, by the number of facts. */
const UNFOLDED = (proof: Held) => (proof.steps <= 12 ? 20 : 2);

export function ProofTree({ proof }: { proof: Held }) {
  const root = useMemo(() => rootOf(proof), [proof]);
  return (
    <Tree<Node>
      label="Proof"
      keyOf={(node) => String(node.id ?? factKey(node))}
      render={(node) => <ProofLine node={node} />}
      hasChildren={(node) => !!node.because?.length || isCut(node)}
      load={(node) => (node === null ? { items: [root], more: false } : premisesOf(node))}
      unfolded={UNFOLDED(proof)}
      version={proof}
    />
  );
}

/** The root with its own text: `text` of a proof is the whole proof. */
function rootOf(proof: Held): Node {
  const own = proof.graph.nodes.find((node) => node.id === proof.id);
  return { ...proof, text: own?.text ?? proof.text };
}

function isCut(node: Node): boolean {
  return !!node.more && node.fact !== null && !node.asserted;
}

/** What a fact follows from; where the server cut the proof off, it is asked for the rest. */
async function asked(node: Node): Promise<Branch<Node>> {
  const [s, p, o] = node.fact!;
  const found = await why(ntriples(s), ntriples(p), ntriples(o));
  return { items: (found.holds && found.because) || [], more: false };
}

function premisesOf(node: Node): Branch<Node> | Promise<Branch<Node>> {
  return isCut(node) ? asked(node) : { items: node.because ?? [], more: false };
}

function ProofLine({ node }: { node: Node }) {
  return (
    <div class="proof-line">
      <div class="proof-fact">
        {node.fact ? <FactLine fact={node.fact} /> : <Relation node={node} />}
        {node.asserted ? (
          <span class="badge">asserted</span>
        ) : (
          node.rule?.kind !== "constraint" && <InferredMark />
        )}
        {node.rule && <RuleBadge rule={node.rule} values={node.values} />}
        {node.shared !== undefined && node.shared !== null && (
          <span class="muted small">proved above</span>
        )}
      </div>
      {node.rule?.axioms?.map((axiom, index) => (
        <div key={index} class="proof-condition">
          <span class="muted">by the axiom</span> <FactLine fact={axiom} />
        </div>
      ))}
      {node.conditions?.map((condition) => (
        <div key={condition.text} class="proof-condition">
          <span class="muted">{condition.kind === "aggregate" ? "counted" : "checked"}</span>{" "}
          <span class="rule-text">
            <LinkedText text={condition.text} />
          </span>
          {condition.value && (
            <>
              {" = "}
              <TermLink term={condition.value} byLabel={byLabel()} />
            </>
          )}
          {condition.kind === "aggregate" && condition.results && (
            <>
              {" = "}
              {condition.results.map((term) => (
                <TermLink key={ntriples(term)} term={term} byLabel={byLabel()} />
              ))}
              {condition.count !== undefined && (
                <span class="muted"> over {condition.count} rows</span>
              )}
            </>
          )}
        </div>
      ))}
    </div>
  );
}

/** A fact with other than two arguments, or a violated constraint. */
function Relation({ node }: { node: Node }) {
  if (!node.relation || !node.args) return <span class="proof-text"><LinkedText text={node.text} /></span>;
  return (
    <span class="fact-line">
      <TermLink term={node.relation} byLabel={byLabel()} />[
      {node.args.map((term, index) => (
        <span key={index}>
          {index > 0 && ", "}
          <TermLink term={term} byLabel={byLabel()} />
        </span>
      ))}
      ]
    </span>
  );
}

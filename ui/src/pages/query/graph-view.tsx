/** The triples of a CONSTRUCT as a graph. */

import { useMemo } from "preact/hooks";
import type { Term, TripleRow } from "../../api/types";
import { Note } from "../../components/notes";
import { GraphView, type GraphEdge, type GraphNode } from "../../graph/graph";
import { hasPage, named, ntriples, valueOf } from "../../logic/terms";
import { go } from "../../router";

/** More arrows than this cannot be read, and take long to arrange. */
const MOST = 500;

/** The nodes and arrows of triples, each term once. */
export function graphOf(triples: TripleRow[]): { nodes: GraphNode[]; edges: GraphEdge[] } {
  const nodes = new Map<string, GraphNode>();
  const nodeOf = (term: Term): string => {
    const id = ntriples(term);
    if (!nodes.has(id)) nodes.set(id, { id, label: textOf(term), kind: kindOf(term) });
    return id;
  };
  const edges = triples.map(([subject, predicate, object, inferred]) => ({
    from: nodeOf(subject),
    to: nodeOf(object),
    label: named(predicate),
    inferred,
  }));
  return { nodes: [...nodes.values()], edges };
}

function textOf(term: Term): string {
  return hasPage(term) ? named(term) : `“${valueOf(term)}”`;
}

function kindOf(term: Term): GraphNode["kind"] {
  return term.type === "uri" ? "iri" : term.type === "bnode" ? "bnode" : "literal";
}

export function TriplesGraph({ triples }: { triples: TripleRow[] }) {
  const graph = useMemo(() => graphOf(triples.slice(0, MOST)), [triples]);
  const open = (id: string) => {
    if (!id.startsWith('"') && !id.startsWith("<<")) go("resource", { term: id });
  };
  return (
    <>
      {triples.length > MOST && (
        <div class="panel-body">
          <Note>The first {MOST} triples are drawn.</Note>
        </div>
      )}
      <GraphView {...graph} label="Graph of the triples" onChoose={open} />
      <p class="muted small graph-legend">
        <span class="line-asserted" aria-hidden="true" /> asserted{" "}
        <span class="line-inferred" aria-hidden="true" /> inferred. A click on a node opens its page;
        the table has the same triples.
      </p>
    </>
  );
}

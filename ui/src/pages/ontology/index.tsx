/** Trees of classes, properties and concepts; beside them, all about the chosen one. */

import { useRef } from "preact/hooks";
import { useAnswer } from "../../answers";
import { children, pathTo, type TreeItem, type TreeKind } from "../../api/ontology";
import { Segmented } from "../../components/controls";
import { NamingSwitch } from "../../components/naming-switch";
import { Empty } from "../../components/notes";
import { TermSearch } from "../../components/search";
import { InferredMark } from "../../components/term";
import { VirtualTree } from "../../components/virtual-tree";
import { count } from "../../logic/numbers";
import { named, ntriples, shown } from "../../logic/terms";
import { byLabel } from "../../naming";
import { WhyDialog } from "../../proofs/why-dialog";
import { go, route } from "../../router";
import { session, store } from "../../state";
import { ResourceView } from "../resource/resource-view";
import "../resource/resource.css";
import "./ontology.css";

const KINDS: { value: TreeKind; label: string; many: string; counted: string }[] = [
  { value: "class", label: "Classes", many: "classes", counted: "members" },
  { value: "property", label: "Properties", many: "properties", counted: "triples" },
  { value: "concept", label: "Concepts", many: "concepts", counted: "uses" },
];
/** Siblings in one request. */
const PAGE = 500;

export default function OntologyPage() {
  const kind = KINDS.find((each) => each.value === route.value.rest[0]) ?? KINDS[0]!;
  const term = route.value.parameters.get("term");
  const choose = (chosen: string) => go(`ontology/${kind.value}`, { term: chosen });
  return (
    <div class="page">
      <div class="page-head">
        <h1>Ontology</h1>
        <Segmented<TreeKind>
          label="Kind of tree"
          value={kind.value}
          onChange={(value) => go(`ontology/${value}`)}
          choices={KINDS}
        />
        <span class="grow" />
        <NamingSwitch />
      </div>
      <div class="columns ontology-columns">
        <section class="panel" aria-label={kind.label}>
          <div class="panel-head tree-search">
            <TermSearch
              key={kind.value}
              kind={kind.value}
              placeholder={`Search ${kind.many}`}
              onChoose={choose}
            />
          </div>
          <TermTree key={kind.value} kind={kind} term={term} onChoose={choose} />
          <p class="panel-foot muted small tree-legend">
            Numbers: {kind.counted}, asserted, and <InferredMark text />.
          </p>
        </section>
        <div class="stack chosen">
          {term ? (
            <ResourceView key={term} term={term} heading="h2" />
          ) : (
            <div class="panel">
              <Empty title={`Choose one of the ${kind.many}`}>
                Its facts and {kind.counted} appear here. Arrow keys move in the tree, Enter
                chooses.
              </Empty>
            </div>
          )}
        </div>
      </div>
      <WhyDialog />
    </div>
  );
}

interface TermTreeProps {
  kind: (typeof KINDS)[number];
  term: string | null;
  onChoose: (term: string) => void;
}

function TermTree({ kind, term, onChoose }: TermTreeProps) {
  const path = useAnswer(
    term ? (signal) => pathTo(kind.value, term, signal) : null,
    [kind.value, term],
    true,
  );
  const commit = store.value?.commit;
  const first = useRef(commit); // the first look at the store does not load the tree anew
  first.current ??= commit;
  return (
    <VirtualTree<TreeItem>
      key={`${session.value?.user} ${commit === first.current ? 0 : commit}`}
      label={kind.label}
      keyOf={(item) => ntriples(item.term)}
      nameOf={(item) => textOf(item)}
      hasChildren={(item) => item.children > 0}
      load={(item, offset) => children(kind.value, item ? ntriples(item.term) : undefined, offset, PAGE)}
      onChoose={(item) => onChoose(ntriples(item.term))}
      reveal={term && path.value ? path.value : undefined}
      render={(item) => <Line item={item} counted={kind.counted} />}
      empty={<Empty title={`The store has no ${kind.many}`} />}
    />
  );
}

function textOf(item: TreeItem): string {
  return byLabel() ? named(item.term) : shown(item.term);
}

function Line({ item, counted }: { item: TreeItem; counted: string }) {
  const equal = item.equal?.map((term) => (byLabel() ? named(term) : shown(term)));
  return (
    <>
      <span class="vtree-name" title={`${named(item.term)}\n${item.term.value}`}>
        {textOf(item)}
        {!!equal?.length && <span class="muted"> = {equal.join(" = ")}</span>}
      </span>
      {item.asserted > 0 && (
        <span class="tree-count" title={`${count(item.asserted)} asserted ${counted}`}>
          {count(item.asserted)}
          <span class="hidden"> asserted {counted}</span>
        </span>
      )}
      {item.inferred > 0 && (
        <span class="tree-count inferred" title={`${count(item.inferred)} inferred ${counted}`}>
          <span aria-hidden="true">◆ </span>
          {count(item.inferred)}
          <span class="hidden"> inferred {counted}</span>
        </span>
      )}
    </>
  );
}

/** A resource: its head, and the facts in which it stands. Also part of the ontology page. */

import { useEffect } from "preact/hooks";
import { useAnswer } from "../../answers";
import { about, type About, type MarkedTerm } from "../../api/resource";
import { NamingSwitch } from "../../components/naming-switch";
import { Empty, ErrorNote, Loading } from "../../components/notes";
import { InferredMark, OutLink, TermLink } from "../../components/term";
import { toast } from "../../components/toast";
import { counted } from "../../logic/numbers";
import { named, ntriples, shown } from "../../logic/terms";
import { byLabel } from "../../naming";
import { WhyButton } from "../../proofs/why-dialog";
import { href } from "../../router";
import { store } from "../../state";
import { PropertyList } from "./property-list";
import { remember } from "./recent";
import { WhyNotForm } from "./why-not-form";

/** How many values of each property are shown at first. */
const FIRST = 8;

interface ResourceViewProps {
  /** As N-Triples. */
  term: string;
  heading: "h1" | "h2";
  /** Whether this is a whole page, with *why not?*. */
  whole?: boolean;
}

export function ResourceView({ term, heading, whole }: ResourceViewProps) {
  const commit = store.value?.commit;
  const answer = useAnswer((signal) => about(term, FIRST, signal), [term, commit], true);
  const found = answer.value;
  useEffect(() => {
    if (!found || !whole) return;
    document.title = `${named(found.term)} · triplestore`;
    if (found.known) remember(found.term);
  }, [found]);
  if (answer.error) {
    const Title = heading;
    return (
      <>
        <Title>Resource</Title>
        <ErrorNote error={answer.error} />
      </>
    );
  }
  if (!found) return <Loading what="the resource" />;
  return (
    <>
      <Head found={found} heading={heading} whole={whole ?? false} />
      {!found.known && (
        <div class="panel">
          <Empty title="The store has no facts about it">
            Check the IRI, or look for its label in the search field.
          </Empty>
        </div>
      )}
      {found.known && (
        <div class={whole ? "columns resource-columns" : "stack"}>
          <Facts found={found} direction="out" />
          <div class="stack">
            <Facts found={found} direction="in" />
            {whole && found.equal.length > 0 && <Equals found={found} />}
            {whole && <WhyNotForm subject={found.term} />}
          </div>
        </div>
      )}
    </>
  );
}

function Head(props: { found: About; heading: "h1" | "h2"; whole: boolean }) {
  const { found, heading: Title, whole } = props;
  const { term } = found;
  const value = term.type === "uri" ? String(term.value) : shown(term);
  return (
    <header class="resource-head">
      <div class="row">
        <Title class="grow">{named(term)}</Title>
        {whole ? (
          <NamingSwitch />
        ) : (
          <a class="button small" href={href("resource", { term: ntriples(term) })}>
            Open its page
          </a>
        )}
      </div>
      <p class="resource-iri">
        {term.type === "uri" ? <OutLink value={value} /> : <span class="mono">{value}</span>}
        {navigator.clipboard && (
          <button
            type="button"
            class="button small"
            onClick={() => void copy(term.type === "uri" ? `<${value}>` : value)}
          >
            Copy
          </button>
        )}
      </p>
      {found.types.length > 0 && <Types found={found} />}
      {found.comment && <p class="resource-comment">{String(found.comment.value)}</p>}
    </header>
  );
}

async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast("Copied", "good");
  } catch {
    toast("The browser does not allow copying", "bad");
  }
}

const SHOWN_TYPES = 8;

/** The types as chips; asserted ones come first. The list below has all of them, with proofs. */
function Types({ found }: { found: About }) {
  const shownTypes = found.types.slice(0, SHOWN_TYPES);
  const count = found.out.find((each) => isType(each.property.value))?.count;
  const more = (count ?? found.types.length) - shownTypes.length;
  return (
    <div class="chips">
      {shownTypes.map((type) => (
        <span key={ntriples(type.term)} class={`chip${type.inferred ? " inferred" : ""}`}>
          <TermLink term={type.term} byLabel={byLabel()} />
          {type.inferred && <InferredMark />}
        </span>
      ))}
      {more > 0 && <span class="muted small">and {counted(more, "more type", "more types")}</span>}
    </div>
  );
}

function isType(value: unknown): boolean {
  return value === "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
}

function Facts({ found, direction }: { found: About; direction: "out" | "in" }) {
  const groups = found[direction];
  const beyond = direction === "out" ? found.more_out : found.more_in;
  const id = `facts-${direction}`;
  const all = groups.reduce((sum, group) => sum + group.count, 0);
  const asserted = groups.reduce((sum, group) => sum + group.asserted, 0);
  return (
    <section class="panel" aria-labelledby={id}>
      <div class="panel-head">
        <h2 id={id} class="grow">
          {direction === "out" ? "Facts" : "Facts that point to it"}
        </h2>
        {all > 0 && (
          <span class="muted small number">
            {counted(asserted, "asserted", "asserted")}
            {all > asserted && <>, {counted(all - asserted, "inferred", "inferred")}</>}
          </span>
        )}
      </div>
      {groups.length === 0 ? (
        <Empty title={direction === "out" ? "None" : "Nothing points to it"} />
      ) : (
        <div class="panel-body flush">
          {groups.map((group) => (
            <PropertyList
              key={ntriples(group.property)}
              subject={found.term}
              group={group}
              direction={direction}
            />
          ))}
          {beyond > 0 && (
            <p class="muted small panel-foot">
              {counted(beyond, "further property", "further properties")}; a query shows them.
            </p>
          )}
        </div>
      )}
    </section>
  );
}

/** What is equal to the resource, by owl:sameAs and the like. */
function Equals({ found }: { found: About }) {
  return (
    <section class="panel" aria-labelledby="equals">
      <div class="panel-head">
        <h2 id="equals">Equal to it</h2>
      </div>
      <ul class="values panel-body">
        {found.equal.map((term) => (
          <Equal key={ntriples(term)} term={term} found={found} />
        ))}
      </ul>
    </section>
  );
}

function Equal({ term, found }: { term: MarkedTerm; found: About }) {
  const own = ntriples(term);
  const by = found.out.find((group) => group.values.some((each) => ntriples(each.term) === own));
  return (
    <li class="value">
      <TermLink term={term} byLabel={byLabel()} />
      {term.label && byLabel() && <span class="muted mono">{shown(term)}</span>}
      {term.inferred && (
        <span class="marks">
          <InferredMark /> {by && <WhyButton fact={[found.term, by.property, term]} />}
        </span>
      )}
    </li>
  );
}

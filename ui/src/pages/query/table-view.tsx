/** The answer as a table: rows of a SELECT, triples of a CONSTRUCT, or the answer of an ASK. */

import { useMemo, useState } from "preact/hooks";
import type { QueryAnswer, Term } from "../../api/types";
import { Dialog } from "../../components/dialog";
import { LinkedText } from "../../components/linked-text";
import { Empty, Note } from "../../components/notes";
import { VirtualTable, type Column } from "../../components/table";
import { InferredMark, TermLink } from "../../components/term";
import { sortedPositions } from "../../logic/ordering";
import { datatypeTag, isNumber, named, shown, valueOf } from "../../logic/terms";
import { askWhy } from "../../proofs/why-dialog";
import { spread, wishOf } from "../../logic/widths";

/** An answer as columns, whatever it is of. */
export interface Grid {
  names: string[];
  rows: (Term | null)[][];
  /** Per row whether it was inferred; null where that is not known. */
  inferred: boolean[] | null;
  /** Whether rows are triples, for whose inferred ones a proof can be shown. */
  triples?: boolean;
}

/** The rows of an answer; triples are rows of three. */
export function gridOf(answer: QueryAnswer): Grid {
  if (answer.kind === "rows") {
    return { names: answer.vars, rows: answer.rows, inferred: answer.inferred ?? null };
  }
  if (answer.kind === "triples") {
    return {
      names: ["subject", "predicate", "object"],
      rows: answer.triples.map(([s, p, o]) => [s, p, o]),
      inferred: answer.triples.map((triple) => triple[3]),
      triples: true,
    };
  }
  return { names: [], rows: [], inferred: null };
}

/** Longer texts get a button that shows them whole. */
const LONG = 80;

interface GridProps {
  grid: Grid;
  byLabel: boolean;
  label: string;
  /** A mark of single rows, such as those that a commit added. */
  rowClass?: (row: number) => string;
}

/** The table of results; a click on a title sorts. */
export function GridTable({ grid, byLabel, label, rowClass }: GridProps) {
  const [order, setOrder] = useState<{ column: number; down: boolean } | null>(null);
  const [whole, setWhole] = useState<Term | null>(null);
  const positions = useMemo(() => {
    if (!order || order.column >= grid.names.length) return null;
    const column = grid.rows.map((row) => row[order.column] ?? null);
    return sortedPositions(column, order.down ? "descending" : "ascending");
  }, [grid, order]);
  const columns = useMemo(() => columnsOf(grid, byLabel), [grid, byLabel]);
  const marked = grid.inferred?.some(Boolean) ?? false;

  const withSorting = columns.map((column, index): Column => {
    const isOrder = order?.column === index;
    return {
      ...column,
      sorted: isOrder ? (order.down ? "descending" : "ascending") : undefined,
      onSort: () => setOrder(nextOrder(order, index)),
    };
  });
  const at = (row: number) => positions?.[row] ?? row;
  return (
    <>
      <VirtualTable
        label={label}
        columns={withSorting}
        count={grid.rows.length}
        numbered
        mark={marked ? (row) => <RowMark grid={grid} row={at(row)} /> : undefined}
        rowClass={(row) =>
          (grid.inferred?.[at(row)] ? "inferred " : "") + (rowClass?.(at(row)) ?? "")
        }
        cell={(row, column) => {
          const term = grid.rows[at(row)]?.[column];
          return term ? <Cell term={term} byLabel={byLabel} onWhole={setWhole} /> : null;
        }}
      />
      <Dialog title="Whole text" wide open={whole !== null} onClose={() => setWhole(null)}>
        {whole && (
          <>
            {datatypeTag(whole) && <p class="muted mono">{datatypeTag(whole)}</p>}
            <pre tabIndex={0}>{valueOf(whole)}</pre>
          </>
        )}
      </Dialog>
    </>
  );
}

/** The mark of an inferred row; of a triple it is a button that shows the proof. */
function RowMark({ grid, row }: { grid: Grid; row: number }) {
  if (!grid.inferred?.[row]) return null;
  const [subject, predicate, object] = grid.rows[row] ?? [];
  if (!grid.triples || !subject || !predicate || !object) return <InferredMark />;
  return (
    <button
      type="button"
      class="mark-why"
      title="Why does this hold?"
      onClick={() => askWhy({ fact: [subject, predicate, object] })}
    >
      <InferredMark />
      <span class="hidden">: why?</span>
    </button>
  );
}

function Cell(props: { term: Term; byLabel: boolean; onWhole: (term: Term) => void }) {
  const { term } = props;
  const text = valueOf(term);
  if (term.type === "uri" || text.length <= LONG) {
    return <TermLink term={term} byLabel={props.byLabel} />;
  }
  return (
    <button type="button" class="cell-whole" title={text} onClick={() => props.onWhole(term)}>
      {text.slice(0, 300)}
    </button>
  );
}

function columnsOf(grid: Grid, byLabel: boolean): Column[] {
  const sample = spread(grid.rows.length);
  return grid.names.map((name, index): Column => {
    const terms = sample.map((row) => grid.rows[row]?.[index] ?? null);
    const texts = terms.map((term) => (term ? textOf(term, byLabel) : ""));
    const numeric = terms.some(isNumber) && terms.every((term) => !term || isNumber(term));
    return {
      key: `${index}`,
      title: name,
      width: wishOf(texts, name),
      align: numeric ? "end" : "start",
    };
  });
}

function textOf(term: Term, byLabel: boolean): string {
  const text = byLabel ? named(term) : shown(term);
  const tag = term.type === "literal" ? datatypeTag(term) : "";
  return tag ? `${text} ${tag} ` : text;
}

function nextOrder(
  order: { column: number; down: boolean } | null,
  column: number,
): { column: number; down: boolean } | null {
  if (order?.column !== column) return { column, down: false };
  return order.down ? null : { column, down: true };
}

/** The answer of an ASK. */
export function BooleanView({ value }: { value: boolean }) {
  return (
    <p class={`boolean ${value ? "good-text" : "bad-text"}`}>
      {value ? "Yes" : "No"}
      <span class="muted"> — the pattern has {value ? "at least one" : "no"} solution</span>
    </p>
  );
}

/** What is said in place of an empty table, with the advice of the server. */
export function NoRows({ advice }: { advice: string[] }) {
  return (
    <Empty title="The query has no results">
      {advice.length > 0 ? (
        <ul class="advice">
          {advice.map((text) => (
            <li key={text}>
              <LinkedText text={text.charAt(0).toUpperCase() + text.slice(1)} />
            </li>
          ))}
        </ul>
      ) : (
        "Nothing in the store matches all of its patterns."
      )}
    </Empty>
  );
}

/** Advice beside an answer that has rows. */
export function Advice({ advice }: { advice: string[] }) {
  return advice.length > 0 ? (
    <Note kind="warn">
      {advice.map((text) => (
        <p key={text}>
          <LinkedText text={text.charAt(0).toUpperCase() + text.slice(1)} />
        </p>
      ))}
    </Note>
  ) : null;
}

/** A table that draws only the rows in view: `VirtualTable`. 100,000 rows scroll smoothly. */

import type { ComponentChildren } from "preact";
import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";
import { windowOf } from "../logic/window";

export interface Column {
  key: string;
  title: ComponentChildren;
  /** Pixels; without it the column takes a share of what is left. */
  width?: number;
  align?: "start" | "end";
  /** Called by a click on the title; `sorted` is shown as an arrow. */
  onSort?: () => void;
  sorted?: "ascending" | "descending";
}

interface TableProps {
  label: string;
  columns: Column[];
  count: number;
  cell: (row: number, column: number) => ComponentChildren;
  rowClass?: (row: number) => string;
  /** Pixels of a row; texts are cut at the end of their cell. */
  rowHeight?: number;
  /** Pixels at most; the table is as high as its rows below that. */
  maxHeight?: number | string;
  /** Numbers of the rows in a column before the others. */
  numbered?: boolean;
  /** Called when the last rows come into view, to load more. */
  onEnd?: () => void;
}

/**
 * A table of any length. Rows have one height, so positions are known without drawing.
 * Cells take the focus with the arrow keys; the scrolling part takes it by Tab.
 */
export function VirtualTable(props: TableProps) {
  const { rowHeight = 28, numbered = false } = props;
  const frame = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const look = useCallback(() => {
    const element = frame.current;
    if (element) setView({ top: element.scrollTop, height: element.clientHeight });
  }, []);
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element) return;
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const least = props.columns.reduce((sum, column) => sum + (column.width ?? 90), 60);
  const drawn = windowOf(props.count, rowHeight, view.top, view.height);
  const atEnd = drawn.end >= props.count && props.count > 0;
  useLayoutEffect(() => {
    if (atEnd) props.onEnd?.();
  }, [atEnd, props.count]);

  const rows = [];
  for (let row = drawn.first; row < drawn.end; row += 1) {
    rows.push(
      <tr
        key={row}
        aria-rowindex={row + 2}
        class={props.rowClass?.(row)}
        style={{ height: `${rowHeight}px` }}
      >
        {numbered && <td class="row-number">{row + 1}</td>}
        {props.columns.map((column, index) => (
          <td key={column.key} class={column.align === "end" ? "end" : undefined}>
            {props.cell(row, index)}
          </td>
        ))}
      </tr>,
    );
  }
  const span = props.columns.length + (numbered ? 1 : 0);
  return (
    <div
      class="table-frame"
      ref={frame}
      onScroll={look}
      style={{ maxHeight: props.maxHeight ?? "70vh" }}
      tabIndex={0}
      role="region"
      aria-label={props.label}
    >
      <table
        class="table"
        aria-rowcount={props.count + 1}
        aria-label={props.label}
        style={{ minWidth: `${least}px` }}
      >
        <colgroup>
          {numbered && <col style={{ width: `${24 + 8 * String(props.count).length}px` }} />}
          {props.columns.map((column) => (
            <col key={column.key} style={column.width ? { width: `${column.width}px` } : {}} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {numbered && (
              <th class="row-number" scope="col">
                <span class="hidden">Row</span>
              </th>
            )}
            {props.columns.map((column) => (
              <Heading key={column.key} column={column} />
            ))}
          </tr>
        </thead>
        <tbody>
          {drawn.before > 0 && <Room height={drawn.before} span={span} />}
          {rows}
          {drawn.after > 0 && <Room height={drawn.after} span={span} />}
        </tbody>
      </table>
    </div>
  );
}

function Heading({ column }: { column: Column }) {
  const arrow = column.sorted === "ascending" ? " ▲" : column.sorted === "descending" ? " ▼" : "";
  return (
    <th scope="col" class={column.align === "end" ? "end" : undefined} aria-sort={column.sorted}>
      {column.onSort ? (
        <button type="button" class="sort" onClick={column.onSort}>
          {column.title}
          <span aria-hidden="true">{arrow}</span>
        </button>
      ) : (
        column.title
      )}
    </th>
  );
}

/** The height of rows that are not drawn. */
function Room({ height, span }: { height: number; span: number }) {
  return (
    <tr class="room" aria-hidden="true">
      <td colSpan={span} style={{ height: `${height}px` }} />
    </tr>
  );
}

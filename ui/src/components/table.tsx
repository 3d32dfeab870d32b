/** A table that draws only the rows in view: `VirtualTable`. 100,000 rows scroll smoothly. */

import type { ComponentChildren } from "preact";
import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";
import { fitted } from "../logic/widths";
import { windowOf } from "../logic/window";

export interface Column {
  key: string;
  title: ComponentChildren;
  /** Pixels that its texts need; the column is narrower where the room is. */
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
  /** A mark beside the number of a row, such as the one of inferred rows. */
  mark?: (row: number) => ComponentChildren;
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
  const [view, setView] = useState({ top: 0, height: 600, width: 0 });
  const look = useCallback(() => {
    const element = frame.current;
    if (!element) return;
    // Drawn anew after some rows only: the rows around those in view hide the rest.
    const top = element.scrollTop - (element.scrollTop % (rowHeight * 4));
    const [height, width] = [element.clientHeight, element.clientWidth];
    setView((before) =>
      before.top === top && before.height === height && before.width === width
        ? before
        : { top, height, width },
    );
  }, []);
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element) return;
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const front = numbered ? 22 + 7 * String(props.count).length + (props.mark ? 14 : 0) : 0;
  const wishes = props.columns.map((column) => column.width ?? 160);
  const widths = fitted(wishes, view.width - front);
  const whole = widths.reduce((sum, width) => sum + width, front);
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
        {numbered && (
          <td class="row-number">
            {props.mark?.(row)} {row + 1}
          </td>
        )}
        {props.columns.map((column, index) => (
          <td key={column.key} class={column.align === "end" ? "end" : undefined}>
            {props.cell(row, index)}
          </td>
        ))}
        <td class="filler" aria-hidden="true" />
      </tr>,
    );
  }
  const span = props.columns.length + (numbered ? 2 : 1);
  return (
    <div
      class="table-frame"
      ref={frame}
      onScroll={look}
      style={{ maxHeight: props.maxHeight ?? "70vh" }}
      tabIndex={0}
      role="group"
      aria-label={`${props.label}: rows`}
    >
      <table
        class="table"
        aria-rowcount={props.count + 1}
        aria-label={props.label}
        style={{ minWidth: `${whole}px` }}
      >
        <colgroup>
          {numbered && <col style={{ width: `${front}px` }} />}
          {props.columns.map((column, index) => (
            <col key={column.key} style={{ width: `${widths[index]}px` }} />
          ))}
          <col />
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
            <td class="filler" aria-hidden="true" />
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

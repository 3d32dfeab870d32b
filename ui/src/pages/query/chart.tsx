/** One chart as SVG; it has a text for who cannot see it. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Term } from "../../api/types";
import { categoryOf, isDate, numberOf, scaleOf, tickText, type Scale } from "../../logic/charting";

export type ChartKind = "bar" | "line" | "scatter";

interface ChartProps {
  kind: ChartKind;
  rows: (Term | null)[][];
  across: number;
  series: { column: number; name: string }[];
  /** The name of the column across. */
  title: string;
}

const HEIGHT = 380;
const EDGE = { top: 12, right: 16, left: 60 };

interface Point {
  x: number;
  y: number | null;
  text: string;
}

export function Chart(props: ChartProps) {
  const { kind, rows, across, series } = props;
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(800);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setWidth(Math.max(Math.floor(entry.contentRect.width), 260));
    });
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);

  const places = rows.map((row) => numberOf(row[across]));
  const byNumber = kind !== "bar" && places.every((place) => place !== null);
  const categories = rows.map((row) => categoryOf(row[across]));
  const values = series.flatMap(({ column }) =>
    rows.map((row) => numberOf(row[column])).filter((value) => value !== null),
  );
  const upDates = rows.some((row) => series.some(({ column }) => isDate(row[column])));
  const acrossDates = rows.some((row) => isDate(row[across]));
  const longest = byNumber ? 6 : Math.max(...categories.map((text) => text.length), 1);
  const crowded = !byNumber && longest * 7 > (width - EDGE.left) / Math.max(rows.length, 1);
  const bottom = crowded ? Math.min(28 + longest * 5, 130) : 34;
  const inner = { width: width - EDGE.left - EDGE.right, height: HEIGHT - EDGE.top - bottom };
  const up = scaleOf(values, kind === "bar");
  const along = byNumber ? scaleOf(places as number[], false, 7) : null;

  const xOf = (row: number): number =>
    along ? share(places[row]!, along) * inner.width : ((row + 0.5) / rows.length) * inner.width;
  const yOf = (value: number): number => inner.height - share(value, up) * inner.height;
  const points = series.map(({ column, name }): Point[] =>
    rows.map((row, index) => {
      const value = numberOf(row[column]);
      return {
        x: xOf(index),
        y: value === null ? null : yOf(value),
        text: `${categories[index]} · ${name}: ${categoryOf(row[column])}`,
      };
    }),
  );
  const names = series.map(({ name }) => name).join(", ");
  return (
    <div class="chart" ref={box}>
      <svg
        width={width}
        height={HEIGHT}
        role="img"
        aria-label={`Chart of ${names} by ${props.title}, ${rows.length} rows; the table has the values`}
      >
        <g transform={`translate(${EDGE.left} ${EDGE.top})`}>
          {up.ticks.map((tick) => (
            <g key={tick} transform={`translate(0 ${yOf(tick)})`}>
              <line class={tick === 0 ? "chart-zero" : "chart-grid"} x2={inner.width} />
              <text class="chart-text" x={-8} dy="0.32em" text-anchor="end">
                {tickText(tick, upDates, up.most - up.least)}
              </text>
            </g>
          ))}
          {along ? (
            <NumberAxis scale={along} dates={acrossDates} width={inner.width} y={inner.height} />
          ) : (
            <NameAxis
              names={categories}
              xOf={xOf}
              y={inner.height}
              crowded={crowded}
              width={inner.width}
            />
          )}
          {points.map((line, index) => (
            <g key={index} class={`series-${(index % 6) + 1}`}>
              {kind === "bar" && (
                <Bars line={line} of={points.length} at={index} width={inner.width} zero={yOf(0)} />
              )}
              {kind === "line" && <Line line={line} />}
              {kind === "scatter" && <Dots line={line} radius={3.5} />}
            </g>
          ))}
        </g>
      </svg>
      {series.length > 1 && (
        <ul class="chart-legend">
          {series.map(({ name }, index) => (
            <li key={name}>
              <span class={`swatch series-${(index % 6) + 1}`} aria-hidden="true" /> {name}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function share(value: number, scale: Scale): number {
  return (value - scale.least) / (scale.most - scale.least);
}

function NumberAxis(props: { scale: Scale; dates: boolean; width: number; y: number }) {
  const { scale } = props;
  return (
    <g transform={`translate(0 ${props.y})`}>
      {scale.ticks.map((tick) => (
        <text
          key={tick}
          class="chart-text"
          x={share(tick, scale) * props.width}
          y={20}
          text-anchor="middle"
        >
          {tickText(tick, props.dates, scale.most - scale.least)}
        </text>
      ))}
    </g>
  );
}

/** Names below the bars; as many as have room. */
function NameAxis(props: {
  names: string[];
  xOf: (row: number) => number;
  y: number;
  crowded: boolean;
  width: number;
}) {
  const every = Math.max(1, Math.ceil((props.names.length * (props.crowded ? 19 : 1)) / props.width));
  return (
    <g transform={`translate(0 ${props.y})`}>
      {props.names.map((name, row) =>
        row % every === 0 ? (
          <text
            key={row}
            class="chart-text"
            transform={`translate(${props.xOf(row)} 16)${props.crowded ? " rotate(-40)" : ""}`}
            text-anchor={props.crowded ? "end" : "middle"}
          >
            {name.length > 22 ? `${name.slice(0, 21)}…` : name}
          </text>
        ) : null,
      )}
    </g>
  );
}

function Bars(props: { line: Point[]; of: number; at: number; width: number; zero: number }) {
  const room = props.width / Math.max(props.line.length, 1);
  const thick = Math.max(Math.min((room * 0.8) / props.of, 60), 1);
  return (
    <>
      {props.line.map((point, row) =>
        point.y === null ? null : (
          <rect
            key={row}
            x={point.x - (thick * props.of) / 2 + thick * props.at}
            y={Math.min(point.y, props.zero)}
            width={Math.max(thick - 1, 1)}
            height={Math.max(Math.abs(point.y - props.zero), 0.5)}
          >
            <title>{point.text}</title>
          </rect>
        ),
      )}
    </>
  );
}

function Line({ line }: { line: Point[] }) {
  const drawn = line.filter((point) => point.y !== null).sort((a, b) => a.x - b.x);
  return (
    <>
      <polyline class="chart-line" points={drawn.map((p) => `${p.x},${p.y}`).join(" ")} />
      {drawn.length <= 200 && <Dots line={drawn} radius={2.5} />}
    </>
  );
}

function Dots({ line, radius }: { line: Point[]; radius: number }) {
  return (
    <>
      {line.map((point, row) =>
        point.y === null ? null : (
          <circle key={row} cx={point.x} cy={point.y} r={radius}>
            <title>{point.text}</title>
          </circle>
        ),
      )}
    </>
  );
}

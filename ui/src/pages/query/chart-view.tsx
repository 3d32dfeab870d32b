/** The answer as a chart: bars, lines or points from chosen columns, drawn as SVG. */

import { useMemo, useState } from "preact/hooks";
import { Segmented } from "../../components/controls";
import { Empty, Note } from "../../components/notes";
import { numericColumns } from "../../logic/charting";
import { Chart, type ChartKind } from "./chart";
import type { Grid } from "./table-view";

const KINDS: { value: ChartKind; label: string }[] = [
  { value: "bar", label: "Bars" },
  { value: "line", label: "Lines" },
  { value: "scatter", label: "Points" },
];
/** More bars than this cannot be told apart. */
const MOST: Record<ChartKind, number> = { bar: 200, line: 5000, scatter: 5000 };

export function ChartView({ grid }: { grid: Grid }) {
  const numeric = useMemo(() => numericColumns(grid.rows, grid.names.length), [grid]);
  const other = grid.names.findIndex((_, index) => !numeric.includes(index));
  const [kind, setKind] = useState<ChartKind>(other >= 0 ? "bar" : "scatter");
  const [across, setAcross] = useState<number>(other >= 0 ? other : (numeric[0] ?? 0));
  const [up, setUp] = useState<number[]>(numeric.filter((column) => column !== across).slice(0, 1));
  if (numeric.length === 0) {
    return (
      <Empty title="No column of numbers">
        A chart needs a column of numbers or dates, such as one of COUNT.
      </Empty>
    );
  }
  const shown = up.filter((column) => column < grid.names.length);
  const rows = grid.rows.slice(0, MOST[kind]);
  const toggle = (column: number) =>
    setUp(shown.includes(column) ? shown.filter((each) => each !== column) : [...shown, column]);
  return (
    <div class="stack panel-body">
      <div class="row">
        <Segmented label="Kind of chart" value={kind} choices={KINDS} onChange={setKind} />
        <label class="field inline">
          Across
          <select
            value={across}
            onChange={(event) => setAcross(Number(event.currentTarget.value))}
          >
            {grid.names.map((name, index) => (
              <option key={name} value={index}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <fieldset class="chart-columns">
          <legend class="muted">Up</legend>
          {numeric.map((column) => (
            <label key={column}>
              <input
                type="checkbox"
                checked={shown.includes(column)}
                onChange={() => toggle(column)}
              />
              {grid.names[column]}
            </label>
          ))}
        </fieldset>
      </div>
      {rows.length < grid.rows.length && <Note>The first {rows.length} rows are drawn.</Note>}
      {shown.length === 0 ? (
        <Empty title="Choose a column for the height" />
      ) : (
        <Chart
          kind={kind}
          rows={rows}
          across={across}
          series={shown.map((column) => ({ column, name: grid.names[column]! }))}
          title={grid.names[across]!}
        />
      )}
    </div>
  );
}

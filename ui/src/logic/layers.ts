/** Places for the nodes of a proof: what follows is below what it follows from. No DOM here. */

export interface Place {
  x: number;
  y: number;
}

/** Pixels from the middle of a box to that of the next one. */
const ACROSS = 258;
const DOWN = 92;

/**
 * A place for each node. Arrows go down; a node without arrows from it is in the last row. Each
 * box takes a column of its own unless it stands in the middle of what leads to it, so boxes do
 * not overlap.
 */
export function placesOf(
  nodes: string[],
  edges: { from: string; to: string }[],
): Map<string, Place> {
  const leading = new Map<string, string[]>(nodes.map((node) => [node, []]));
  const following = new Map<string, number>(nodes.map((node) => [node, 0]));
  for (const { from, to } of edges) {
    if (!leading.has(from) || !leading.has(to) || from === to) continue;
    leading.get(to)!.push(from);
    following.set(from, following.get(from)! + 1);
  }
  const ends = nodes.filter((node) => following.get(node) === 0);
  const rows = rowsAbove(ends, leading, following);
  const deepest = Math.max(0, ...rows.values());
  const columns = columnsOf([...ends, ...nodes], leading);
  return new Map(
    nodes.map((node) => [
      node,
      { x: columns.get(node)! * ACROSS, y: (deepest - (rows.get(node) ?? deepest)) * DOWN },
    ]),
  );
}

/** How many rows each node is above the last one: the longest way down. */
function rowsAbove(
  ends: string[],
  leading: Map<string, string[]>,
  following: Map<string, number>,
): Map<string, number> {
  const rows = new Map(ends.map((node) => [node, 0]));
  const left = new Map(following);
  const ready = [...ends];
  for (let node = ready.pop(); node !== undefined; node = ready.pop()) {
    for (const above of leading.get(node)!) {
      rows.set(above, Math.max(rows.get(above) ?? 0, rows.get(node)! + 1));
      left.set(above, left.get(above)! - 1);
      if (left.get(above) === 0) ready.push(above);
    }
  }
  return rows;
}

/** The column of each node: a new one for each node that nothing new leads to. */
function columnsOf(starts: string[], leading: Map<string, string[]>): Map<string, number> {
  const columns = new Map<string, number>();
  const seen = new Set<string>();
  let next = 0;
  const visit = (node: string): number => {
    seen.add(node);
    const above: number[] = [];
    for (const other of leading.get(node)!) if (!seen.has(other)) above.push(visit(other));
    const column = above.length > 0 ? (above[0]! + above[above.length - 1]!) / 2 : next++;
    columns.set(node, column);
    return column;
  };
  for (const start of starts) if (!seen.has(start)) visit(start);
  return columns;
}

/** A tree of any size as the rows that are unfolded: start at `rowsOf`. No DOM here. */

export interface Branch<T> {
  item: T;
  /** Its own among its siblings. */
  key: string;
  level: number;
  parent: Branch<T> | null;
  open: boolean;
  /** Null until they were loaded. */
  children: Branch<T>[] | null;
  /** Whether the server has more children than were loaded. */
  more: boolean;
  error: string;
}

/** A row: an item, or the place where more children of a branch follow. */
export interface Row<T> {
  branch: Branch<T>;
  rest: boolean;
  /** Its place among its siblings, from 1. */
  place: number;
}

/** The branch above all roots. */
export function rootBranch<T>(): Branch<T> {
  return made(undefined as T, "", -1, null, true);
}

function made<T>(
  item: T,
  key: string,
  level: number,
  parent: Branch<T> | null,
  open = false,
): Branch<T> {
  return { item, key, level, parent, open, children: null, more: false, error: "" };
}

/** Put loaded items behind the children of a branch; those it has already are left out. */
export function addChildren<T>(
  branch: Branch<T>,
  items: T[],
  more: boolean,
  keyOf: (item: T) => string,
): Branch<T>[] {
  const children = branch.children ?? [];
  const known = new Set(children.map((child) => child.key));
  const added = items
    .map((item) => made(item, keyOf(item), branch.level + 1, branch))
    .filter((child) => !known.has(child.key));
  branch.children = children.concat(added);
  branch.more = more;
  branch.error = "";
  return added;
}

/** The rows that are unfolded, from top to bottom. Written without recursion: trees may be deep. */
export function rowsOf<T>(root: Branch<T>): Row<T>[] {
  const rows: Row<T>[] = [];
  const waiting: Row<T>[] = [];
  const unfold = (branch: Branch<T>) => {
    if (branch.more || branch.error) waiting.push({ branch, rest: true, place: 0 });
    const children = branch.children ?? [];
    for (let at = children.length - 1; at >= 0; at -= 1) {
      waiting.push({ branch: children[at]!, rest: false, place: at + 1 });
    }
  };
  unfold(root);
  for (let row = waiting.pop(); row; row = waiting.pop()) {
    rows.push(row);
    if (!row.rest && row.branch.open) unfold(row.branch);
  }
  return rows;
}

/** The keys from a root to a branch. */
export function keysTo<T>(branch: Branch<T>): string[] {
  const keys: string[] = [];
  for (let at: Branch<T> | null = branch; at && at.level >= 0; at = at.parent) keys.unshift(at.key);
  return keys;
}

/** A name of the branch that is its own in the whole tree. */
export function pathOf<T>(branch: Branch<T>): string {
  return keysTo(branch).join("\n");
}

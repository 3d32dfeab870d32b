/** A tree that draws only the rows in view: `VirtualTree`. For hierarchies of 100,000 classes. */

import type { ComponentChildren } from "preact";
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { messageOf } from "../api/client";
import { addChildren, pathOf, rootBranch, rowsOf, type Branch } from "../logic/branches";
import { windowOf } from "../logic/window";
import "./virtual-tree.css";

interface Part<T> {
  items: T[];
  more: boolean;
}

interface VirtualTreeProps<T> {
  label: string;
  keyOf: (item: T) => string;
  render: (item: T) => ComponentChildren;
  /** The text that screen readers say and that typing a letter looks for. */
  nameOf: (item: T) => string;
  hasChildren: (item: T) => boolean;
  /** A page of the children of an item, or of the roots for null. */
  load: (item: T | null, offset: number) => Promise<Part<T>>;
  onChoose: (item: T) => void;
  /** The items from a root to one that is unfolded, scrolled to and marked. */
  reveal?: T[] | undefined;
  /** What is shown without any root. */
  empty: ComponentChildren;
}

const ROW = 28;
/** Pages of siblings that are loaded to find an item; after them it is put in by itself. */
const SEARCHED = 4;

/** Give it another `key` to load it anew. */
export function VirtualTree<T>(props: VirtualTreeProps<T>) {
  const [root] = useState(() => rootBranch<T>());
  const [version, setVersion] = useState(0);
  const [ready, setReady] = useState(false);
  const [active, setActive] = useState<Branch<T> | null>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const frame = useRef<HTMLDivElement>(null);
  const loading = useRef(new Map<Branch<T>, Promise<void>>());
  const id = useId();
  const rows = useMemo(() => rowsOf(root), [version]);
  const draw = () => setVersion((before) => before + 1);

  const loadMore = (branch: Branch<T>): Promise<void> => {
    const under = loading.current.get(branch);
    if (under) return under;
    const started = props
      .load(branch.level < 0 ? null : branch.item, branch.children?.length ?? 0)
      .then(
        (part) => void addChildren(branch, part.items, part.more, props.keyOf),
        (error: unknown) => {
          branch.children ??= [];
          branch.error = messageOf(error);
        },
      )
      .finally(() => {
        loading.current.delete(branch);
        draw();
      });
    loading.current.set(branch, started);
    return started;
  };
  const unfold = async (branch: Branch<T>) => {
    branch.open = true;
    if (branch.children === null) await loadMore(branch);
    else draw();
  };
  const fold = (branch: Branch<T>) => {
    branch.open = false;
    draw();
  };

  useEffect(() => {
    void loadMore(root).then(async () => {
      const [only, second] = root.children ?? [];
      if (only && !second && !props.reveal && props.hasChildren(only.item)) await unfold(only);
      setActive((now) => now ?? root.children?.[0] ?? null);
      setReady(true);
    });
    const element = frame.current;
    if (!element) return;
    const look = () => setView({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => observer.disconnect();
  }, []);

  const wanted = props.reveal?.map(props.keyOf).join("\n") ?? "";
  useEffect(() => {
    let current = true;
    const last = props.reveal?.at(-1);
    if (!wanted || !last || active?.key === props.keyOf(last)) return;
    void (async () => {
      let branch = root;
      for (const item of props.reveal ?? []) {
        await unfold(branch);
        if (!current) return;
        branch = await child(branch, item);
      }
      if (!current) return;
      setActive(branch);
      draw();
      scrollTo(branch, true);
    })();
    return () => {
      current = false;
    };
  }, [wanted]);

  const child = async (branch: Branch<T>, item: T): Promise<Branch<T>> => {
    const key = props.keyOf(item);
    const find = () => branch.children?.find((each) => each.key === key);
    for (let page = 0; !find() && branch.more && !branch.error && page < SEARCHED; page += 1) {
      await loadMore(branch);
    }
    return find() ?? addChildren(branch, [item], branch.more, props.keyOf)[0]!;
  };

  const scrollTo = (branch: Branch<T>, middle = false) => {
    const element = frame.current;
    const at = rowsOf(root).findIndex((row) => row.branch === branch && !row.rest);
    if (!element || at < 0) return;
    const [top, bottom] = [at * ROW, (at + 1) * ROW];
    requestAnimationFrame(() => {
      if (middle) element.scrollTop = top - element.clientHeight / 3;
      else if (top < element.scrollTop) element.scrollTop = top;
      else if (bottom > element.scrollTop + element.clientHeight) {
        element.scrollTop = bottom - element.clientHeight;
      }
    });
  };
  const moveTo = (branch: Branch<T> | null | undefined) => {
    if (!branch || branch.level < 0) return;
    setActive(branch);
    scrollTo(branch);
  };
  const items = useMemo(() => rows.filter((row) => !row.rest).map((row) => row.branch), [rows]);
  const letter = (typed: string, from: number) => {
    const starts = (branch: Branch<T>) =>
      props.nameOf(branch.item).toLowerCase().startsWith(typed.toLowerCase());
    return items.slice(from + 1).find(starts) ?? items.find(starts);
  };
  const keys = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !active) return;
    const at = items.indexOf(active);
    const foldable = props.hasChildren(active.item);
    const page = Math.max(1, Math.floor(view.height / ROW) - 1);
    if (event.key === "ArrowDown") moveTo(items[at + 1]);
    else if (event.key === "ArrowUp") moveTo(items[at - 1]);
    else if (event.key === "PageDown") moveTo(items[Math.min(at + page, items.length - 1)]);
    else if (event.key === "PageUp") moveTo(items[Math.max(at - page, 0)]);
    else if (event.key === "Home") moveTo(items[0]);
    else if (event.key === "End") moveTo(items[items.length - 1]);
    else if (event.key === "ArrowRight" && foldable && !active.open) void unfold(active);
    else if (event.key === "ArrowRight") moveTo(active.open ? active.children?.[0] : null);
    else if (event.key === "ArrowLeft" && active.open) fold(active);
    else if (event.key === "ArrowLeft") moveTo(active.parent);
    else if (event.key === "Enter" || event.key === " ") props.onChoose(active.item);
    else if (/^[\p{L}\p{N}]$/u.test(event.key)) moveTo(letter(event.key, at));
    else return;
    event.preventDefault();
  };

  const drawn = windowOf(rows.length, ROW, view.top, view.height);
  const inView = rows.slice(drawn.first, drawn.end);
  const unfinished = inView.find((row) => row.rest && !row.branch.error)?.branch;
  useEffect(() => {
    if (unfinished) void loadMore(unfinished);
  }, [unfinished, version]);
  if (ready && rows.length === 0) return <>{props.empty}</>;
  const idOf = (branch: Branch<T>) => `${id}-${rows.findIndex((row) => row.branch === branch)}`;
  return (
    <div
      class="vtree"
      ref={frame}
      role="tree"
      aria-label={props.label}
      aria-busy={!ready}
      aria-activedescendant={active && inView.some((row) => row.branch === active) ? idOf(active) : undefined}
      tabIndex={0}
      onKeyDown={keys}
    >
      <div class="vtree-room" role="none" style={{ height: `${rows.length * ROW}px` }}>
        {inView.map((row, index) => {
          const at = drawn.first + index;
          const style = { top: `${at * ROW}px`, paddingLeft: `${4 + indent(row)}px` };
          return row.rest ? (
            <div key={`rest ${pathOf(row.branch)}`} class="vtree-rest" role="none" style={style}>
              {row.branch.error ? (
                <>
                  <span class="bad-text">{row.branch.error}</span>{" "}
                  <button type="button" class="button small" onClick={() => void loadMore(row.branch)}>
                    Try again
                  </button>
                </>
              ) : (
                <span class="muted">Loading …</span>
              )}
            </div>
          ) : (
            <div
              key={pathOf(row.branch)}
              id={`${id}-${at}`}
              class="vtree-row"
              role="treeitem"
              aria-level={row.branch.level + 1}
              aria-posinset={row.place}
              aria-setsize={row.branch.parent?.more ? -1 : row.branch.parent?.children?.length}
              aria-expanded={props.hasChildren(row.branch.item) ? row.branch.open : undefined}
              aria-selected={row.branch === active}
              style={style}
              onClick={() => {
                setActive(row.branch);
                props.onChoose(row.branch.item);
              }}
              onDblClick={() => void (row.branch.open ? fold(row.branch) : unfold(row.branch))}
            >
              <span
                class={`twist${props.hasChildren(row.branch.item) ? "" : " leaf"}`}
                aria-hidden="true"
                onClick={(event) => {
                  event.stopPropagation();
                  if (!props.hasChildren(row.branch.item)) return;
                  setActive(row.branch);
                  if (row.branch.open) fold(row.branch);
                  else void unfold(row.branch);
                }}
              />
              {props.render(row.branch.item)}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function indent<T>(row: { branch: Branch<T>; rest: boolean }): number {
  return 16 * Math.min(row.rest ? row.branch.level + 1 : row.branch.level, 24);
}

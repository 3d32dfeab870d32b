/** A tree whose branches are loaded when they unfold: `Tree`. For classes, proofs and plans. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { messageOf } from "../api/client";

/** Some children of a node, and whether more follow. */
export interface Branch<T> {
  items: T[];
  more: boolean;
}

interface TreeProps<T> {
  label: string;
  /** A name of the item that is its own among its siblings. */
  keyOf: (item: T) => string;
  render: (item: T) => ComponentChildren;
  hasChildren: (item: T) => boolean;
  /** The children of an item, or the roots for null, from an offset on. */
  load: (item: T | null, offset: number) => Branch<T> | Promise<Branch<T>>;
  /** The keys from a root to an item that is unfolded, scrolled to and marked. */
  reveal?: string[];
  /** Levels that are unfolded at first. */
  unfolded?: number;
  onChoose?: (item: T) => void;
  /** Changes of it load the tree anew. */
  version?: unknown;
}

interface Node<T> {
  item: T;
  key: string;
  path: string;
  level: number;
  open: boolean;
  children: Node<T>[] | null;
  more: boolean;
  error: string;
}

/**
 * A tree by the pattern of WAI-ARIA: arrow keys move and unfold, Home and End go to the ends,
 * Enter chooses. Only what is unfolded is drawn.
 */
export function Tree<T>(props: TreeProps<T>) {
  const root = useRef<Node<T>>(rootNode<T>());
  const [, redraw] = useState(0);
  const [active, setActive] = useState("");
  const list = useRef<HTMLUListElement>(null);
  const draw = () => redraw((count) => count + 1);

  const fetchMore = async (node: Node<T>) => {
    const offset = node.children?.length ?? 0;
    try {
      const loading = props.load(node.level < 0 ? null : node.item, offset);
      const branch = loading instanceof Promise ? await loading : loading;
      const made = branch.items.map((item) => nodeOf(item, node, props.keyOf(item)));
      node.children = [...(node.children ?? []), ...made];
      node.more = branch.more && made.length > 0;
      node.error = "";
    } catch (error) {
      node.children ??= [];
      node.error = messageOf(error);
    }
  };
  const unfold = async (node: Node<T>, levels = 1): Promise<void> => {
    node.open = true;
    if (node.children === null) await fetchMore(node);
    if (levels > 1) {
      const inner = (node.children ?? []).filter((child) => props.hasChildren(child.item));
      await Promise.all(inner.map((child) => unfold(child, levels - 1)));
    }
    draw();
  };

  useEffect(() => {
    root.current = rootNode<T>();
    void unfold(root.current, 1 + (props.unfolded ?? 0)).then(() => {
      setActive(root.current.children?.[0]?.path ?? "");
    });
  }, [props.version]);

  const wanted = props.reveal?.join("\n") ?? "";
  useEffect(() => {
    if (!props.reveal?.length) return;
    let current = true;
    void (async () => {
      let node = root.current;
      for (const key of props.reveal ?? []) {
        await unfold(node);
        while (current && node.more && !node.children?.some((child) => child.key === key)) {
          await fetchMore(node);
        }
        const next = node.children?.find((child) => child.key === key);
        if (!next || !current) break;
        node = next;
      }
      if (!current || node.level < 0) return;
      draw();
      setActive(node.path);
      requestAnimationFrame(() => elementOf(node.path)?.scrollIntoView({ block: "center" }));
    })();
    return () => {
      current = false;
    };
  }, [wanted, props.version]);

  const elementOf = (path: string) =>
    list.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(path)}"]`);
  const focus = (node: Node<T> | undefined) => {
    if (!node) return;
    setActive(node.path);
    elementOf(node.path)?.focus();
  };
  const visible = flat(root.current);
  const keys = (event: KeyboardEvent) => {
    const at = visible.findIndex((node) => node.path === active);
    const node = visible[at];
    if (!node) return;
    const foldable = props.hasChildren(node.item);
    if (event.key === "ArrowDown") focus(visible[at + 1]);
    else if (event.key === "ArrowUp") focus(visible[at - 1]);
    else if (event.key === "Home") focus(visible[0]);
    else if (event.key === "End") focus(visible[visible.length - 1]);
    else if (event.key === "ArrowRight" && foldable && !node.open) void unfold(node);
    else if (event.key === "ArrowRight" && node.open) focus(node.children?.[0]);
    else if (event.key === "ArrowLeft" && node.open) fold(node);
    else if (event.key === "ArrowLeft") focus(parentOf(visible, at));
    else if (event.key === "Enter") act(event, node);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const fold = (node: Node<T>) => {
    node.open = false;
    draw();
  };
  const act = (event: KeyboardEvent, node: Node<T>) => {
    if ((event.target as HTMLElement).closest("a, button")) return;
    if (props.onChoose) props.onChoose(node.item);
    else elementOf(node.path)?.querySelector("a")?.click();
  };
  const toggle = (node: Node<T>) => {
    if (node.open) fold(node);
    else void unfold(node);
  };

  const branch = (nodes: Node<T>[]): ComponentChildren =>
    nodes.map((node) => {
      const foldable = props.hasChildren(node.item);
      return (
        <li
          key={node.path}
          role="treeitem"
          data-path={node.path}
          aria-level={node.level + 1}
          aria-expanded={foldable ? node.open : undefined}
          aria-selected={node.path === active}
          tabIndex={node.path === active ? 0 : -1}
          onFocus={(event) => {
            event.stopPropagation();
            setActive(node.path);
          }}
        >
          <div
            class="tree-row"
            onClick={(event) => {
              if ((event.target as HTMLElement).closest("a, button, input")) return;
              setActive(node.path);
              if (props.onChoose) props.onChoose(node.item);
              else if (foldable) toggle(node);
            }}
          >
            <span
              class={`twist${foldable ? "" : " leaf"}`}
              aria-hidden="true"
              onClick={(event) => {
                event.stopPropagation();
                if (foldable) toggle(node);
              }}
            />
            {props.render(node.item)}
          </div>
          {node.open && foldable && (
            <ul role="group">
              {branch(node.children ?? [])}
              {rest(node)}
            </ul>
          )}
        </li>
      );
    });
  const rest = (node: Node<T>) =>
    (node.more || node.error) && (
      <li role="none" class="tree-rest">
        {node.error && <span class="bad-text">{node.error} </span>}
        <button
          type="button"
          class="button quiet small"
          onClick={() => void fetchMore(node).then(draw)}
        >
          {node.error ? "Try again" : "Show more"}
        </button>
      </li>
    );
  return (
    <ul class="tree" role="tree" aria-label={props.label} ref={list} onKeyDown={keys}>
      {branch(root.current.children ?? [])}
      {rest(root.current)}
    </ul>
  );
}

function rootNode<T>(): Node<T> {
  const none = undefined as T;
  const nothing = { open: true, children: null, more: false, error: "" };
  return { item: none, key: "", path: "", level: -1, ...nothing };
}

function nodeOf<T>(item: T, parent: Node<T>, key: string): Node<T> {
  return {
    item,
    key,
    path: `${parent.path}\n${key}`,
    level: parent.level + 1,
    open: false,
    children: null,
    more: false,
    error: "",
  };
}

function flat<T>(node: Node<T>): Node<T>[] {
  if (!node.open) return [];
  return (node.children ?? []).flatMap((child) => [child, ...flat(child)]);
}

function parentOf<T>(visible: Node<T>[], at: number): Node<T> | undefined {
  const level = visible[at]?.level ?? 0;
  for (let index = at - 1; index >= 0; index -= 1) {
    if (visible[index]!.level < level) return visible[index];
  }
  return undefined;
}

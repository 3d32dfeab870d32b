"""Which nodes are connected: the trees of a union-find over edges, and walks along them."""

from __future__ import annotations

from collections import deque

import numpy as np

from triplestore.closures.scheme import WorkLimit
from triplestore.closures.thresholds import CLOSURES
from triplestore.relations.facts.sorted_arrays import sorted_distinct
from triplestore.relations.packed_keys import I64, U32, U64, high, low, swap


def ends_of(edges: U64) -> U32:
    """The nodes that sorted edges have as first or second id, sorted and distinct."""
    heads = high(edges)
    fresh = np.ones(len(heads), dtype=np.bool_)
    np.not_equal(heads[1:], heads[:-1], out=fresh[1:])
    return sorted_distinct(np.concatenate((heads[fresh], sorted_distinct(low(edges)))))


def places_of(ids: U32, nodes: U32) -> U32:
    """The place of each id among sorted nodes; each of them is there."""
    if len(nodes) == 0:
        return ids
    low = int(nodes[0])
    span = int(nodes[-1]) - low + 1
    if span > CLOSURES.dense_span * len(ids) or len(ids) < CLOSURES.kernel_rows:
        return nodes.searchsorted(ids).astype(np.uint32)
    table = np.empty(span, dtype=np.uint32)
    table[nodes - np.uint32(low)] = np.arange(len(nodes), dtype=np.uint32)
    found: U32 = table[ids - np.uint32(low)]
    return found


def join_trees(left: U32, right: U32, parent: U32, budget: WorkLimit | None = None) -> I64:
    """The tree of each node, numbered by their least nodes, once these edges have joined trees.

    left, right  places of nodes
    parent       a forest in which no node's parent is greater than the node; it is changed
    """
    from triplestore.kernels.closures.components import unite_ends  # does not load numba by itself

    if len(left) < CLOSURES.kernel_rows:
        few = parent.tolist()
        unite_ends.py_func(left.tolist(), right.tolist(), few)
        parent[:] = few
    else:
        for at in range(0, len(left), CLOSURES.kernel_edges):
            if budget is not None:
                budget.check()
            unite_ends(
                left[at : at + CLOSURES.kernel_edges],
                right[at : at + CLOSURES.kernel_edges],
                parent,
            )
    roots = parent
    while True:
        further = roots[roots]
        if np.array_equal(further, roots):
            break
        roots = further
    number = np.cumsum(roots == np.arange(len(roots), dtype=np.uint32)) - 1
    return number[roots]


def walk(edges: U64, start: int, end: int) -> list[int]:
    """A shortest way from `start` to `end` along one or more of the edges, in either direction."""
    nodes = ends_of(edges)
    both = np.sort(np.concatenate((edges, swap(edges))))
    sources, targets = places_of(high(both), nodes), places_of(low(both), nodes).tolist()
    bounds = np.searchsorted(sources, np.arange(len(nodes) + 1)).tolist()
    begin, goal = nodes.searchsorted(np.array([start, end], dtype=np.uint32)).tolist()
    came: dict[int, int] = {}
    todo = deque([begin])
    while todo and goal not in came:
        at = todo.popleft()
        for place in range(bounds[at], bounds[at + 1]):
            target = targets[place]
            if target not in came:
                came[target] = at
                todo.append(target)
    if goal not in came:
        return []
    way = [goal, came[goal]]
    while way[-1] != begin:
        way.append(came[way[-1]])
    return [int(nodes[place]) for place in reversed(way)]

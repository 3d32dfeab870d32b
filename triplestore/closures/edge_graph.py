"""A directed graph as lists of neighbours, made from sorted packed edges and edited in batches.

Nodes are the ids of all edges (including removed ones: `edited` keeps nodes), numbered in the order
of the ids, so that an edge has the same place in `edges` and in `ahead.cols`. Graphs are immutable.
The lists of predecessors are made at first use, and edited from then on. `BreadthFirstSearch` finds
the nodes reached from a node, and shortest paths.

    >>> import numpy as np
    >>> graph = EdgeGraph.of(np.array([5 << 32 | 7, 7 << 32 | 9], np.uint64))
    >>> graph.nodes.tolist(), graph.ahead.cols.tolist(), graph.back().cols.tolist()
    ([5, 7, 9], [1, 2], [0, 1])
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplestore.closures.thresholds import CLOSURES
from triplestore.data_classes import data_class
from triplestore.relations.facts.sorted_arrays import sorted_distinct, without
from triplestore.relations.packed_keys import I64, U32, U64, distinct, frozen, high, low, pack

NONE = np.uint32(0xFFFFFFFF)
"""Stands for no node, or no label."""


@data_class
class Lists:
    """The successors (or predecessors) of node v: cols[starts[v] : starts[v + 1]]."""

    starts: I64
    cols: U32

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        return self.starts.nbytes + self.cols.nbytes

    def rows(self) -> U32:
        """The node whose list each entry of `cols` is in."""
        return np.repeat(np.arange(len(self.starts) - 1, dtype=np.uint32), np.diff(self.starts))

    def turned(self) -> Lists:
        """The lists of the other direction; neighbours are increasing."""
        keys = np.sort(pack(self.cols, self.rows()))
        return Lists(_starts(high(keys), len(self.starts) - 1), low(keys))

    def renumbered(self, moved: U32, size: int) -> Lists:
        """The same lists in a graph of `size` nodes, in which node v has the number moved[v]."""
        if len(moved) and int(moved[-1]) == len(moved) - 1:  # new nodes are the last ones
            more = np.repeat(self.starts[-1:], size - len(moved))
            return Lists(np.concatenate((self.starts, more)), self.cols)
        lengths = np.zeros(size, dtype=np.int64)
        lengths[moved] = self.starts[1:] - self.starts[:-1]
        return Lists(_summed(lengths), moved[self.cols])

    def edited(self, drop: I64, at: I64, rows: U32, cols: U32) -> Lists:
        """The lists without the entries at `drop`, and with others inserted at the places `at`."""
        starts = self.starts.copy()
        shorter = self.starts.searchsorted(drop, side="right") - 1
        if len(drop) + len(at) <= CLOSURES.single_changes:
            for row in shorter.tolist():
                starts[row + 1 :] -= 1
            for row in rows.tolist():
                starts[row + 1 :] += 1
        else:
            change = np.bincount(rows, minlength=len(starts) - 1)
            change -= np.bincount(shorter, minlength=len(starts) - 1)
            starts[1:] += np.cumsum(change)
        return Lists(starts, edit(self.cols, drop, at, cols))

    def places(self, rows: U32, cols: U32) -> I64:
        """The place of each entry in its list, or where to insert it."""
        if len(rows) > CLOSURES.single_changes:
            return pack(self.rows(), self.cols).searchsorted(pack(rows, cols))
        starts, stops = self.starts[rows].tolist(), self.starts[rows.astype(np.int64) + 1].tolist()
        found = [
            start + int(self.cols[start:stop].searchsorted(col))
            for start, stop, col in zip(starts, stops, cols, strict=True)
        ]
        return np.array(found, dtype=np.int64)


@data_class(frozen=False)
class EdgeGraph:
    """Sorted distinct edges, their nodes, and the neighbours of each node."""

    nodes: U32
    edges: U64
    ahead: Lists
    _back: Lists | None = field(default=None, repr=False)

    @classmethod
    def of(cls, edges: U64) -> EdgeGraph:
        """The graph of sorted distinct edges."""
        nodes, source, target = _numbered(high(edges), low(edges))
        return cls(nodes, frozen(edges), Lists(_starts(source, len(nodes)), target))

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        total = self.nodes.nbytes + self.edges.nbytes + self.ahead.nbytes
        return total + (self._back.nbytes if self._back is not None else 0)

    def back(self) -> Lists:
        """The predecessors of each node."""
        if self._back is None:
            self._back = self.ahead.turned()
        return self._back

    def places(self, ids: U32) -> I64:
        """The numbers of these nodes; -1 for other ids."""
        nodes = self.nodes
        if len(nodes) == 0:
            return np.full(len(ids), -1, dtype=np.int64)
        if int(nodes[-1]) - int(nodes[0]) == len(nodes) - 1:
            dense = ids.astype(np.int64) - int(nodes[0])
            dense[(dense < 0) | (dense >= len(nodes))] = -1
            return dense
        places = np.minimum(nodes.searchsorted(ids), len(nodes) - 1)
        return np.where(nodes[places] == ids, places, -1)

    def place(self, node: int) -> int:
        """The number of one node; -1 for other ids."""
        nodes = self.nodes
        if len(nodes) == 0:
            return -1
        place, last = node - int(nodes[0]), len(nodes) - 1
        if int(nodes[-1]) - int(nodes[0]) == last:
            return place if 0 <= place <= last else -1
        place = min(int(nodes.searchsorted(np.uint32(node))), last)
        return place if int(nodes[place]) == node else -1

    def edited(self, removed: U64, added: U64) -> tuple[EdgeGraph, U32 | None]:
        """The graph without the edges `removed`, and with `added`, which must be new.

        Both are sorted and distinct. The second result is the new number of each node, or None if
        the numbers are the same. Nodes that lose their last edge remain.
        """
        graph, moved = self._with_nodes(added)
        edges = graph.edges
        drop, at = edges.searchsorted(removed), edges.searchsorted(added)
        source = graph.places(high(added)).astype(np.uint32)
        target = graph.places(low(added)).astype(np.uint32)
        made = EdgeGraph(
            graph.nodes,
            frozen(edit(edges, drop, at, added)),
            graph.ahead.edited(drop, at, source, target),
        )
        if graph._back is not None:
            made._back = graph._edited_back(removed, target, source)
        return made, moved

    def _edited_back(self, removed: U64, rows: U32, cols: U32) -> Lists:
        back = self.back()
        gone = np.sort(
            pack(
                self.places(low(removed)).astype(np.uint32),
                self.places(high(removed)).astype(np.uint32),
            )
        )
        fresh = np.sort(pack(rows, cols))
        drop = back.places(high(gone), low(gone))
        at = back.places(high(fresh), low(fresh))
        return back.edited(drop, at, high(fresh), low(fresh))

    def _with_nodes(self, added: U64) -> tuple[EdgeGraph, U32 | None]:
        """The same graph with the nodes of edges to be added."""
        ids = sorted_distinct(np.concatenate((high(added), low(added))))
        fresh = without(ids, self.nodes)
        if len(fresh) == 0:
            return self, None
        at = self.nodes.searchsorted(fresh)
        nodes = frozen(np.insert(self.nodes, at, fresh))
        before = np.bincount(at, minlength=len(self.nodes))[: len(self.nodes)]
        moved = np.arange(len(self.nodes), dtype=np.uint32)
        moved += np.cumsum(before, dtype=np.uint32)
        graph = EdgeGraph(nodes, self.edges, self.ahead.renumbered(moved, len(nodes)))
        if self._back is not None:
            graph._back = self._back.renumbered(moved, len(nodes))
        return graph, moved


def edit(array: NDArray[Any], drop: I64, at: I64, values: NDArray[Any]) -> NDArray[Any]:
    """The array without the places `drop`, and with `values` inserted before the places `at`.

    >>> import numpy as np
    >>> edit(np.array([1, 3, 5, 7]), np.array([1]), np.array([2, 4]), np.array([4, 9])).tolist()
    [1, 4, 5, 7, 9]
    """
    if (len(drop) + len(at)) * CLOSURES.slice_entries > len(array) and len(drop) + len(
        at
    ) > CLOSURES.single_changes:
        kept = np.delete(array, drop)
        return np.insert(kept, at - drop.searchsorted(at), values)
    pieces: list[NDArray[Any]] = []
    here = 0
    # A value inserted before a dropped place comes first.
    for place, which in sorted(
        [(place, i) for i, place in enumerate(at.tolist())]
        + [(place, len(at)) for place in drop.tolist()]
    ):
        pieces.append(array[here:place])
        here = place
        if which == len(at):
            here += 1
        else:
            pieces.append(values[which : which + 1])
    pieces.append(array[here:])
    return np.concatenate(pieces)


def _numbered(sources: U32, targets: U32) -> tuple[U32, U32, U32]:
    """The nodes of edges, and the numbers of the nodes of each edge; `sources` are sorted."""
    if len(sources) == 0:
        return frozen(sources), sources, targets
    least, most = (
        min(int(sources[0]), int(targets.min())),
        max(int(sources[-1]), int(targets.max())),
    )
    if most - least < CLOSURES.dense_span * len(sources) + 1024:
        known = np.zeros(most - least + 1, dtype=np.bool_)
        known[sources - np.uint32(least)] = known[targets - np.uint32(least)] = True
        numbers = np.cumsum(known, dtype=np.uint32)
        numbers -= np.uint32(1)
        nodes = (known.nonzero()[0] + least).astype(np.uint32)
        return (
            frozen(nodes),
            numbers[sources - np.uint32(least)],
            numbers[targets - np.uint32(least)],
        )
    starts = distinct(sources)
    nodes = sorted_distinct(np.concatenate((starts, targets)))
    ordered = np.sort(pack(targets, np.arange(len(targets), dtype=np.uint32)))
    target = np.empty(len(targets), dtype=np.uint32)
    target[low(ordered)] = nodes.searchsorted(high(ordered))
    return frozen(nodes), nodes.searchsorted(sources).astype(np.uint32), target


def _starts(rows: U32, size: int) -> I64:
    """Where the list of each node starts; `rows` are sorted."""
    return _summed(np.bincount(rows, minlength=size))


def _summed(lengths: NDArray[Any]) -> I64:
    starts = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


class BreadthFirstSearch:
    """Breadth-first searches along the same lists, one after the other.

    steps   the number of edges that the last search followed
    """

    def __init__(self, lists: Lists) -> None:
        size = len(lists.starts) - 1
        self.steps = 0
        self._lists = lists
        self._parent = np.full(size, NONE, dtype=np.uint32)
        self._queue = np.empty(size + 1, dtype=np.uint32)

    def _run(self, start: int, target: int) -> int:
        from triplestore.kernels.closures.reach import spread

        self._queue[0] = start
        state = np.array([0, 1, 0, 0], dtype=np.int64)
        while not spread(
            self._lists.starts,
            self._lists.cols,
            self._parent,
            self._queue,
            state,
            target,
            CLOSURES.kernel_steps,
        ):
            pass
        self.steps = int(state[2])
        return int(state[1])

    def from_node(self, start: int) -> U32:
        """The nodes reached from a node in one or more steps, in no particular order."""
        size = self._run(start, -1)
        found = self._queue[1:size].copy()
        self._parent[found] = NONE
        return found

    def path(self, start: int, end: int) -> list[int]:
        """A shortest path of one or more steps between two nodes; there must be one."""
        self._run(start, end)
        nodes = [end]
        while True:
            nodes.append(int(self._parent[nodes[-1]]))
            if nodes[-1] == start:
                return nodes[::-1]

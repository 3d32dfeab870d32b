"""Breadth-first searches in a graph: what a node leads to, and shortest paths."""

from __future__ import annotations

import numpy as np

from triplestore.closures.edge_graph import NONE, Lists
from triplestore.closures.transitive.row_pool import STEPS
from triplestore.relations.packed_keys import U32


class BreadthFirstSearch:
    """Breadth-first searches along the same lists, one after the other.

    steps   edges followed by the last of them
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
            self._lists.starts, self._lists.cols, self._parent, self._queue, state, target, STEPS
        ):
            pass
        self.steps = int(state[2])
        return int(state[1])

    def from_node(self, start: int) -> U32:
        """The nodes that one or more steps lead to from a node, in no order."""
        size = self._run(start, -1)
        found = self._queue[1:size].copy()
        self._parent[found] = NONE
        return found

    def path(self, start: int, end: int) -> list[int]:
        """A shortest path of one or more steps between two nodes, which there must be."""
        self._run(start, end)
        nodes = [end]
        while True:
            nodes.append(int(self._parent[nodes[-1]]))
            if nodes[-1] == start:
                return nodes[::-1]

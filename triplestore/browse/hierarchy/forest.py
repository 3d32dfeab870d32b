"""A hierarchy that is looked up node by node: start at `Hierarchy`.

Always true: there are no cycles, because equal nodes are one; a node without a parent is a root.
"""

from __future__ import annotations

import numpy as np

from triplestore.data_classes import data_class
from triplestore.relations.packed_keys import (
    I64,
    U32,
    U64,
    distinct,
    high,
    in_sorted,
    low,
    swap,
)


@data_class
class Hierarchy:
    """Direct edges between nodes, in both orders.

    up       edges as packed keys (child, parent), sorted
    down     the same as (parent, child), sorted
    nodes    all nodes, increasing; of equal ones only the head
    roots    nodes without a parent, increasing
    members  nodes that are equal to others, increasing; `heads` has the head of each

    >>> edges = np.array([2 << 32 | 1, 3 << 32 | 1], np.uint64)
    >>> nodes = np.array([1, 2, 3, 4], np.uint32)
    >>> made = Hierarchy.of(edges, nodes)
    >>> made.roots.tolist(), made.children(1).tolist(), made.parents(3).tolist()
    ([1, 4], [2, 3], [1])
    """

    up: U64
    down: U64
    nodes: U32
    roots: U32
    members: U32
    heads: U32

    @classmethod
    def of(
        cls, edges: U64, nodes: U32, members: U32 | None = None, heads: U32 | None = None
    ) -> Hierarchy:
        """The hierarchy of sorted distinct edges between nodes."""
        none = np.zeros(0, np.uint32)
        down = np.sort(swap(edges))
        below = in_sorted(nodes, distinct(high(edges)))
        return cls(
            edges,
            down,
            nodes,
            nodes[~below],
            none if members is None else members,
            none if heads is None else heads,
        )

    def head(self, node: int) -> int:
        """The node that stands for one and its equals; 0 for what is not in the hierarchy."""
        place = int(self.members.searchsorted(node))
        if place < len(self.members) and self.members[place] == node:
            return int(self.heads[place])
        place = int(self.nodes.searchsorted(node))
        return node if place < len(self.nodes) and self.nodes[place] == node else 0

    def equals(self, head: int) -> U32:
        """The nodes for which a head stands, without itself."""
        found = self.members[self.heads == head]
        others: U32 = found[found != head]
        return others

    def children(self, node: int) -> U32:
        """The direct children, increasing."""
        return _ends(self.down, node)

    def parents(self, node: int) -> U32:
        """The direct parents, increasing."""
        return _ends(self.up, node)

    def child_counts(self, nodes: U32) -> I64:
        """The number of direct children of each node."""
        first = nodes.astype(np.uint64) << np.uint64(32)
        return self.down.searchsorted(first | np.uint64(0xFFFFFFFF), side="right") - (
            self.down.searchsorted(first)
        )

    def path(self, node: int) -> list[int]:
        """A shortest way from a root to a node, both included; empty for an unknown node."""
        start = self.head(node)
        if not start:
            return []
        before: dict[int, int] = {start: 0}
        level = [start]
        while level:
            following = []
            for one in level:
                parents = self.parents(one).tolist()
                if not parents:
                    return _back(before, one)
                for parent in parents:
                    if parent not in before:
                        before[parent] = one
                        following.append(parent)
            level = following
        return [start]


def _ends(keys: U64, node: int) -> U32:
    lo, hi = keys.searchsorted(np.array([node << 32, (node + 1) << 32], np.uint64))
    return low(keys[lo:hi])


def _back(before: dict[int, int], root: int) -> list[int]:
    found = [root]
    while before[found[-1]]:
        found.append(before[found[-1]])
    return found

"""A relation that is symmetric and transitive, kept as the connected components of its edges.

Start at `SymmetricClosure`. Each node of an edge is related to every node of its component, itself
included. A component of n nodes stands for n * n pairs and takes some bytes per node, beside its
edges. A change reads only the components that it touches: added edges join their trees, and after a
deletion the remaining edges of the component are read once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import numpy as np

from triplestore.closures.scheme import PairDifference, Scheme, SortedPairs, WorkLimit
from triplestore.closures.symmetric_transitive.edge_set import EdgeSet
from triplestore.closures.symmetric_transitive.group_layers import NONE, GroupLayers
from triplestore.closures.symmetric_transitive.group_pairs import GroupPairs, expand_pairs
from triplestore.closures.symmetric_transitive.regroup import regroup
from triplestore.closures.symmetric_transitive.union_find import (
    ends_of,
    join_trees,
    places_of,
    walk,
)
from triplestore.relations.facts.sorted_arrays import sorted_distinct, without
from triplestore.relations.packed_keys import I64, U32, U64, Bools, high, low
from triplestore.relations.pair_relation import BLOCK

_NOTHING = PairDifference(SortedPairs(), SortedPairs())


class SymmetricClosure(Scheme):
    """All pairs of nodes that are connected by edges, in whatever direction; immutable.

    >>> import numpy as np
    >>> from triplestore.relations.packed_keys import NO_KEYS
    >>> knows = SymmetricClosure.build(np.array([1 << 32 | 2, 2 << 32 | 3], np.uint64))
    >>> knows.count(), knows.path(3, 1)
    (9, [3, 2, 1])
    >>> fewer, difference = knows.changed(np.array([2 << 32 | 3], np.uint64), NO_KEYS)
    >>> fewer.count(), difference.lost.count(), knows.count()
    (4, 5, 9)
    """

    __slots__ = ("_edges", "_pairs", "_parts")

    def __init__(self, edges: EdgeSet, parts: GroupLayers, pairs: int) -> None:
        self._edges, self._parts, self._pairs = edges, parts, pairs

    @classmethod
    def build(cls, edges: U64, budget: WorkLimit | None = None) -> Self:
        """The closure of edges given in any order."""
        edges = sorted_distinct(edges)
        nodes, group, pairs = _components(edges, budget)
        return cls(EdgeSet(edges), GroupLayers.of(nodes, group), pairs)

    @property
    def edges(self) -> U64:
        """The edges of which this is the closure: sorted, distinct."""
        return self._edges.keys()

    def count(self) -> int:
        """The number of pairs."""
        return self._pairs

    def nbytes(self) -> int:
        """The memory it takes, edges included."""
        return self._edges.nbytes() + self._parts.nbytes()

    def contains_keys(self, keys: U64) -> Bools:
        """Which of these pairs are in the relation."""
        group = self._parts.find(high(keys))
        found: Bools = (group != NONE) & (group == self._parts.find(low(keys)))
        return found

    def match(self, place: int, values: U32) -> tuple[I64, U32]:
        """The pairs with these ids in one place: (position in `values`, id in the other place)."""
        lo, hi, members = self._parts.ranges(self._parts.find(values))
        pairs = expand_pairs(np.arange(len(values), dtype=np.uint32), lo, hi, members)
        return high(pairs).astype(np.int64), low(pairs)

    def match_counts(self, place: int, values: U32) -> I64:
        """The number of pairs with each of these ids in one place."""
        return self._parts.sizes(self._parts.find(values))

    def distinct(self, column: int) -> U32:
        """The nodes, increasing."""
        return self._parts.nodes()

    def blocks(self, size: int = BLOCK, *, swapped: bool = False) -> Iterator[U64]:
        """All pairs in order; the same keys when `swapped`."""
        return GroupPairs(*self._parts.all_ranges(), self._pairs).blocks(size)

    def path(self, start: int, end: int) -> list[int]:
        """The nodes of a shortest walk of one or more edges, in either direction."""
        group = self._parts.find(np.array([start, end], dtype=np.uint32))
        if group[0] == NONE or group[0] != group[1]:
            return []
        lo, hi, members = self._parts.ranges(group[:1])
        return walk(self._edges.of(members[lo[0] : hi[0]]), start, end)

    def changed(
        self, removed: U64, added: U64, budget: WorkLimit | None = None
    ) -> tuple[Self, PairDifference]:
        """The closure of the edges without `removed` and with `added`, and the pairs that differ.

        The cost is linear in the nodes of the touched components, and in the edges of those that
        lost one.
        """
        added = sorted_distinct(added)
        removed = without(sorted_distinct(removed), added)
        removed = removed[self._edges.contains(removed)]
        added = added[~self._edges.contains(added)]
        if len(removed) == 0 and len(added) == 0:
            return self, _NOTHING
        edges = self._edges.changed(removed, added)
        change = regroup(self._parts, edges, removed, added, budget)
        difference = change.difference()
        pairs = self._pairs + difference.gained.count() - difference.lost.count()
        return type(self)(edges, change.applied(self._parts), pairs), difference


def _components(edges: U64, budget: WorkLimit | None = None) -> tuple[U32, I64, int]:
    """The nodes of sorted edges, the component of each, and the number of pairs of all."""
    nodes = ends_of(edges)
    left, right = places_of(high(edges), nodes), places_of(low(edges), nodes)
    group = join_trees(left, right, np.arange(len(nodes), dtype=np.uint32), budget)
    return nodes, group, int((np.bincount(group) ** 2).sum())

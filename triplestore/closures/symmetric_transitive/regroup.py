"""The components after a change of edges: which groups vanish, and which nodes form new ones.

Start at `regroup`. Components that only gain edges are joined as a whole; for those that lose one,
all remaining edges are read. Components that turn out to be unchanged are left out.
"""

from __future__ import annotations

import numpy as np

from triplestore.closures.scheme import PairDifference, PairStream, SortedPairs, WorkLimit
from triplestore.closures.symmetric_transitive.edge_set import EdgeSet
from triplestore.closures.symmetric_transitive.group_layers import NONE, GroupLayers
from triplestore.closures.symmetric_transitive.group_pairs import (
    NO_CELL,
    pairs_across,
)
from triplestore.closures.symmetric_transitive.union_find import ends_of, join_trees, places_of
from triplestore.data_classes import data_class
from triplestore.relations.facts.sorted_arrays import without
from triplestore.relations.layers.sorted_order import ranges
from triplestore.relations.packed_keys import I64, U32, U64, high, low, pack


@data_class
class Regrouping:
    """Nodes whose component changed.

    dead     the groups they were in, by their numbers in the old partition, sorted
    nodes    sorted, distinct
    before   the group of each, numbered without gaps; NONE if the node was in no group
    after    the same for the new groups
    """

    dead: I64
    nodes: U32
    before: I64
    after: I64

    def applied(self, parts: GroupLayers) -> GroupLayers:
        """The new partition."""
        there = self.after != NONE
        return parts.changed(self.dead, self.nodes[there], self.after[there])

    def difference(self) -> PairDifference:
        """The pairs that were in one group and are not, and those that are and were not."""
        if len(self.nodes) == 0:
            return PairDifference(SortedPairs(), SortedPairs())
        both = (self.before != NONE) & (self.after != NONE)
        cell = np.full(len(self.nodes), NO_CELL, dtype=np.int64)
        cell[both] = _numbered(self.before[both] << 32 | self.after[both])
        return PairDifference(self._across(self.before, cell), self._across(self.after, cell))

    def _across(self, group: I64, cell: I64) -> PairStream:
        there = group != NONE
        group = group[there]
        return pairs_across(self.nodes[there], group, cell[there], int(group.max(initial=-1)) + 1)


def regroup(
    parts: GroupLayers, edges: EdgeSet, removed: U64, added: U64, budget: WorkLimit | None = None
) -> Regrouping:
    """The regrouping of a partition after a change of edges.

    parts    the partition before
    edges    the edges after
    removed  sorted, all of them there before and not after; added: the other way round
    """
    shaken = np.unique(parts.find(high(removed)))
    left, right = parts.find(high(added)), parts.find(low(added))
    joins = (left != right) | (left == NONE)
    joining = added[joins]
    touched = np.unique(np.concatenate((shaken, left[joins], right[joins])))
    touched = touched[touched != NONE]

    nodes, before = _members(parts, touched)
    if len(joining):
        fresh = without(ends_of(joining), nodes)
        places = nodes.searchsorted(fresh)
        nodes, before = np.insert(nodes, places, fresh), np.insert(before, places, NONE)
    is_shaken = np.append(np.isin(touched, shaken), False)[before]  # NONE is -1: not shaken
    inner = edges.of(nodes[is_shaken])
    ends = np.concatenate((inner, joining)) if len(joining) else inner
    here, there = places_of(high(ends), nodes), places_of(low(ends), nodes)
    after = join_trees(here, there, _forest(before, is_shaken, len(touched)), budget)
    gone = is_shaken.copy()
    gone[here] = gone[there] = False
    after[gone] = NONE
    return _changed_only(touched, nodes, before, after)


def _members(parts: GroupLayers, groups: I64) -> tuple[U32, I64]:
    """The nodes of these groups, sorted, and for each the place of its group."""
    lo, hi, members = parts.ranges(groups)
    if len(groups) == 1:
        nodes = members[lo[0] : hi[0]]
        return nodes, np.zeros(len(nodes), dtype=np.int64)
    owner = np.repeat(np.arange(len(groups), dtype=np.uint32), hi - lo)
    keys = np.sort(pack(members[ranges(lo, hi - lo)], owner))
    return high(keys), low(keys).astype(np.int64)


def _forest(before: I64, is_shaken: U32, groups: int) -> U32:
    """Trees to begin with: groups that lost no edge are one tree each, other nodes stand alone."""
    parent = np.arange(len(before), dtype=np.uint32)
    whole = ((before != NONE) & ~is_shaken).nonzero()[0]
    least = np.zeros(groups, dtype=np.uint32)
    least[before[whole[::-1]]] = parent[whole[::-1]]  # of equal indexes the last one stays
    parent[whole] = least[before[whole]]
    return parent


def _changed_only(touched: I64, nodes: U32, before: I64, after: I64) -> Regrouping:
    """The regrouping without the groups that have the same members as before."""
    known = before != NONE
    if len(touched):
        sizes = np.bincount(before[known], minlength=len(touched))
        new_sizes = np.bincount(after[after != NONE], minlength=1)
        to = np.full(len(touched), NONE, dtype=np.int64)
        to[before[known]] = after[known]  # where some member of each group is now
        together = np.bincount(before[known & (after == to[before])], minlength=len(touched))
        same = (to != NONE) & (together == sizes) & (new_sizes[to] == sizes)
        if same.any():
            kept = ~(known & same[before])
            touched, nodes = touched[~same], nodes[kept]
            before, after = before[kept], after[kept]
    return Regrouping(touched, nodes, _numbered(before), _numbered(after))


def _numbered(labels: I64) -> I64:
    """The labels numbered without gaps, except NONE, which stays."""
    there = labels != NONE
    numbers = np.full(len(labels), NONE, dtype=np.int64)
    numbers[there] = np.unique(labels[there], return_inverse=True)[1]
    return numbers

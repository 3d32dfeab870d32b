"""Pairs of nodes represented by rows of labels, counted and streamed without writing all of them
out.

Start reading at `ReachPairs`: the pairs that some nodes reach in one version and not in another, or
all that they reach. `difference` makes them from two versions.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from triplestore.closures.edge_graph import NONE
from triplestore.closures.thresholds import CLOSURES
from triplestore.closures.transitive.reach import Reach
from triplestore.closures.transitive.reach_update import ReachStep
from triplestore.data_classes import data_class
from triplestore.relations.layers.sorted_order import ranges
from triplestore.relations.packed_keys import (
    I64,
    NO_IDS,
    U32,
    U64,
    distinct,
    frozen,
    high,
    low,
    pack,
)
from triplestore.relations.pair_relation import BLOCK

_NO_LABELS: U32 = np.zeros(0, dtype=np.uint32)


@data_class
class MovedGroups:
    """The nodes of labels that the other version does not use, by their label there.

    labels                 those labels, increasing
    starts                 the groups of labels[i] are starts[i] : starts[i + 1]
    other, firsts, nodes   the label of group g in the other version (or NONE), and its nodes
                           nodes[firsts[g] : firsts[g + 1]]
    """

    labels: U32
    starts: I64
    other: U32
    firsts: I64
    nodes: U32

    @classmethod
    def of(cls, label: U32, other: U32) -> MovedGroups:
        """The groups of the nodes whose label is another one in the other version."""
        moved = ((label != other) & (label != NONE)).nonzero()[0].astype(np.uint32)
        keys = pack(label[moved], other[moved])
        order = np.argsort(keys, kind="stable")
        keys, nodes = keys[order], moved[order]
        fresh = np.ones(len(keys), dtype=np.bool_)
        np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
        firsts = np.append(fresh.nonzero()[0], len(keys)).astype(np.int64)
        keys = keys[fresh]
        labels = distinct(high(keys))
        starts = np.append(high(keys).searchsorted(labels), len(keys)).astype(np.int64)
        return cls(labels, starts, low(keys), firsts, nodes)


_NO_GROUPS = MovedGroups.of(_NO_LABELS, _NO_LABELS)
_NONE: U32 = frozen(np.array([NONE], dtype=np.uint32))
_FRONT: U32 = frozen(np.zeros(1, dtype=np.uint32))


@data_class
class ReachPairs:
    """What each node of `places` reaches in one version, and not in the other.

    ids           the id of each node, increasing
    places        the nodes to begin with, increasing (or in any order, see `found`)
    left, right   their labels in the two versions; NONE where a version does not know the node
    one, members  the version; the nodes of its labels, by the numbers that `ids` goes by
    other         the other version
    groups        nodes that have other labels there
    """

    ids: U32
    places: U32
    left: U32
    right: U32
    one: Reach
    members: U32
    other: Reach
    groups: MovedGroups = _NO_GROUPS

    @classmethod
    def of(cls, reach: Reach, ids: U32, places: U32) -> ReachPairs:
        """All that some nodes reach."""
        right = np.full(len(places), NONE, dtype=np.uint32)
        return cls(ids, places, reach.label[places], right, reach, reach.members, reach)

    def counts(self) -> I64:
        """How many pairs begin with each node of `places`."""
        if len(self.places) == 0:
            return np.zeros(0, dtype=np.int64)
        if int(self.right.min()) == NONE:  # nothing is taken away
            counts = np.zeros(len(self.left), dtype=np.int64)
            known = self.left != NONE
            counts[known] = self.one.counts(self.left[known])
            return counts
        keys, index = np.unique(pack(self.left, self.right), return_inverse=True)
        weights: I64 = self._weights(high(keys), low(keys))[index]
        return weights

    def _weights(self, left: U32, right: U32) -> I64:
        from triplestore.kernels.closures.reach_pairs import weigh_pairs

        out = np.zeros(len(left), dtype=np.int64)
        state = np.zeros(1, dtype=np.int64)
        runs, hidden = self._scratch()
        groups = self.groups
        while state[0] < len(left):
            weigh_pairs(
                left, right, self.one.head, self.one.pool.words, self.other.head,
                self.other.pool.words, self.one.firsts, groups.labels, groups.starts, groups.other,
                groups.firsts, runs, hidden, out, state, CLOSURES.kernel_steps,
            )  # fmt: skip
        return out

    def _scratch(self) -> U64:
        labels = max(self.one.labels, self.other.labels)
        return np.empty((2, labels + 8), dtype=np.uint64)

    def found(self, prefix: U32, counts: I64, size: int) -> Iterator[U64]:
        """The pairs as prefix << 32 | id, in blocks of about `size`; each node has a prefix."""
        from triplestore.kernels.closures.reach_pairs import list_pairs

        ends = np.cumsum(counts)
        bits = np.zeros((len(self.ids) >> 6) + 1, dtype=np.uint64)
        summary = np.zeros((len(self.ids) >> 12) + 1, dtype=np.uint64)
        runs, hidden = self._scratch()
        groups, at = self.groups, 0
        while at < len(counts) and int(ends[-1]) > (before := int(ends[at - 1]) if at else 0):
            stop = max(at + 1, int(ends.searchsorted(before + size, side="right")))
            out = np.empty(int(ends[stop - 1]) - before, dtype=np.uint64)
            state = np.zeros(2, dtype=np.int64)
            while state[0] < stop - at:
                list_pairs(
                    self.left[at:stop], self.right[at:stop], prefix[at:stop], self.one.head,
                    self.one.pool.words, self.other.head, self.other.pool.words, self.one.firsts,
                    self.members, groups.labels, groups.starts, groups.other, groups.firsts,
                    groups.nodes, self.ids, bits, summary, runs, hidden, out, state,
                    CLOSURES.kernel_steps,
                )  # fmt: skip
            at = stop
            if len(out):
                yield out

    def blocks(self, size: int = BLOCK, counts: I64 | None = None) -> Iterator[U64]:
        """The pairs as packed keys, in order; `counts`, if they are known already."""
        counts = self.counts() if counts is None else counts
        return self.found(self.ids[self.places], counts, size)


def reached_from(reach: Reach, ids: U32, place: int) -> U32:
    """The ids of the nodes that one node reaches: what `ReachPairs` would find, for one at a time.

    ids  the id of each node, increasing
    """
    label = int(reach.label[place])
    if label == NONE or (count := reach.count_of(label)) == 0:
        return NO_IDS
    from triplestore.kernels.closures.reach_pairs import list_pairs

    bits = np.zeros((len(ids) >> 6) + 1, dtype=np.uint64)
    summary = np.zeros((len(ids) >> 12) + 1, dtype=np.uint64)
    runs = np.empty((reach.labels >> 1) + 5, dtype=np.uint64)
    out = np.empty(count, dtype=np.uint64)
    words, groups = reach.pool.words, _NO_GROUPS
    list_pairs(
        reach.label[place : place + 1], _NONE, _FRONT, reach.head, words, reach.head, words,
        reach.firsts, reach.members, groups.labels, groups.starts, groups.other, groups.firsts,
        groups.nodes, ids, bits, summary, runs, runs, out, np.zeros(2, dtype=np.int64),
        CLOSURES.kernel_steps,
    )  # fmt: skip
    return low(out)


def difference(step: ReachStep, ids: U32) -> tuple[ReachPairs, ReachPairs]:
    """The pairs lost, and the pairs gained, by a step."""
    old, new = step.old, step.new
    places = _nodes_of(new, step.changed)
    was, now = step.old_label[places], new.label[places]
    same_labels = old.labels == new.labels and len(old.label) == len(new.label)
    lost_groups = gained_groups = _NO_GROUPS
    if not same_labels:
        lost_groups = MovedGroups.of(step.old_label, new.label)
        gained_groups = MovedGroups.of(new.label, step.old_label)
    lost = ReachPairs(ids, places, was, now, old, step.old_members, new, lost_groups)
    gained = ReachPairs(ids, places, now, was, new, new.members, old, gained_groups)
    return lost, gained


def _nodes_of(reach: Reach, labels: U32) -> U32:
    """The nodes of some components, increasing."""
    if len(labels) * CLOSURES.listed_labels > reach.labels:
        flags = np.zeros(reach.labels, dtype=np.bool_)
        flags[labels] = True
        return flags[reach.label].nonzero()[0].astype(np.uint32)
    starts, stops = reach.firsts[labels], reach.firsts[labels.astype(np.int64) + 1]
    return np.sort(reach.members[ranges(starts, stops - starts)])

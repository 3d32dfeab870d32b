"""The transitive closure of a relation, kept as rows of strongly connected components.

Start reading at `TransitiveClosure`. A pair (a, b) is in the closure if one or more edges lead from
a to b. The nodes that each component reaches are stored (`reach`). The nodes that reach it are
searched backwards along the edges, until the searches have cost about as much as storing them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from triplestore.closures.edge_graph import NONE, BreadthFirstSearch, EdgeGraph
from triplestore.closures.estimate import estimate
from triplestore.closures.scheme import PairDifference, Scheme, SizeEstimate, SortedPairs, WorkLimit
from triplestore.closures.thresholds import CLOSURES
from triplestore.closures.transitive.reach import Reach
from triplestore.closures.transitive.reach_pairs import ReachPairs, difference, reached_from
from triplestore.closures.transitive.reach_update import Moves, ReachStep, update
from triplestore.relations.facts.sorted_arrays import member, sorted_distinct, without
from triplestore.relations.layers.swap_columns import turned
from triplestore.relations.packed_keys import (
    I64,
    NO_IDS,
    NO_KEYS,
    U32,
    U64,
    Bools,
    distinct,
    high,
    low,
)
from triplestore.relations.pair_relation import BLOCK


class TransitiveClosure(Scheme):
    """The closure of some edges; immutable.

    >>> import numpy as np
    >>> edges = np.array([1 << 32 | 2, 2 << 32 | 3, 3 << 32 | 2], np.uint64)
    >>> closure = TransitiveClosure.build(edges)
    >>> closure.count(), closure.match(0, np.array([1], np.uint32))[1].tolist()
    (6, [2, 3])
    >>> smaller, difference = closure.changed(edges[1:2], edges[:0])
    >>> smaller.count(), difference.lost.count(), smaller.path(3, 2)
    (2, 4, [3, 2])
    """

    __slots__ = ("_ahead", "_behind", "_walked", "graph")

    def __init__(self, graph: EdgeGraph, ahead: Reach, behind: Reach | None = None) -> None:
        self.graph = graph
        self._ahead = ahead
        self._behind = behind
        self._walked = 0

    @classmethod
    def build(cls, edges: U64, budget: WorkLimit | None = None) -> TransitiveClosure:
        """The closure of edges, given in any order."""
        graph = EdgeGraph.of(sorted_distinct(edges))
        return cls(graph, Reach.build(graph.ahead, budget))

    @staticmethod
    def estimate_size(edges: U64) -> SizeEstimate:
        """The estimated size of the closure of edges."""
        return estimate(EdgeGraph.of(sorted_distinct(edges)))

    @property
    def edges(self) -> U64:
        """The edges, sorted."""
        return self.graph.edges

    @property
    def ahead(self) -> Reach:
        """What each node reaches."""
        return self._ahead

    @property
    def behind(self) -> Reach:
        """What reaches each node, made at first use."""
        if self._behind is None:
            self._behind = Reach.build(self.graph.back())
        return self._behind

    def keep_behind(self, behind: Reach) -> None:
        """Use rows of predecessors that were made elsewhere."""
        if self._behind is None:
            self._behind = behind

    def nbytes(self) -> int:
        """The memory it takes: edges, rows, and rows of predecessors if they were made."""
        behind = self._behind.nbytes if self._behind is not None else 0
        return self.graph.nbytes + self._ahead.nbytes + behind

    def count(self) -> int:
        """The number of pairs."""
        return self._ahead.count()

    def contains_keys(self, keys: U64) -> Bools:
        """Which of these pairs are in the closure."""
        return self._ahead.contains(self._labels(high(keys)), self._labels(low(keys)))

    def _labels(self, ids: U32) -> U32:
        places = self.graph.places(ids)
        if len(self._ahead.label) == 0:
            return np.full(len(ids), NONE, dtype=np.uint32)
        labels = self._ahead.label[places]
        labels[places < 0] = NONE
        return labels

    def match(self, place: int, values: U32) -> tuple[I64, U32]:
        """The pairs with these ids in one place: (position in `values`, id in the other place)."""
        if place == 0:
            return self._found(self._ahead, values)
        walked = self._walk(values)
        if walked is None:
            return self._found(self.behind, values)
        index = np.repeat(np.arange(len(values)), [len(found) for found in walked])
        return index, np.concatenate(walked) if walked else NO_IDS

    def match_counts(self, place: int, values: U32) -> I64:
        """The number of pairs with each of these ids in one place."""
        if place == 0:
            return self._counted(self._ahead, values)
        walked = self._walk(values)
        if walked is None:
            return self._counted(self.behind, values)
        return np.array([len(found) for found in walked], dtype=np.int64)

    def _found(self, reach: Reach, nodes: U32) -> tuple[I64, U32]:
        if len(nodes) == 1:
            place = self.graph.place(int(nodes[0]))
            ids = NO_IDS if place < 0 else reached_from(reach, self.graph.nodes, place)
            return np.zeros(len(ids), dtype=np.int64), ids
        known, pairs = self._pairs(reach, nodes)
        counts = pairs.counts()
        total = int(counts.sum())
        found = list(pairs.found(known, counts, max(total, 1)))
        keys = np.concatenate(found) if found else NO_KEYS
        return high(keys).astype(np.int64), low(keys)

    def _counted(self, reach: Reach, nodes: U32) -> I64:
        known, pairs = self._pairs(reach, nodes)
        counts = np.zeros(len(nodes), dtype=np.int64)
        counts[known] = pairs.counts()
        return counts

    def _pairs(self, reach: Reach, nodes: U32) -> tuple[U32, ReachPairs]:
        """The places in `nodes` of those that are known, and what is reached from these."""
        places = self.graph.places(nodes)
        known = (places >= 0).nonzero()[0].astype(np.uint32)
        return known, ReachPairs.of(reach, self.graph.nodes, places[known].astype(np.uint32))

    def _walk(self, nodes: U32) -> list[U32] | None:
        """The nodes that reach each of some, by search; None if rows would be better."""
        graph, limit = self.graph, CLOSURES.walked_edges * len(self.edges) + CLOSURES.spare_labels
        if self._behind is not None or self._walked > limit:
            return None
        search = BreadthFirstSearch(graph.back())
        found: list[U32] = []
        for place in graph.places(nodes).tolist():
            if self._walked > limit:
                return None
            near = search.from_node(place) if place >= 0 else NO_IDS
            self._walked += search.steps
            found.append(graph.nodes[np.sort(near)])
        return found

    def distinct(self, column: int) -> U32:
        """The ids that occur in this column of any pair: those of the edges."""
        return sorted_distinct(low(self.edges)) if column else distinct(high(self.edges))

    def blocks(self, size: int = BLOCK, *, swapped: bool = False) -> Iterator[U64]:
        """All pairs as packed keys, in order; with `swapped` the second id is in front."""
        every = np.arange(len(self.graph.nodes), dtype=np.uint32)
        reach = self.behind if swapped else self._ahead
        yield from ReachPairs.of(reach, self.graph.nodes, every).blocks(size)

    def path(self, start: int, end: int) -> list[int]:
        """The nodes of a shortest path of one or more edges; empty if there is none."""
        ends = np.array([start, end], dtype=np.uint32)
        if not self.contains_keys(np.array([start << 32 | end], dtype=np.uint64))[0]:
            return []
        places = self.graph.places(ends).tolist()
        nodes: list[int] = self.graph.nodes[
            BreadthFirstSearch(self.graph.ahead).path(*places)
        ].tolist()
        return nodes

    def changed(
        self, removed: U64, added: U64, budget: WorkLimit | None = None
    ) -> tuple[TransitiveClosure, PairDifference]:
        """The closure of the edges without `removed` and with `added`, and what that changed."""
        added = sorted_distinct(added)
        removed = without(sorted_distinct(removed), added)
        removed = removed[member(removed, self.edges)]
        added = without(added, self.edges)
        if len(removed) == 0 and len(added) == 0:
            return self, PairDifference(SortedPairs(), SortedPairs())
        if len(self.edges) == 0 or (len(removed) == len(self.edges) and len(added) == 0):
            made = TransitiveClosure.build(added, budget)
            return made, PairDifference(self, made)
        if (len(removed) + len(added)) * CLOSURES.edited_share < len(self.edges):
            self.graph.back()  # kept here, it is edited by every change that begins here
        graph, moved = self.graph.edited(removed, added)
        moves = Moves(
            _numbers(graph, high(removed)),
            _numbers(graph, low(removed)),
            _numbers(graph, high(added)),
            _numbers(graph, low(added)),
            moved,
        )
        step = update(self._ahead, graph.ahead, graph.back(), moves, budget)
        made = TransitiveClosure(graph, step.new)
        changes = ClosureChange(self, made, step, moves)
        return made._renewed(budget), PairDifference(
            ChangedPairs(changes, 0), ChangedPairs(changes, 1)
        )

    def _renewed(self, budget: WorkLimit | None) -> TransitiveClosure:
        """The same closure, made from its edges if too many labels or nodes are out of use."""
        ahead, graph = self._ahead, self.graph
        spare = len(graph.nodes) > 4 * len(self.edges) + CLOSURES.spare_labels
        if not spare and ahead.labels <= 2 * len(ahead.parts.at_rank) + CLOSURES.spare_labels:
            return self
        return TransitiveClosure.build(self.edges, budget)


def _numbers(graph: EdgeGraph, ids: U32) -> U32:
    return graph.places(ids).astype(np.uint32)


class ClosureChange:
    """Two versions of a closure, and their differences."""

    def __init__(
        self, old: TransitiveClosure, new: TransitiveClosure, step: ReachStep, moves: Moves
    ) -> None:
        self._old, self._new, self._moves = old, new, moves
        self._step = step
        self._weights: dict[int, I64] = {}

    @cached_property
    def ahead(self) -> tuple[ReachPairs, ReachPairs]:
        """The lost and the gained pairs, by first id."""
        return difference(self._step, self._new.graph.nodes)

    @cached_property
    def counts(self) -> tuple[int, int]:
        """How many pairs are lost and gained."""
        loses, gains = len(self._moves.gone_from) > 0, len(self._moves.come_from) > 0
        if len(self._step.changed) * CLOSURES.counted_share < self._step.new.labels:
            return self._weight(0) if loses else 0, self._weight(1) if gains else 0
        # Counting all pairs is faster than comparing all rows, so only one side is compared.
        more = self._new.count() - self._old.count()
        lost = self._weight(0) if loses and gains else max(-more, 0)
        return lost, lost + more

    def _weight(self, which: int) -> int:
        return int(self.weights(which).sum())

    def weights(self, which: int) -> I64:
        """How many pairs begin with each node from which pairs are lost (0) or gained (1)."""
        found = self._weights.get(which)
        if found is None:
            found = self._weights[which] = self.ahead[which].counts()
        return found

    @cached_property
    def behind(self) -> tuple[ReachPairs, ReachPairs]:
        """The lost and the gained pairs, by second id."""
        graph, moves = self._new.graph, self._moves.turned()
        step = update(self._old.behind, graph.back(), graph.ahead, moves)
        self._new.keep_behind(step.new)
        return difference(step, graph.nodes)


class ChangedPairs:
    """The pairs that are lost (0) or gained (1) by a change."""

    def __init__(self, changes: ClosureChange, which: int) -> None:
        self._changes = changes
        self._which = which

    def count(self) -> int:
        """The number of pairs."""
        return self._changes.counts[self._which]

    def blocks(self, size: int = BLOCK, *, swapped: bool = False) -> Iterator[U64]:
        """The pairs, in order."""
        total = self.count()
        if total == 0:
            return
        if not swapped:
            yield from self._ahead(size)
        elif total <= CLOSURES.sorted_pairs:
            keys = _turned(list(self._ahead(size)))
            for at in range(0, len(keys), size):
                yield keys[at : at + size]
        else:
            yield from self._changes.behind[self._which].blocks(size)

    def _ahead(self, size: int) -> Iterator[U64]:
        pairs, weights = self._changes.ahead[self._which], self._changes.weights(self._which)
        return pairs.blocks(size, weights)


def _turned(blocks: list[U64]) -> U64:
    return turned(np.concatenate(blocks)) if blocks else NO_KEYS

"""The transitive closure of a relation, kept as rows of strongly connected components.

Start reading at `TransitiveClosure`. A pair (a, b) is in the closure if one or more edges lead from
a to b. What each component reaches is kept (`reach`); what reaches it is searched for backwards
along the edges, until that has cost about as much as making rows for it, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplestore.closures.breadth_first import Search
from triplestore.closures.edge_graph import NONE, Graph, Lists
from triplestore.closures.estimate import estimate
from triplestore.closures.packed_pairs import (
    I64,
    NO_IDS,
    NO_KEYS,
    U32,
    U64,
    Bools,
    distinct,
    first,
    frozen,
    in_order,
    member,
    second,
    sorted_distinct,
    without,
)
from triplestore.closures.scheme import BLOCK, Budget, Difference, Estimate, SortedPairs
from triplestore.closures.transitive.difference import ChangedPairs, Changes, ClosurePairs
from triplestore.closures.transitive.reach import Reach
from triplestore.closures.transitive.reach_pairs import ReachPairs, reached_from
from triplestore.closures.transitive.reach_update import Moves, update

_RENT = 8
"""Edges walked backwards, for each edge of the graph, before rows of predecessors are made."""

_EDITED = 64
"""Lists of predecessors are edited while at most one edge in so many changes; else made anew."""

_SPARE = 1024  # labels and nodes that may be out of use whatever the size


class TransitiveClosure:
    """The closure of some edges; immutable.

    >>> import numpy as np
    >>> edges = np.array([1 << 32 | 2, 2 << 32 | 3, 3 << 32 | 2], np.uint64)
    >>> closure = TransitiveClosure.build(edges)
    >>> closure.count(), closure.forward(np.array([1], np.uint32))[1].tolist()
    (6, [2, 3])
    >>> smaller, difference = closure.changed(edges[1:2], edges[:0])
    >>> smaller.count(), difference.lost.count(), smaller.path(3, 2)
    (2, 4, [3, 2])
    """

    __slots__ = ("_ahead", "_behind", "_walked", "graph")

    def __init__(self, graph: Graph, ahead: Reach, behind: Reach | None = None) -> None:
        self.graph = graph
        self._ahead = ahead
        self._behind = behind
        self._walked = 0

    @classmethod
    def build(cls, edges: U64, budget: Budget | None = None) -> TransitiveClosure:
        """The closure of edges, given in any order."""
        graph = Graph.of(in_order(edges))
        return cls(graph, Reach.build(graph.ahead, budget))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The closure as plain arrays, to be written to a file (see `from_arrays`): views that
        cannot be written to."""
        graph = self.graph
        arrays: dict[str, NDArray[Any]] = {
            "nodes": graph.nodes,
            "edges": graph.edges,
            "starts": graph.ahead.starts,
            "cols": graph.ahead.cols,
        }
        arrays |= self._ahead.to_arrays()
        return {name: frozen(array.view()) for name, array in arrays.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> TransitiveClosure:
        """The closure that `to_arrays` gave; the arrays may be mapped, and are not copied."""
        plain = {name: np.asarray(array) for name, array in arrays.items()}
        lists = Lists(plain["starts"], plain["cols"])
        return cls(Graph(plain["nodes"], plain["edges"], lists), Reach.from_arrays(plain))

    @staticmethod
    def estimate(edges: U64) -> Estimate:
        """What the closure would take, without making it."""
        return estimate(Graph.of(in_order(edges)))

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
        """What reaches each node: made at the first use, and kept."""
        if self._behind is None:
            self._behind = Reach.build(self.graph.back())
        return self._behind

    def keep_behind(self, behind: Reach) -> None:
        """Take over rows of predecessors that were made elsewhere."""
        if self._behind is None:
            self._behind = behind

    def nbytes(self) -> int:
        """The memory it takes: edges, rows, and rows of predecessors if they were made."""
        behind = self._behind.nbytes if self._behind is not None else 0
        return self.graph.nbytes + self._ahead.nbytes + behind

    def count(self) -> int:
        """How many pairs there are."""
        return self._ahead.count()

    def contains(self, keys: U64) -> Bools:
        """Which of these pairs are in the closure."""
        return self._ahead.contains(self._labels(first(keys)), self._labels(second(keys)))

    def _labels(self, ids: U32) -> U32:
        places = self.graph.places(ids)
        if len(self._ahead.label) == 0:
            return np.full(len(ids), NONE, dtype=np.uint32)
        labels = self._ahead.label[places]
        labels[places < 0] = NONE
        return labels

    def forward(self, nodes: U32) -> tuple[I64, U32]:
        """The pairs that begin with each node: (place in `nodes`, second id)."""
        return self._found(self._ahead, nodes)

    def forward_counts(self, nodes: U32) -> I64:
        """How many pairs begin with each node."""
        return self._counted(self._ahead, nodes)

    def backward(self, nodes: U32) -> tuple[I64, U32]:
        """The pairs that end with each node: (place in `nodes`, first id)."""
        walked = None if self._behind is not None else self._walk(nodes)
        if walked is None:
            return self._found(self.behind, nodes)
        index = np.repeat(np.arange(len(nodes)), [len(found) for found in walked])
        return index, np.concatenate(walked) if walked else NO_IDS

    def backward_counts(self, nodes: U32) -> I64:
        """How many pairs end with each node."""
        walked = None if self._behind is not None else self._walk(nodes)
        if walked is None:
            return self._counted(self.behind, nodes)
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
        return first(keys).astype(np.int64), second(keys)

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
        graph, limit = self.graph, _RENT * len(self.edges) + _SPARE
        if self._walked > limit:
            return None
        search = Search(graph.back())
        found: list[U32] = []
        for place in graph.places(nodes).tolist():
            if self._walked > limit:
                return None
            near = search.from_node(place) if place >= 0 else NO_IDS
            self._walked += search.steps
            found.append(graph.nodes[np.sort(near)])
        return found

    def subjects(self) -> U32:
        """The first ids of all pairs: those of the edges."""
        return distinct(first(self.edges))

    def objects(self) -> U32:
        """The second ids of all pairs: those of the edges."""
        return sorted_distinct(second(self.edges))

    def blocks(self, size: int = BLOCK, *, swapped: bool = False) -> Iterator[U64]:
        """All pairs as packed keys, in order; with `swapped` the second id is in front."""
        every = np.arange(len(self.graph.nodes), dtype=np.uint32)
        reach = self.behind if swapped else self._ahead
        yield from ReachPairs.of(reach, self.graph.nodes, every).blocks(size)

    def path(self, start: int, end: int) -> list[int]:
        """The nodes of a shortest path of one or more edges; empty if there is none."""
        ends = np.array([start, end], dtype=np.uint32)
        if not self.contains(np.array([start << 32 | end], dtype=np.uint64))[0]:
            return []
        places = self.graph.places(ends).tolist()
        nodes: list[int] = self.graph.nodes[Search(self.graph.ahead).path(*places)].tolist()
        return nodes

    def changed(
        self, removed: U64, added: U64, budget: Budget | None = None
    ) -> tuple[TransitiveClosure, Difference]:
        """The closure of the edges without `removed` and with `added`, and what that changed."""
        added = in_order(added)
        removed = without(in_order(removed), added)
        removed = removed[member(removed, self.edges)]
        added = without(added, self.edges)
        if len(removed) == 0 and len(added) == 0:
            return self, Difference(SortedPairs(), SortedPairs())
        if len(self.edges) == 0 or (len(removed) == len(self.edges) and len(added) == 0):
            made = TransitiveClosure.build(added, budget)
            return made, Difference(ClosurePairs(self), ClosurePairs(made))
        if (len(removed) + len(added)) * _EDITED < len(self.edges):
            self.graph.back()  # kept here, it is edited by every change that begins here
        graph, moved = self.graph.edited(removed, added)
        moves = Moves(
            _numbers(graph, first(removed)),
            _numbers(graph, second(removed)),
            _numbers(graph, first(added)),
            _numbers(graph, second(added)),
            moved,
        )
        step = update(self._ahead, graph.ahead, graph.back(), moves, budget)
        made = TransitiveClosure(graph, step.new)
        changes = Changes(self, made, step, moves)
        return made._renewed(budget), Difference(ChangedPairs(changes, 0), ChangedPairs(changes, 1))

    def _renewed(self, budget: Budget | None) -> TransitiveClosure:
        """The same closure, made from its edges if too many labels or nodes are out of use."""
        ahead, graph = self._ahead, self.graph
        spare = len(graph.nodes) > 4 * len(self.edges) + _SPARE
        if not spare and ahead.labels <= 2 * len(ahead.parts.at_rank) + _SPARE:
            return self
        return TransitiveClosure.build(self.edges, budget)


def _numbers(graph: Graph, ids: U32) -> U32:
    return graph.places(ids).astype(np.uint32)

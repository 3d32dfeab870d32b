"""The edges of a product graph that lie on paths from start states to end states.

Start reading at `UsefulEdges`. All edges are kept here, to find those that a change makes useful;
the closure gets only the useful ones. A node is *ahead* if it is in a start state or such a node
leads to it; it is *before* if it is in an end state or leads to such a node. Deletions do not
change these marks: some useless edges may stay, which is harmless.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from triplestore.closures.edge_graph import NONE, EdgeGraph, Lists
from triplestore.closures.thresholds import CLOSURES
from triplestore.data_classes import data_class
from triplestore.relations.facts.sorted_arrays import member, sorted_distinct, without
from triplestore.relations.layers.sorted_order import ranges
from triplestore.relations.packed_keys import I64, U32, U64, Bools, high, low, pack


def reached(lists: Lists, seeds: U32, known: Bools | None = None) -> U32:
    """The numbers of the nodes that the seeds reach in one or more steps, sorted.

    known   nodes that are not visited, and not in the result
    """
    from triplestore.kernels.closures.reach import spread

    size = len(lists.starts) - 1
    parent = np.full(size, NONE, dtype=np.uint32)
    if known is not None:
        parent[known] = 0
    queue = np.empty(size + len(seeds), dtype=np.uint32)
    queue[: len(seeds)] = seeds
    state = np.array([0, len(seeds), 0, 0], dtype=np.int64)
    while not spread(lists.starts, lists.cols, parent, queue, state, -1, CLOSURES.kernel_steps):
        pass
    return np.sort(queue[len(seeds) : int(state[1])])


def in_states(nodes: U32, states: int, wanted: Iterable[int]) -> Bools:
    """Which (node, state) pairs are in one of some states."""
    table = np.zeros(states, dtype=np.bool_)
    table[list(wanted)] = True
    found: Bools = table[nodes % np.uint32(states)]
    return found


@data_class
class UsefulEdges:
    """All edges of a product graph, and which of its nodes, by number, are ahead and before.

    Always true: what is ahead leads to what is ahead; what leads to what is before is before.

    >>> import numpy as np
    >>> edges = np.array([2 << 32 | 5, 4 << 32 | 7], np.uint64)  # two states: odd ones are ends
    >>> some = UsefulEdges.of(edges, 2, [0], [1])
    >>> len(some.edges()), len(UsefulEdges.of(edges + np.uint64(1 << 32), 2, [0], [1]).edges())
    (2, 0)
    """

    graph: EdgeGraph
    states: int
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    ahead: Bools
    before: Bools

    @classmethod
    def of(cls, keys: U64, states: int, starts: Iterable[int], ends: Iterable[int]) -> UsefulEdges:
        """The useful ones of sorted edges."""
        graph, starts, ends = EdgeGraph.of(keys), tuple(starts), tuple(ends)
        ahead = in_states(graph.nodes, states, starts)
        before = in_states(graph.nodes, states, ends)
        ahead[reached(graph.ahead, _numbers(ahead), ahead)] = True
        before[reached(graph.back(), _numbers(before), before)] = True
        return cls(graph, states, starts, ends, ahead, before)

    def edges(self) -> U64:
        """The useful edges, sorted."""
        return self._useful(self.graph.edges)

    def nbytes(self) -> int:
        """The memory it takes."""
        return self.graph.nbytes + self.ahead.nbytes + self.before.nbytes

    def _useful(self, keys: U64) -> U64:
        source, target = self.graph.places(high(keys)), self.graph.places(low(keys))
        return keys[self.ahead[source] & self.before[target]]

    def changed(self, removed: U64, added: U64) -> tuple[UsefulEdges, U64]:
        """The same for the edges without `removed` and with `added`, and the edges now useful.

        Both are sorted and distinct and share nothing. The second result has the useful ones of
        `added`, and those that these made useful, sorted.
        """
        removed = removed[member(removed, self.graph.edges)]
        added = without(added, self.graph.edges)
        if len(self.graph.edges) == 0:
            made = UsefulEdges.of(added, self.states, self.starts, self.ends)
            return made, made.edges()
        graph, moved = self.graph.edited(removed, added)
        ahead, before = self.ahead.copy(), self.before.copy()
        if moved is not None:
            ahead = in_states(graph.nodes, self.states, self.starts)
            before = in_states(graph.nodes, self.states, self.ends)
            ahead[moved], before[moved] = self.ahead, self.before
        made = UsefulEdges(graph, self.states, self.starts, self.ends, ahead, before)
        source, target = graph.places(high(added)), graph.places(low(added))
        further = _grown(graph.ahead, ahead, source, target)
        nearer = _grown(graph.back(), before, target, source)
        fresh = [added, _edges_of(graph, graph.ahead, further)]
        fresh.append(_edges_of(graph, graph.back(), nearer, turned=True))
        return made, made._useful(sorted_distinct(np.concatenate(fresh)))


def _numbers(marked: Bools) -> U32:
    return marked.nonzero()[0].astype(np.uint32)


def _grown(lists: Lists, marked: Bools, source: I64, target: I64) -> U32:
    """Mark the nodes that new edges reach from marked nodes, directly or not; return them."""
    seeds = np.unique(target[marked[source] & ~marked[target]]).astype(np.uint32)
    if len(seeds) == 0:
        return seeds
    marked[seeds] = True
    found = np.concatenate((seeds, reached(lists, seeds, marked)))
    marked[found] = True
    return found


def _edges_of(graph: EdgeGraph, lists: Lists, nodes: U32, *, turned: bool = False) -> U64:
    """The edges of some nodes, from the lists of those after them or (`turned`) before them."""
    lo, hi = lists.starts[nodes], lists.starts[nodes.astype(np.int64) + 1]
    here = np.repeat(graph.nodes[nodes], hi - lo)
    there = graph.nodes[lists.cols[ranges(lo, hi - lo)]]
    return pack(there, here) if turned else pack(here, there)

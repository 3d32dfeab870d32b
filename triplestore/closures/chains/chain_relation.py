"""One relation defined by chains, read from the closure over pairs (node, state)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from triplestore.closures.chains.product_graph import NodePlaces, numbered
from triplestore.closures.chains.state_reach import StateReach
from triplestore.closures.chains.useful_edges import in_states, reached
from triplestore.closures.scheme import PairDifference, PairStream
from triplestore.closures.thresholds import CLOSURES
from triplestore.closures.transitive.transitive_closure import TransitiveClosure
from triplestore.relations.packed_keys import I64, NO_KEYS, U32, U64, Bools, high, low, pack
from triplestore.relations.pair_relation import BLOCK, PairRelation


class Ends(NamedTuple):
    """The pairs of the closure that are pairs of a relation: those from one state to another."""

    places: NodePlaces
    states: int
    start: int
    end: int

    def read(self, keys: U64, *, turned: bool = False) -> U64:
        """The pairs of the relation that pairs of the closure mean, in order if `keys` are.

        turned   the keys have the second node in front, and so has the result
        """
        here, there = high(keys), low(keys)
        states, ids = np.uint32(self.states), self.places.ids
        start, end = (self.end, self.start) if turned else (self.start, self.end)
        meant = (here % states == start) & (there % states == end)
        if not meant.all():
            here, there = here[meant], there[meant]
        return pack(ids[here // states], ids[there // states])


class _Direction:
    """One direction of look-ups: looking from the first nodes, or from the second.

    For few nodes, all that they reach is read, and other states are dropped. For more nodes, those
    in the wanted state are collected once, and kept.
    """

    def __init__(self, closure: TransitiveClosure, ends: Ends, back: bool) -> None:
        self.closure, self.ends, self.back = closure, ends, back
        self._reach: StateReach | None = None

    def nbytes(self) -> int:
        """The memory of what is kept for look-ups."""
        return self._reach.nbytes() if self._reach is not None else 0

    def found(self, nodes: U32) -> tuple[I64, U32]:
        """The pairs of each node: (place in `nodes`, other id)."""
        known, numbers = self._numbers(nodes)
        if self._reach is None and len(nodes) <= CLOSURES.searched_nodes:
            keys = self._searched(known, numbers)
        else:
            blocks = list(self.reach.found(self.closure.graph.places(numbers), known))
            keys = blocks[0] if blocks else NO_KEYS
        if not self.ends.places.in_order:
            keys = np.sort(keys)
        return high(keys).astype(np.int64), low(keys)

    def counts(self, nodes: U32) -> I64:
        """How many pairs each node has."""
        known, numbers = self._numbers(nodes)
        if self._reach is None and len(nodes) <= CLOSURES.searched_nodes:
            return np.bincount(high(self._searched(known, numbers)), minlength=len(nodes))
        counts = np.zeros(len(nodes), dtype=np.int64)
        counts[known] = self.reach.counts(self.closure.graph.places(numbers))
        return counts

    def _numbers(self, nodes: U32) -> tuple[U32, U32]:
        """The places in `nodes` of those that the closure knows, and their numbers there."""
        ends = self.ends
        places = ends.places.of(nodes)
        numbers = numbered(places, ends.states, ends.end if self.back else ends.start)
        known = (places >= 0) & (self.closure.graph.places(numbers) >= 0)
        return known.nonzero()[0].astype(np.uint32), numbers[known]

    def _searched(self, prefix: U32, numbers: U32) -> U64:
        """The nodes that these reach, by the closure: prefix << 32 | id."""
        states = np.uint32(self.ends.states)
        owners, others = self.closure.match(int(self.back), numbers)
        meant = others % states == (self.ends.start if self.back else self.ends.end)
        return pack(prefix[owners[meant]], self.ends.places.ids[others[meant] // states])

    @property
    def reach(self) -> StateReach:
        """The nodes reached in the wanted state."""
        if self._reach is None:
            closure, ends = self.closure, self.ends
            nodes = closure.graph.nodes
            wanted = in_states(nodes, ends.states, [ends.start if self.back else ends.end])
            rows = closure.behind if self.back else closure.ahead
            ids = ends.places.ids[nodes // np.uint32(ends.states)]
            self._reach = StateReach(rows, wanted, ids)
        return self._reach

    def nodes(self) -> U32:
        """The nodes that have pairs, sorted."""
        graph, ends = self.closure.graph, self.ends
        here, there = (ends.end, ends.start) if self.back else (ends.start, ends.end)
        seeds = in_states(graph.nodes, ends.states, [there]).nonzero()[0].astype(np.uint32)
        near = graph.nodes[reached(graph.ahead if self.back else graph.back(), seeds)]
        numbers = near[in_states(near, ends.states, [here])]
        return np.sort(ends.places.ids[numbers // np.uint32(ends.states)])

    def blocks(self, size: int) -> Iterator[U64]:
        """All pairs in order, with the nodes of this side in front."""
        nodes = self.nodes()
        _, numbers = self._numbers(nodes)
        for keys in self.reach.found(self.closure.graph.places(numbers), nodes, size):
            yield keys if self.ends.places.in_order else np.sort(keys)


class ChainRelation(PairRelation):
    """The pairs (x, z) for which the closure has ((x, start), (z, end)); immutable.

    Counting does not list pairs. Look-ups of many nodes use data that the first one makes.
    """

    def __init__(self, closure: TransitiveClosure, ends: Ends) -> None:
        self._closure, self._ends = closure, ends
        self._sides = _Direction(closure, ends, False), _Direction(closure, ends, True)
        self._before: tuple[ChainRelation, PairDifference] | None = None

    def follows(self, before: ChainRelation, difference: PairDifference) -> None:
        """Note the version before a change: if that was counted, only the change is counted."""
        if "_count" in before.__dict__:
            self._before = before, difference

    @cached_property
    def _count(self) -> int:
        if self._before is None:
            return int(self._sides[0].counts(self._sides[0].nodes()).sum())
        before, change = self._before
        self._before = None
        return before.count() + change.gained.count() - change.lost.count()

    def count(self) -> int:
        """The number of pairs."""
        return self._count

    def nbytes(self) -> int:
        """The memory of the closure, which other relations may share."""
        return self._closure.nbytes() + self._ends.places.ids.nbytes + self.kept_bytes()

    def kept_bytes(self) -> int:
        """The memory of the data kept for look-ups, which no other relation shares."""
        return sum(side.nbytes() for side in self._sides)

    def contains_keys(self, keys: U64) -> Bools:
        """Which of these pairs are in the relation."""
        places, states = self._ends.places, self._ends.states
        here, there = places.of(high(keys)), places.of(low(keys))
        found = (here >= 0) & (there >= 0)
        here, there = here[found], there[found]
        found[found] = self._closure.contains_keys(
            pack(numbered(here, states, self._ends.start), numbered(there, states, self._ends.end))
        )
        return found

    def match(self, place: int, values: U32) -> tuple[I64, U32]:
        """The pairs with these ids in one place: (position in `values`, id in the other place)."""
        return self._sides[place].found(values)

    def match_counts(self, place: int, values: U32) -> I64:
        """The number of pairs with each of these ids in one place."""
        return self._sides[place].counts(values)

    def distinct(self, column: int) -> U32:
        """The ids that occur in this column, increasing: found by one search in the graph."""
        return self._sides[column].nodes()

    def blocks(self, size: int = BLOCK, *, swapped: bool = False) -> Iterator[U64]:
        """All pairs in order."""
        return self._sides[int(swapped)].blocks(size)


class MeantPairs:
    """The pairs of a relation among pairs of the closure."""

    def __init__(self, pairs: PairStream, ends: Ends) -> None:
        self._pairs, self._ends = pairs, ends

    @cached_property
    def _count(self) -> int:
        return sum(len(self._ends.read(block)) for block in self._pairs.blocks())

    def count(self) -> int:
        """The number of pairs, counted by streaming them the first time."""
        return self._count

    def blocks(self, size: int = BLOCK, *, swapped: bool = False) -> Iterator[U64]:
        """The pairs in order; they are sorted first if places are not in the order of ids."""
        parts = (
            self._ends.read(block, turned=swapped)
            for block in self._pairs.blocks(size, swapped=swapped)
        )
        if self._ends.places.in_order:
            yield from (part for part in parts if len(part))
            return
        keys = np.sort(np.concatenate([np.empty(0, dtype=np.uint64), *parts]))
        for at in range(0, len(keys), size):
            yield keys[at : at + size]


class TurnedPairs:
    """A set of pairs turned around."""

    def __init__(self, pairs: PairStream) -> None:
        self._pairs = pairs

    def count(self) -> int:
        """The number of pairs."""
        return self._pairs.count()

    def blocks(self, size: int = BLOCK, *, swapped: bool = False) -> Iterator[U64]:
        """The pairs in order."""
        return self._pairs.blocks(size, swapped=not swapped)

"""Steps of property paths, taken from many nodes at once.

Start at `PathStep.expand`: the nodes that one step (of a predicate, a sequence, a closure) reaches
from some nodes. Always true: the given nodes are distinct; pairs are sorted by the place of
the node from which they start; closures return each pair once, other steps may repeat pairs, as
SPARQL requires of paths outside of closures.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from triplestore.operators.context import Budget, current
from triplestore.relations.layers.sorted_order import ranges
from triplestore.relations.packed_keys import (
    I64,
    NO_IDS,
    U32,
    U64,
    Bools,
    distinct,
    high,
    in_sorted,
    low,
    pack,
)
from triplestore.relations.relation import StoredRelation
from triplestore.relations.views.virtual import AllFacts

Pairs: TypeAlias = tuple[I64, U32]
"""Places of the given nodes, increasing, and a node reached from each."""


_SLICE = 1 << 16  # maximum number of pairs followed by one call
_TOGETHER = 1 << 19  # number of new pairs or nodes of several steps after which repeats are removed
_PAIR_BYTES = 60  # per pair while it is sorted


class PathStep(ABC):
    """A part of a path between two nodes."""

    size: float
    """The approximate number of pairs of nodes that it connects."""

    empty = False
    """True if it may have length zero: then it leads from each node to itself."""

    @abstractmethod
    def expand(self, nodes: U32, backward: bool, budget: Budget) -> Pairs:
        """The nodes reached from these (backward: the nodes that reach these)."""

    @abstractmethod
    def starts(self, backward: bool) -> U32:
        """The nodes from which the step may reach others, increasing."""


class PredicateStep(PathStep):
    """One triple of a predicate."""

    def __init__(self, relation: StoredRelation, where: int) -> None:
        self._relation = relation
        self._where = where
        self.size = float(relation.count(where))

    def expand(self, nodes: U32, backward: bool, budget: Budget) -> Pairs:
        """Look the nodes up in the relation."""
        return _collect(self._relation, 1 if backward else 0, nodes, self._where, budget)

    def starts(self, backward: bool) -> U32:
        """The subjects, or the objects."""
        return self._relation.distinct(1 if backward else 0, self._where)


class NegatedStep(PathStep):
    """One triple of any predicate except some."""

    def __init__(self, facts: AllFacts, excluded: Sequence[int], where: int) -> None:
        self._facts = facts
        self._excluded = np.array(sorted(excluded), np.uint32)
        self._where = where
        self.size = float(facts.count(where))

    def expand(self, nodes: U32, backward: bool, budget: Budget) -> Pairs:
        """Look the nodes up in all facts."""
        column = 2 if backward else 0
        found = []
        for index, free in self._facts.probe_blocks((column,), (nodes,), self._where):
            budget.check()
            predicates = free[1] if backward else free[0]
            allowed = ~in_sorted(predicates, self._excluded)
            found.append((index[allowed], (free[0] if backward else free[1])[allowed]))
        return _sorted_pairs(found)

    def starts(self, backward: bool) -> U32:
        """All subjects, or all objects."""
        return self._facts.distinct(2 if backward else 0, self._where)


class InverseStep(PathStep):
    """Another step in the opposite direction."""

    def __init__(self, step: PathStep) -> None:
        self._step = step
        self.size = step.size
        self.empty = step.empty

    def expand(self, nodes: U32, backward: bool, budget: Budget) -> Pairs:
        """Expand in the opposite direction."""
        return self._step.expand(nodes, not backward, budget)

    def starts(self, backward: bool) -> U32:
        """The starts of the opposite direction."""
        return self._step.starts(not backward)


class SequenceStep(PathStep):
    """Steps one after the other."""

    def __init__(self, steps: Sequence[PathStep]) -> None:
        self._steps = tuple(steps)
        self.size = max(step.size for step in steps)
        self.empty = all(step.empty for step in steps)

    def expand(self, nodes: U32, backward: bool, budget: Budget) -> Pairs:
        """Expand step by step; pairs in between are made distinct."""
        pairs = np.arange(len(nodes), dtype=np.int64), nodes
        for step in reversed(self._steps) if backward else self._steps:
            slices = list(_slices(pairs, budget))
            found = [once(follow(part, step, backward, budget)) for part in slices]
            pairs = found[0] if len(found) == 1 else once(_sorted_pairs(found))
        return pairs

    def starts(self, backward: bool) -> U32:
        """The starts of the first step."""
        return self._steps[-1 if backward else 0].starts(backward)


class AlternativeStep(PathStep):
    """Any of several steps, inside of a closure, so that each pair may be returned once.

    There may be tens of thousands of steps, so repeats are removed in between.
    """

    def __init__(self, steps: Sequence[PathStep]) -> None:
        self._steps = tuple(steps)
        self.size = sum(step.size for step in steps)
        self.empty = any(step.empty for step in steps)

    def expand(self, nodes: U32, backward: bool, budget: Budget) -> Pairs:
        """Expand each step."""
        found: list[Pairs] = []
        waiting = 0
        for step in self._steps:
            budget.check()
            found.append(step.expand(nodes, backward, budget))
            waiting += len(found[-1][0])
            if waiting > _TOGETHER:
                budget.charge(_PAIR_BYTES * waiting)
                found = [once(_sorted_pairs(found))]
                budget.release(_PAIR_BYTES * waiting)
                waiting = 0
        return _sorted_pairs(found)

    def starts(self, backward: bool) -> U32:
        """The starts of all steps."""
        found: list[U32] = []
        waiting = 0
        for step in self._steps:
            current().check()
            found.append(step.starts(backward))
            waiting += len(found[-1])
            if waiting > _TOGETHER:
                found = [distinct(np.sort(np.concatenate(found)))]
                waiting = 0
        return distinct(np.sort(np.concatenate(found)))


class ClosureStep(PathStep):
    """Another step repeated: at least `least` (0 or 1) times; at most once, or any number of times.

    nodes  all nodes of the graph, for starts of paths of length zero
    """

    def __init__(self, step: PathStep, least: int, endless: bool, nodes: Nodes) -> None:
        self._step = step
        self._least = least
        self.empty = least == 0 or step.empty
        self._endless = endless
        self._nodes = nodes
        self.size = step.size * (4 if endless else 1) + (nodes.size if least == 0 else 0)

    def starts(self, backward: bool) -> U32:
        """All nodes if paths may have length zero."""
        return self._nodes.all() if self._least == 0 else self._step.starts(backward)

    def expand(self, nodes: U32, backward: bool, budget: Budget) -> Pairs:
        """All nodes reached, each once."""
        own = np.arange(len(nodes), dtype=np.int64), nodes
        if not self._endless:
            return once(_sorted_pairs([own, self._step.expand(nodes, backward, budget)]))
        if len(nodes) == 1:
            return self._from_one(nodes, backward, budget)
        return self._from_many(own, backward, budget)

    def _from_one(self, nodes: U32, backward: bool, budget: Budget) -> Pairs:
        """Breadth first from one node, with a mark for each visited node."""
        start = int(nodes[0])
        seen: set[int] = {start} if self._least == 0 else set()
        reached = [nodes] if self._least == 0 else []
        frontier = nodes
        charged = 0
        try:
            while len(frontier):
                budget.check()
                _, found = self._step.expand(frontier, backward, budget)
                fresh = [node for node in np.unique(found).tolist() if node not in seen]
                budget.charge(80 * len(fresh))
                charged += 80 * len(fresh)
                seen.update(fresh)
                frontier = np.array(fresh, np.uint32)
                reached.append(frontier)
        finally:
            budget.release(charged)
        every = np.concatenate(reached) if reached else NO_IDS
        every.sort()
        return np.zeros(len(every), np.int64), every

    def _from_many(self, own: Pairs, backward: bool, budget: Budget) -> Pairs:
        """Breadth first from all nodes at once; visited pairs are kept sorted."""
        frontier = own
        met = _Met(budget)
        if self._least == 0:
            met.add(pack(own[0].astype(np.uint32), own[1]))
        try:
            while len(frontier[0]):
                found = []
                for part in _slices(frontier, budget):
                    fresh = met.new(_packed(follow(part, self._step, backward, budget)))
                    met.add(fresh)
                    found.append(fresh)
                fresh = np.concatenate(found)
                frontier = high(fresh).astype(np.int64), low(fresh)
            keys = met.all()
        finally:
            met.close()
        budget.check()
        return high(keys).astype(np.int64), low(keys)


class _Met:
    """The visited pairs, packed, in sorted runs; each run is over twice as long as the next."""

    def __init__(self, budget: Budget) -> None:
        self._runs: list[U64] = []
        self._budget = budget
        self._charged = 0

    def new(self, keys: U64) -> U64:
        """Those of some sorted distinct keys that were not visited before."""
        for run in self._runs:
            keys = keys[~in_sorted(keys, run)]
        return keys

    def add(self, keys: U64) -> None:
        if len(keys) == 0:
            return
        self._budget.charge(16 * len(keys))
        self._charged += 16 * len(keys)
        while self._runs and len(self._runs[-1]) <= 2 * len(keys):
            self._budget.check()
            keys = np.sort(np.concatenate((self._runs.pop(), keys)))
        self._runs.append(keys)

    def all(self) -> U64:
        if not self._runs:
            return np.zeros(0, np.uint64)
        self._budget.check()
        return np.sort(np.concatenate(self._runs)) if len(self._runs) > 1 else self._runs[0]

    def close(self) -> None:
        self._budget.release(self._charged)
        self._charged = 0


class Nodes:
    """The nodes of a graph: all subjects and objects."""

    def __init__(self, facts: AllFacts, where: int) -> None:
        self._facts = facts
        self._where = where
        self.size = float(facts.count(where))

    def contain(self, nodes: U32) -> Bools:
        """Which of these are nodes of the graph."""
        found = self._facts.semijoin(0, nodes, self._where)
        missing = np.flatnonzero(~found)
        found[missing] = self._facts.semijoin(2, nodes[missing], self._where)
        return found

    def all(self) -> U32:
        """The nodes, increasing."""
        both = [self._facts.distinct(column, self._where) for column in (0, 2)]
        return distinct(np.sort(np.concatenate(both)))


def follow(pairs: Pairs, step: PathStep, backward: bool, budget: Budget) -> Pairs:
    """The pairs after one more step; each end node is looked up once."""
    index, ends = pairs
    nodes, places = np.unique(ends, return_inverse=True)
    found_index, found = step.expand(nodes, backward, budget)
    budget.check()
    starts = found_index.searchsorted(np.arange(len(nodes) + 1))
    lengths = (starts[1:] - starts[:-1])[places]
    total = int(lengths.sum())
    budget.charge(24 * total)
    try:
        rows = ranges(starts[:-1][places], lengths)
        return np.repeat(index, lengths), found[rows]
    finally:
        budget.release(24 * total)


def _slices(pairs: Pairs, budget: Budget) -> Iterator[Pairs]:
    """The pairs in at least one slice, with a check of the limits before each."""
    for start in range(0, max(1, len(pairs[0])), _SLICE):
        budget.check()
        yield pairs[0][start : start + _SLICE], pairs[1][start : start + _SLICE]


def once(pairs: Pairs) -> Pairs:
    """Each pair once."""
    keys = _packed(pairs)
    return high(keys).astype(np.int64), low(keys)


def _packed(pairs: Pairs) -> U64:
    keys: U64 = np.unique(pack(pairs[0].astype(np.uint32), pairs[1]))
    return keys


def _collect(relation: Any, column: int, nodes: U32, where: int, budget: Budget) -> Pairs:
    found = []
    for index, (free,) in relation.probe_blocks((column,), (nodes,), where):
        budget.check()
        found.append((index, free))
    if len(found) == 1:
        return found[0]
    if not found:
        return np.zeros(0, np.int64), NO_IDS
    return np.concatenate([index for index, _ in found]), np.concatenate([o for _, o in found])


def _sorted_pairs(found: Sequence[Pairs]) -> Pairs:
    """Several batches of pairs as one, sorted by place."""
    if not found:
        return np.zeros(0, np.int64), NO_IDS
    index = np.concatenate([part[0] for part in found])
    ends = np.concatenate([part[1] for part in found])
    order = np.argsort(index, kind="stable")
    return index[order], ends[order]

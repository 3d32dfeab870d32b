"""What a change of edges did to a transitive closure: counted and streamed, never written out."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from triplestore.closures.packed_pairs import I64, NO_KEYS, U64, swapped
from triplestore.closures.scheme import BLOCK
from triplestore.closures.transitive.reach_pairs import ReachPairs, difference
from triplestore.closures.transitive.reach_update import Moves, Step, update

if TYPE_CHECKING:
    from triplestore.closures.transitive.transitive_closure import TransitiveClosure

_FEW = 1 << 22
"""So many pairs are sorted to have their second ids in front; for more, rows are made."""


_SOME = 8  # labels for each that changed, from which on all pairs are not counted


class ClosurePairs:
    """All pairs of a closure."""

    def __init__(self, closure: TransitiveClosure) -> None:
        self._closure = closure

    def count(self) -> int:
        """How many pairs there are."""
        return self._closure.count()

    def blocks(self, size: int = BLOCK, *, swapped: bool = False) -> Iterator[U64]:
        """All pairs, in order."""
        return self._closure.blocks(size, swapped=swapped)


class Changes:
    """Two versions of a closure, and what they have and have not in common."""

    def __init__(
        self, old: TransitiveClosure, new: TransitiveClosure, step: Step, moves: Moves
    ) -> None:
        self._old, self._new, self._moves = old, new, moves
        self._step = step
        self._weights: dict[int, I64] = {}

    @cached_property
    def ahead(self) -> tuple[ReachPairs, ReachPairs]:
        """What is lost and gained, from the first ids of the pairs."""
        return difference(self._step, self._new.graph.nodes)

    @cached_property
    def counts(self) -> tuple[int, int]:
        """How many pairs are lost and gained."""
        loses, gains = len(self._moves.gone_from) > 0, len(self._moves.come_from) > 0
        if len(self._step.changed) * _SOME < self._step.new.labels:
            return self._weight(0) if loses else 0, self._weight(1) if gains else 0
        # It takes less to count all pairs than to compare all rows; so one side is not compared.
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
        """What is lost and gained, from the second ids of the pairs."""
        graph, moves = self._new.graph, self._moves.turned()
        step = update(self._old.behind, graph.back(), graph.ahead, moves)
        self._new.keep_behind(step.new)
        return difference(step, graph.nodes)


class ChangedPairs:
    """The pairs that are lost (0) or gained (1) by a change."""

    def __init__(self, changes: Changes, which: int) -> None:
        self._changes = changes
        self._which = which

    def count(self) -> int:
        """How many pairs there are."""
        return self._changes.counts[self._which]

    def blocks(self, size: int = BLOCK, *, swapped: bool = False) -> Iterator[U64]:
        """The pairs, in order."""
        total = self.count()
        if total == 0:
            return
        if not swapped:
            yield from self._ahead(size)
        elif total <= _FEW:
            keys = _turned(list(self._ahead(size)))
            for at in range(0, len(keys), size):
                yield keys[at : at + size]
        else:
            yield from self._changes.behind[self._which].blocks(size)

    def _ahead(self, size: int) -> Iterator[U64]:
        pairs, weights = self._changes.ahead[self._which], self._changes.weights(self._which)
        return pairs.blocks(size, weights)


def _turned(blocks: list[U64]) -> U64:
    return swapped(np.concatenate(blocks)) if blocks else NO_KEYS

"""Schemes: closures that are kept as labels and answered from them, never written out.

Start reading at `Scheme`. A scheme owns the closure of its *edges*, the facts that are asserted or
derived elsewhere. It is immutable: `changed` gives a new scheme, which shares what did not change,
and exactly the pairs that were gained and lost. Readers of the old scheme go on undisturbed.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, Self

from triplestore.relations.layers.swap_columns import turned
from triplestore.relations.packed_keys import NO_KEYS, U64, frozen
from triplestore.relations.pair_relation import BLOCK, PairRelation


class Budget(Protocol):
    """What may stop long work: called every few milliseconds, it raises when enough is enough."""

    def check(self) -> None:
        """Raise if the time or the memory allowed is spent, or the user interrupts."""


class PairStream(Protocol):
    """A set of pairs that can be counted and streamed."""

    def count(self) -> int:
        """The number of pairs, without writing them out."""

    def blocks(self, size: int = BLOCK, *, swapped: bool = False) -> Iterator[U64]:
        """All pairs as packed keys; see `PairRelation.blocks`."""


@dataclass(frozen=True, slots=True)
class PairDifference:
    """What a change of edges did to a closure: both sets are exact, and disjoint."""

    lost: PairStream
    gained: PairStream


class Scheme(PairRelation):
    """The closure of some edges. Each also has `build(edges, budget)`."""

    __slots__ = ()

    @property
    @abstractmethod
    def edges(self) -> U64:
        """The edges of which this is the closure: sorted, distinct."""

    @abstractmethod
    def changed(
        self, removed: U64, added: U64, budget: Budget | None = None
    ) -> tuple[Self, PairDifference]:
        """The closure of the edges without `removed` and then with `added` (in any order).

        An edge that is removed without being there, or added though it is there, changes nothing;
        one in both arrays is there afterwards.
        """

    @abstractmethod
    def path(self, start: int, end: int) -> list[int]:
        """The nodes of a shortest path of one or more edges; empty if there is none."""


@dataclass(frozen=True, slots=True)
class SizeEstimate:
    """What a closure would take, guessed from a sample without computing it.

    pairs       pairs in the closure
    row_bytes   what they take as rows in two sorted orders
    bytes       what the scheme takes
    exact       whether `pairs` is no guess
    """

    pairs: int
    row_bytes: int
    bytes: int
    exact: bool = False


class SortedPairs:
    """Few pairs, as a sorted array.

    >>> import numpy as np
    >>> some = SortedPairs(np.array([1 << 32 | 5, 2 << 32 | 3], np.uint64))
    >>> some.count(), [block.tolist() for block in some.blocks(swapped=True)]
    (2, [[12884901890, 21474836481]])
    """

    __slots__ = ("keys",)

    def __init__(self, keys: U64 = NO_KEYS) -> None:
        self.keys: U64 = frozen(keys)

    def count(self) -> int:
        """How many pairs there are."""
        return len(self.keys)

    def blocks(self, size: int = BLOCK, *, swapped: bool = False) -> Iterator[U64]:
        """The pairs in order, in pieces."""
        keys = turned(self.keys) if swapped else self.keys
        for at in range(0, len(keys), size):
            yield keys[at : at + size]

"""Schemes: closures that are kept as labels and answer look-ups from them, without listing pairs.

Start reading at `Scheme`. A scheme owns the closure of its *edges*, the facts that are asserted or
derived elsewhere. It is immutable: `changed` returns a new scheme, which shares unchanged parts,
and exactly the pairs that were gained and lost. Readers of the old scheme are not affected.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Protocol, Self

from triplestore.data_classes import data_class
from triplestore.relations.layers.swap_columns import turned
from triplestore.relations.packed_keys import NO_KEYS, U64, frozen
from triplestore.relations.pair_relation import BLOCK, PairRelation


class WorkLimit(Protocol):
    """Stops long work: it is called every few milliseconds, and raises when the work must end."""

    def check(self) -> None:
        """Raise if a limit of time or memory is reached, or the user interrupts."""


class PairStream(Protocol):
    """A set of pairs that can be counted and streamed."""

    def count(self) -> int:
        """The number of pairs, without writing them out."""

    def blocks(self, size: int = BLOCK, *, swapped: bool = False) -> Iterator[U64]:
        """All pairs as packed keys; see `PairRelation.blocks`."""


@data_class
class PairDifference:
    """The pairs that a closure lost and gained by a change of edges: exact, and disjoint."""

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
        self, removed: U64, added: U64, budget: WorkLimit | None = None
    ) -> tuple[Self, PairDifference]:
        """The closure of the edges without `removed` and then with `added` (in any order).

        Removing an absent edge, or adding an existing one, changes nothing; an edge in both arrays
        exists afterwards.
        """

    @abstractmethod
    def path(self, start: int, end: int) -> list[int]:
        """The nodes of a shortest path of one or more edges; empty if there is none."""


@data_class
class SizeEstimate:
    """The estimated size of a closure.

    pairs       the number of pairs
    row_bytes   their size as rows in two sorted orders
    bytes       the size of the scheme
    exact       whether `pairs` is exact
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
        """The number of pairs."""
        return len(self.keys)

    def blocks(self, size: int = BLOCK, *, swapped: bool = False) -> Iterator[U64]:
        """The pairs in order, in pieces."""
        keys = turned(self.keys) if swapped else self.keys
        for at in range(0, len(keys), size):
            yield keys[at : at + size]

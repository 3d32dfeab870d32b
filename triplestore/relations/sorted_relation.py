"""A relation of plain rows: a sorted array of packed keys."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from triplestore.relations.facts.sorted_arrays import fans, match, member
from triplestore.relations.layers.swap_columns import turned
from triplestore.relations.packed_keys import (
    I64,
    NO_KEYS,
    U32,
    U64,
    Bools,
    distinct,
    frozen,
    high,
)
from triplestore.relations.pair_relation import BLOCK, PairRelation


class SortedRelation(PairRelation):
    """A sorted array of distinct keys; the order by second ids is made when it is first needed.

    >>> import numpy as np
    >>> some = SortedRelation(np.array([1 << 32 | 5, 2 << 32 | 5], np.uint64))
    >>> some.match(1, np.array([5], np.uint32))[1].tolist()
    [1, 2]
    """

    def __init__(self, keys: U64 = NO_KEYS) -> None:
        self.keys: U64 = frozen(keys)

    @cached_property
    def _back(self) -> U64:
        return frozen(turned(self.keys))

    @cached_property
    def _distinct(self) -> tuple[U32, U32]:
        return frozen(distinct(high(self.keys))), frozen(distinct(high(self._back)))

    def _ordered(self, place: int) -> U64:
        return self._back if place else self.keys

    def count(self) -> int:
        """The number of rows."""
        return len(self.keys)

    def nbytes(self) -> int:
        """The memory of both orders."""
        return 2 * self.keys.nbytes

    def match(self, place: int, values: U32) -> tuple[I64, U32]:
        """The rows with these ids in one place: (position in `values`, id in the other place)."""
        return match(values, self._ordered(place))

    def match_counts(self, place: int, values: U32) -> I64:
        """The number of rows with each of these ids in one place."""
        return fans(values, self._ordered(place))

    def contains_keys(self, keys: U64) -> Bools:
        """Which of these rows there are."""
        return member(keys, self.keys)

    def distinct(self, column: int) -> U32:
        """The ids that occur in this column, increasing."""
        return self._distinct[column]

    def blocks(self, size: int = BLOCK, *, swapped: bool = False) -> Iterator[U64]:
        """The rows in order, in pieces."""
        keys = self._ordered(int(swapped))
        for at in range(0, len(keys), size):
            yield keys[at : at + size]

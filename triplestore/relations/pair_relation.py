"""Relations of two columns: stored rows, closures, unions, and what an update makes of them.

Start reading at `PairRelation`. Its subclasses answer five questions about pairs, given as packed
keys `first << 32 | second`; from these follows what every `Relation` answers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property

from triplestore.relations.facts.sorted_arrays import fans, match, member
from triplestore.relations.layers.swap_columns import turned
from triplestore.relations.packed_keys import (
    I64,
    NO_KEYS,
    U32,
    U64,
    Bools,
    Columns,
    distinct,
    frozen,
    high,
    pack,
    swap,
)

BLOCK = 1 << 20
"""Approximate number of pairs in a block of a stream. A block may be shorter, or longer by the
pairs of one node."""


class PairRelation(ABC):
    """Distinct pairs of ids that can be looked up from both sides; immutable.

    `place` is 0 for the first id and 1 for the second. Ids and keys are given in any order, with
    repetitions, and may be unknown.
    """

    __slots__ = ()

    arity = 2

    @abstractmethod
    def count(self) -> int:
        """The number of pairs."""

    @abstractmethod
    def match(self, place: int, values: U32) -> tuple[I64, U32]:
        """The pairs with these ids in one place: (position in `values`, id in the other place).

        Positions are increasing; the ids of one position are increasing and distinct.
        """

    @abstractmethod
    def match_counts(self, place: int, values: U32) -> I64:
        """The number of pairs with each of these ids in one place."""

    @abstractmethod
    def contains_keys(self, keys: U64) -> Bools:
        """Which of these pairs are in the relation."""

    @abstractmethod
    def distinct(self, column: int) -> U32:
        """The ids that occur in this column, increasing."""

    @abstractmethod
    def blocks(self, size: int = BLOCK, *, swapped: bool = False) -> Iterator[U64]:
        """All pairs as packed keys, increasing over the whole stream; no block is empty.

        swapped  the keys have the second id in front
        """

    def nbytes(self) -> int:
        """The memory it takes beside the relations it is a view of."""
        return 0

    def __len__(self) -> int:
        return self.count()

    def contains(self, rows: Columns) -> Bools:
        """See `Relation.contains`."""
        return self.contains_keys(pack(rows[0], rows[1]))

    def probe(self, columns: Sequence[int], values: Sequence[U32]) -> tuple[I64, Columns]:
        """See `Relation.probe`."""
        if len(columns) == 2:
            first, second = values if columns[0] == 0 else (values[1], values[0])
            return self.contains((first, second)).nonzero()[0], ()
        index, others = self.match(columns[0], values[0])
        return index, (others,)

    def estimate(self, bound: Sequence[int] = ()) -> float:
        """See `Relation.estimate`."""
        rows = float(self.count())
        for column in set(bound):
            rows /= max(1, len(self.distinct(column)))
        return rows


class Inverse(PairRelation):
    """A view of a relation with its columns swapped; see `inverse`."""

    __slots__ = ("of",)

    def __init__(self, of: PairRelation) -> None:
        self.of = of

    def count(self) -> int:
        """The number of pairs."""
        return self.of.count()

    def match(self, place: int, values: U32) -> tuple[I64, U32]:
        """The pairs with these ids in one place: (position in `values`, id in the other place)."""
        return self.of.match(1 - place, values)

    def match_counts(self, place: int, values: U32) -> I64:
        """The number of pairs with each of these ids in one place."""
        return self.of.match_counts(1 - place, values)

    def contains_keys(self, keys: U64) -> Bools:
        """Which of these pairs are in the relation."""
        return self.of.contains_keys(swap(keys))

    def distinct(self, column: int) -> U32:
        """The ids that occur in this column, increasing."""
        return self.of.distinct(1 - column)

    def blocks(self, size: int = BLOCK, *, swapped: bool = False) -> Iterator[U64]:
        """All pairs as packed keys, in order."""
        return self.of.blocks(size, swapped=not swapped)


def inverse(relation: PairRelation) -> PairRelation:
    """The relation with its columns swapped: a view, or the relation that it is a view of.

    >>> import numpy as np
    >>> from triplestore.relations.pair_relation import SortedRelation
    >>> back = inverse(SortedRelation(np.array([1 << 32 | 5, 2 << 32 | 5], np.uint64)))
    >>> back.match(0, np.array([5], np.uint32))[1].tolist()
    [1, 2]
    """
    return relation.of if isinstance(relation, Inverse) else Inverse(relation)


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

"""Relations: what rules and queries see of stored, compressed and virtual rows.

Start reading at the protocol `Relation`: stored rows, closures, unions and the views of an update
satisfy it. Relations of two columns are also a `pair_relation.PairRelation`. Rows are tuples of
columns of ids (uint32), one per place of the relation. `Answering` is the base class of stored
relations: subclasses define `fanout`, `probe`, `status_of` and `distinct_estimate`, and override
other methods where there is a faster way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Protocol, runtime_checkable

import numpy as np

from triplestore.relations.layers.sorted_order import bounded_groups
from triplestore.relations.packed_keys import I64, NO_IDS, U8, U32, Bools, Columns, start_of_runs
from triplestore.relations.status import EXPLICIT, HOLDS, INFERRED

BLOCK = 1 << 16
"""Rows in a block, unless the caller says otherwise."""


@runtime_checkable
class Relation(Protocol):
    """Rows of `arity` ids that can be looked up by some of their columns; it never changes."""

    @property
    def arity(self) -> int:
        """The number of columns."""

    def probe(self, columns: Sequence[int], values: Sequence[U32], /) -> tuple[I64, Columns]:
        """The rows that have values[0][i], values[1][i], ... in `columns`, for all i at once.

        Returns (index, free): row k of the answer belongs to values number index[k], and
        free[j][k] is its id in the j-th column that is not among `columns`.
        """

    def contains(self, rows: Columns, /) -> Bools:
        """Which of these rows are in the relation."""

    def estimate(self, bound: Sequence[int] = (), /) -> float:
        """How many rows to expect when these columns are given."""


@runtime_checkable
class StoredRelation(Relation, Protocol):
    """Rows that hold, each with a status; a snapshot.

    `where` is a mask of statuses (`HOLDS`, `EXPLICIT`, `INFERRED`): only rows that hold with one of
    them are seen. The index of `probe` is increasing, and `estimate` is exact without columns.
    """

    def __len__(self) -> int:
        """How many rows hold: exact, and known without looking at them."""

    def count(self, where: int = HOLDS) -> int:
        """How many rows hold with one of these statuses: exact."""

    def scan(
        self,
        where: int = HOLDS,
        *,
        order: int = 0,
        first: int | None = None,
        block_rows: int = BLOCK,
    ) -> Iterator[Columns]:
        """All rows in blocks of at most about `block_rows`, each block a tuple of columns.

        Rows come sorted by column `order`, then by the other columns in their order. With `first`
        only those rows come that have this id in column `order`.
        """

    def probe(
        self, columns: Sequence[int], values: Sequence[U32], where: int = HOLDS
    ) -> tuple[I64, Columns]:
        """The rows that have values[0][i], values[1][i], ... in `columns`, for all i at once.

        Returns (index, free): row k of the answer belongs to values number index[k], and
        free[j][k] is its id in the j-th column that is not among `columns`. Index is increasing.
        """

    def probe_blocks(
        self,
        columns: Sequence[int],
        values: Sequence[U32],
        where: int = HOLDS,
        block_rows: int = BLOCK,
    ) -> Iterator[tuple[I64, Columns]]:
        """`probe` in pieces of about `block_rows`, whatever the number of answers per value."""

    def fanout(self, columns: Sequence[int], values: Sequence[U32]) -> I64:
        """For each i how many rows `probe` would look at: never fewer than it returns."""

    def rows_with(self, column: int, value: int) -> int:
        """How many rows a look-up of one id in a column reads: at least those that hold."""

    def contains(self, rows: Columns, where: int = HOLDS) -> Bools:
        """Which of these rows hold."""

    def status_of(self, rows: Columns) -> U8:
        """The statuses of these rows; 0 for those that do not hold."""

    def semijoin(self, column: int, ids: U32, where: int = HOLDS) -> Bools:
        """Which of `ids` occur in this column."""

    def distinct(self, column: int, where: int = HOLDS) -> U32:
        """The ids that occur in this column, increasing."""

    def estimate(self, bound: Sequence[int] = ()) -> float:
        """How many rows to expect when these columns are given; exact for none."""


class Answering(ABC):
    """A relation whose other methods are derived from `probe` and `status_of`.

    >>> from triplestore.relations import Tables, bulk_layer
    >>> column = np.array([1, 2], dtype=np.uint32)
    >>> relation = Tables([bulk_layer(column * 0 + 9, column, column)]).relation(9)
    >>> isinstance(relation, Answering), relation.contains((column, column[::-1])).tolist()
    (True, [False, False])
    """

    __slots__ = ()

    arity: int
    explicit: int
    inferred: int

    def __len__(self) -> int:
        return self.explicit + self.inferred

    def count(self, where: int = HOLDS) -> int:
        """How many rows hold with one of these statuses: exact."""
        return (self.explicit if where & EXPLICIT else 0) + (
            self.inferred if where & INFERRED else 0
        )

    @abstractmethod
    def probe(
        self, columns: Sequence[int], values: Sequence[U32], where: int = HOLDS
    ) -> tuple[I64, Columns]:
        """The rows with these values; see `Relation.probe`."""

    @abstractmethod
    def fanout(self, columns: Sequence[int], values: Sequence[U32]) -> I64:
        """For each value how many rows a probe reads."""

    @abstractmethod
    def status_of(self, rows: Columns) -> U8:
        """The statuses of these rows; 0 for those that do not hold."""

    @abstractmethod
    def distinct_estimate(self, column: int) -> int:
        """The approximate number of distinct ids in this column."""

    def probe_blocks(
        self,
        columns: Sequence[int],
        values: Sequence[U32],
        where: int = HOLDS,
        block_rows: int = BLOCK,
    ) -> Iterator[tuple[I64, Columns]]:
        """`probe` in pieces of about `block_rows`, except that one value's rows stay together."""
        for start, stop in bounded_groups(self.fanout(columns, values), block_rows):
            index, free = self._probe_group(columns, [v[start:stop] for v in values], where)
            for at in range(0, len(index), block_rows):
                end = at + block_rows
                yield index[at:end] + start, tuple(column[at:end] for column in free)

    def _joined_blocks(
        self, columns: Sequence[int], values: Sequence[U32], where: int
    ) -> tuple[I64, Columns]:
        """`probe` by way of `probe_blocks`."""
        blocks = list(self.probe_blocks(columns, values, where))
        if len(blocks) == 1:
            return blocks[0]
        free = self.arity - len(set(columns))
        if not blocks:
            return np.zeros(0, dtype=np.int64), (NO_IDS,) * free
        return (
            np.concatenate([index for index, _ in blocks]),
            tuple(np.concatenate([rows[place] for _, rows in blocks]) for place in range(free)),
        )

    def _probe_group(
        self, columns: Sequence[int], values: Sequence[U32], where: int
    ) -> tuple[I64, Columns]:
        """All rows of a few values at once, for `probe_blocks`."""
        return self.probe(columns, values, where)

    def rows_with(self, column: int, value: int) -> int:
        """How many rows a look-up of one id in a column reads; see `fanout`."""
        return int(self.fanout((column,), (np.array([value], dtype=np.uint32),))[0])

    def contains(self, rows: Columns, where: int = HOLDS) -> Bools:
        """Which of these rows hold."""
        held: Bools = (self.status_of(rows) & np.uint8(where)) != 0
        return held

    def semijoin(self, column: int, ids: U32, where: int = HOLDS) -> Bools:
        """Which of `ids` occur in this column."""
        occurs = np.zeros(len(ids), dtype=np.bool_)
        for index, _ in self.probe_blocks((column,), (ids,), where):
            occurs[index] = True
        return occurs

    def estimate(self, bound: Sequence[int] = ()) -> float:
        """How many rows to expect when these columns are given; exact for none."""
        rows = float(len(self))
        for column in set(bound):
            rows /= max(1, self.distinct_estimate(column))
        return rows


def by_name(index: I64, names: U32) -> Iterator[tuple[int, I64]]:
    """(name, its positions) for each distinct name, given the name of each position.

    >>> pairs = by_name(np.array([0, 1, 2]), np.array([7, 5, 7], np.uint32))
    >>> [(name, rows.tolist()) for name, rows in pairs]
    [(5, [1]), (7, [0, 2])]
    """
    order = np.argsort(names, kind="stable")
    ordered = names[order]
    for start, stop in pairwise(start_of_runs(ordered).tolist()):
        if start < stop:
            yield int(ordered[start]), index[order[start:stop]]


def in_order(parts: Sequence[tuple[I64, Columns]], free: int) -> tuple[I64, Columns]:
    """The parts of an answer, concatenated and sorted by the position of the value.

    free  the number of columns of each part
    """
    if not parts:
        return np.zeros(0, dtype=np.int64), (NO_IDS,) * free
    every = np.concatenate([index for index, _ in parts])
    order = np.argsort(every, kind="stable")
    return every[order], tuple(
        np.concatenate([columns[place] for _, columns in parts])[order] for place in range(free)
    )

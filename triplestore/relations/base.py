"""The base class of stored relations.

Start reading at `Answering`. Subclasses define `fanout`, `probe`, `status_of` and
`distinct_estimate`; the other methods of `StoredRelation` are derived from these here. Subclasses
override them where there is a faster way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from triplestore.relations.layers.read_layers import bounded_groups
from triplestore.relations.packed_keys import I64, NO_IDS, U8, U32, Bools, Columns, start_of_runs
from triplestore.relations.relation import BLOCK
from triplestore.relations.status import HOLDS


class Answering(ABC):
    """A relation whose other methods are derived from `probe` and `status_of`.

    >>> from triplestore.relations import Tables, bulk_layer
    >>> column = np.array([1, 2], dtype=np.uint32)
    >>> relation = Tables([bulk_layer(column * 0 + 9, column, column)]).relation(9)
    >>> isinstance(relation, Answering), relation.contains((column, column[::-1])).tolist()
    (True, [False, False])
    """

    __slots__ = ()

    @abstractmethod
    def __len__(self) -> int:
        """How many rows hold."""

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

    def _probe_group(
        self, columns: Sequence[int], values: Sequence[U32], where: int
    ) -> tuple[I64, Columns]:
        """All rows of a few values at once, for `probe_blocks`."""
        return self.probe(columns, values, where)

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

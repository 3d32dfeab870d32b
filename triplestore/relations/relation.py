"""Relations: what rules and queries see of stored, compressed and virtual rows.

Start reading at the protocol `Relation`: stored rows, closures, unions and the views of an update
satisfy it. Relations of two columns are `pair_relation.PairRelation` as well. Rows are tuples of
columns of ids (uint32), one per place of the relation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

from triplestore.relations.packed_keys import I64, U8, U32, Bools, Columns
from triplestore.relations.status import HOLDS

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

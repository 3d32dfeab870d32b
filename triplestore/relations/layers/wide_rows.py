"""Rows of one user-defined relation in one layer: sorted keys of any number of columns.

Relations of two columns in the default graph are facts; these have 1, 3 or more columns. Their keys
(see `packed_keys`) are stored as they are compared, so that numpy can work on them directly. An
order by other columns is made at first use and kept with the rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from triplestore.checked_columns import Column
from triplestore.relations.changes import ChangedRows
from triplestore.relations.layers.table import split_status
from triplestore.relations.packed_keys import (
    I64,
    U8,
    U32,
    Columns,
    Keys,
    bytes_of_keys,
    columns_of,
    frozen,
    key_of,
    keys_of_bytes,
)
from triplestore.relations.status import EXPLICIT, INFERRED


class TupleRun:
    """The rows of one relation of `arity` columns, sorted, with status, count and nets."""

    __slots__ = ("_orders", "arity", "count", "explicit", "inferred", "spelt", "status", "uniform")

    def __init__(
        self,
        arity: int,
        spelt: Column,
        status: Column | None,
        uniform: int,
        count: Column | None,
        explicit: int,
        inferred: int,
    ) -> None:
        self.arity = arity
        self.spelt = spelt
        self.status = status
        self.uniform = uniform
        self.count = count
        self.explicit = explicit
        self.inferred = inferred
        self._orders: dict[tuple[int, ...], tuple[Keys, I64]] = {}

    @classmethod
    def of(
        cls, arity: int, keys: Keys, status: U8, count: U32 | None, explicit: int, inferred: int
    ) -> TupleRun:
        """A run of sorted, distinct keys."""
        column, uniform = split_status(status)
        return cls(
            arity,
            Column.of(bytes_of_keys(keys)),
            None if column is None else Column.of(column),
            uniform,
            None if count is None else Column.of(count),
            explicit,
            inferred,
        )

    @classmethod
    def build(cls, rows: ChangedRows) -> TupleRun:
        """The run of some changed rows, in any order."""
        keys = key_of(rows.columns)
        sorted_already = bool((keys[1:] >= keys[:-1]).all())
        order = slice(None) if sorted_already else np.argsort(keys)
        return cls.of(
            len(rows.columns),
            keys[order],
            rows.status[order],
            None if rows.count is None else rows.count[order],
            rows.net(EXPLICIT),
            rows.net(INFERRED),
        )

    def __len__(self) -> int:
        return len(self.spelt) // (4 * self.arity)

    @property
    def nbytes(self) -> int:
        """Size of all columns."""
        columns = (self.spelt, self.status, self.count)
        return sum(column.nbytes for column in columns if column is not None)

    @property
    def keys(self) -> Keys:
        """The sorted keys: a view (verified as a whole when it comes from a file)."""
        return keys_of_bytes(self.spelt.all(), self.arity)

    def statuses(self) -> U8:
        """The statuses of all rows."""
        if self.status is None:
            return np.full(len(self), self.uniform, dtype=np.uint8)
        return self.status.all()

    def counts(self) -> U32:
        """The counts of all rows."""
        if self.count is None:
            return np.zeros(len(self), dtype=np.uint32)
        return self.count.all()

    def columns(self) -> Columns:
        """The rows as columns."""
        return columns_of(self.keys, self.arity)

    def ordered_by(self, leading: Sequence[int]) -> tuple[Keys, I64]:
        """Keys of only the `leading` columns, sorted, and the positions of their rows.

        Made at the first call for these columns, and kept.
        """
        wanted = tuple(leading)
        if wanted not in self._orders:
            columns = self.columns()
            keys = key_of([columns[place] for place in wanted])
            order = np.argsort(keys, kind="stable")
            self._orders[wanted] = frozen(keys[order]), frozen(order)
        return self._orders[wanted]

"""One sorted order of one table of a layer: a directory of names over columns sorted by row.

Start reading at `Order`. An order holds the rows of many relations one after the other, in the
order of the relations' names. The rows of one relation, a `SortedRun`, are sorted by packed key,
and by the extra column (the graph of a quad) where there is one. A run is a view: making one copies
nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplestore.checked_columns import Column
from triplestore.relations.packed_keys import (
    I64,
    NO_IDS,
    NO_KEYS,
    U8,
    U32,
    U64,
    frozen,
    start_of_runs,
)
from triplestore.relations.status import EXPLICIT

_LOW = 0xFFFFFFFF


class Order:
    """Rows sorted by (name, key, extra).

    names    strictly increasing (uint32; uint64 for pairs of names)
    starts   int64[len(names) + 1]: the rows of names[i] are [starts[i], starts[i + 1])
    keys     packed keys (uint64)
    extra    the third column of the rows (the graphs of quads), or None
    status   uint8 per row, or None where all rows have the status `uniform`
    count    uint32 per row, or None where all counts are 0
    """

    __slots__ = ("_places", "count", "extra", "keys", "names", "starts", "status", "uniform")

    def __init__(
        self,
        names: NDArray[Any],
        starts: I64,
        keys: Column,
        extra: Column | None = None,
        status: Column | None = None,
        uniform: int = EXPLICIT,
        count: Column | None = None,
    ) -> None:
        self.names = frozen(names)
        self.starts = frozen(starts)
        self.keys = keys
        self.extra = extra
        self.status = status
        self.uniform = uniform
        self.count = count
        self._places: dict[int, int] | None = None

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def nbytes(self) -> int:
        """Size of all columns and the directory."""
        columns = (self.keys, self.extra, self.status, self.count)
        directory = self.names.nbytes + self.starts.nbytes
        return directory + sum(column.nbytes for column in columns if column is not None)

    def place(self, name: int) -> int:
        """Where in the directory this name stands, or -1."""
        if self._places is None:
            self._places = {name: place for place, name in enumerate(self.names.tolist())}
        return self._places.get(name, -1)

    def run(self, place: int) -> SortedRun:
        """The rows of the name at this place of the directory."""
        return SortedRun(self, int(self.starts[place]), int(self.starts[place + 1]))

    def statuses(self, lo: int, hi: int) -> U8:
        """The statuses of rows [lo, hi)."""
        if self.status is None:
            return np.full(hi - lo, self.uniform, dtype=np.uint8)
        return self.status[lo:hi]

    def counts(self, lo: int, hi: int) -> U32:
        """The counts of rows [lo, hi)."""
        if self.count is None:
            return np.zeros(hi - lo, dtype=np.uint32)
        return self.count[lo:hi]

    def sizes(self) -> I64:
        """How many rows each name has."""
        sizes: I64 = self.starts[1:] - self.starts[:-1]
        return sizes

    def validate(self) -> None:
        """Check what is always true (reads everything)."""
        assert len(self.starts) == len(self.names) + 1
        assert self.starts[0] == 0
        assert self.starts[-1] == len(self.keys)
        assert (self.names[1:] > self.names[:-1]).all()
        assert (np.diff(self.starts) > 0).all()
        keys = self.keys.all()
        after = keys[1:] > keys[:-1]
        if self.extra is not None:
            extra = self.extra.all()
            after |= (keys[1:] == keys[:-1]) & (extra[1:] > extra[:-1])
        after[self.starts[1:-1] - 1] = True
        assert after.all(), "rows of a relation are not strictly increasing"
        for column in (self.extra, self.status, self.count):
            assert column is None or len(column) == len(keys)


class SortedRun:
    """The rows [lo, hi) of an order: those of one relation, sorted by key."""

    __slots__ = ("hi", "keys", "lo", "order", "uniform")

    def __init__(self, order: Order, lo: int, hi: int) -> None:
        self.order = order
        self.keys = order.keys
        self.lo = lo
        self.hi = hi
        self.uniform = order.uniform if order.status is None else None

    def __len__(self) -> int:
        return self.hi - self.lo

    def bounds(self, first: int) -> tuple[int, int]:
        """Where the rows lie whose first id is `first`."""
        lo = self.keys.search(first << 32, self.lo, self.hi)
        return lo, self.keys.search(first << 32 | _LOW, lo, self.hi, "right")

    def bounds_many(self, firsts: U32) -> tuple[I64, I64]:
        """`bounds` for each of `firsts`."""
        keys = firsts.astype(np.uint64) << np.uint64(32)
        lo = self.keys.search_many(keys, self.lo, self.hi)
        return lo, self.keys.search_many(keys | np.uint64(_LOW), self.lo, self.hi, "right")

    def statuses(self, lo: int, hi: int) -> U8:
        """The statuses of rows [lo, hi)."""
        return self.order.statuses(lo, hi)

    def statuses_at(self, rows: I64) -> U8:
        """The statuses of these rows."""
        if self.order.status is None:
            return np.full(len(rows), self.order.uniform, dtype=np.uint8)
        return self.order.status.take(rows)


def empty_order(wide: bool = False, name_type: type = np.uint32) -> Order:
    """An order without rows."""
    return Order(
        np.empty(0, dtype=name_type),
        np.zeros(1, dtype=np.int64),
        Column.of(NO_KEYS),
        Column.of(NO_IDS) if wide else None,
    )


def make_order(
    names: NDArray[Any],
    keys: U64,
    extra: U32 | None = None,
    status: U8 | None = None,
    uniform: int = EXPLICIT,
    count: U32 | None = None,
) -> Order:
    """An order of rows that are sorted by (name, key, extra) already, given with their names."""
    starts = start_of_runs(names)
    return Order(
        names[starts[:-1]],
        starts,
        Column.of(keys),
        None if extra is None else Column.of(extra),
        None if status is None else Column.of(status),
        uniform,
        None if count is None else Column.of(count),
    )

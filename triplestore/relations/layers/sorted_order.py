"""Sorted orders: a directory of names over columns sorted by row; and reading through several.

Start reading at `Order`. An order holds the rows of many relations one after the other, in the
order of the relations' names. The rows of one relation, a `SortedRun`, are sorted by packed key,
and by the extra column (the graph of a quad) where there is one. A run is a view: making one copies
nothing. `newest` merges what several layers have, `filter_keys` selects by status, and `windows`
and `bounded_groups` cut long answers into blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplestore.checked_columns import Column
from triplestore.relations.packed_keys import (
    I64,
    NO_IDS,
    NO_KEYS,
    NO_STATUS,
    U8,
    U32,
    U64,
    Keys,
    frozen,
    last_of_equals,
    least_keys,
    low,
    pack,
    start_of_runs,
)
from triplestore.relations.status import EXPLICIT, HOLDS
from triplestore.relations.thresholds import RELATIONS

_LOW = 0xFFFFFFFF
_LOWEST = np.uint64(_LOW)


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
        if first == _LOW:  # no key of 64 bits is greater
            return self.keys.search(first << 32, self.lo, self.hi), self.hi
        return self.keys.search_span(first << 32, first + 1 << 32, self.lo, self.hi)

    def firsts(self) -> U32:
        """The first ids of its rows, increasing; the rows of an id are skipped by a search."""
        found, place = [], self.lo
        while place < self.hi:
            found.append(first := self.keys.at(place) >> 32)
            place = self.keys.search(first << 32 | _LOW, place, self.hi, "right")
        return np.array(found, dtype=np.uint32)

    def bounds_many(self, firsts: U32) -> tuple[I64, I64]:
        """`bounds` for each of `firsts`."""
        keys = least_keys(firsts)
        return self.keys.search_spans(keys, keys | _LOWEST, self.lo, self.hi)

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


def newest(parts: Sequence[tuple[Keys, U8]]) -> tuple[Keys, U8]:
    """The union of sorted runs, given oldest first: of equal keys the newest status stays.

    Keys come back sorted, together with their statuses; removed rows are still among them.
    """
    filled = [part for part in parts if len(part[0])]
    if not filled:
        return parts[-1] if parts else (NO_KEYS, NO_STATUS)
    if len(filled) == 1:
        return filled[0]
    keys = np.concatenate([part[0] for part in filled])
    status = np.concatenate([part[1] for part in filled])
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    last = last_of_equals(keys)
    return keys[last], status[order[last]]


def filter_keys(keys: Keys, status: U8, where: int = HOLDS) -> Keys:
    """The keys whose status passes the filter; the same array if all do."""
    passes = (status & np.uint8(where)) != 0
    passed: Keys = keys if passes.all() else keys[passes]
    return passed


def ranges(starts: I64, lengths: I64) -> I64:
    """The positions starts[0] .. starts[0] + lengths[0] - 1, starts[1] .., one after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    if total >= RELATIONS.summed_positions:
        return _many_ranges(starts, lengths)
    positions: I64 = np.arange(total) + np.repeat(starts - (ends - lengths), lengths)
    return positions


def _many_ranges(starts: I64, lengths: I64) -> I64:
    """The same by summing up steps: `np.repeat` would keep all other threads waiting meanwhile."""
    filled = lengths > 0
    starts, lengths = starts[filled], lengths[filled]
    begins = np.cumsum(lengths)
    steps = np.ones(int(begins[-1]), dtype=np.int64)
    steps[0] = starts[0]
    steps[begins[:-1]] = starts[1:] - (starts[:-1] + lengths[:-1] - 1)
    return np.cumsum(steps, out=steps)


def bounded_groups(sizes: I64, limit: int) -> Iterator[tuple[int, int]]:
    """Cut positions into ranges [start, stop) whose sizes sum up to at most `limit`, or of one."""
    ends = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(ends.searchsorted(before + limit, "right")))
        yield start, stop
        start = stop


def windows(
    pieces: Sequence[tuple[SortedRun, int, int]], block_rows: int
) -> Iterator[list[tuple[SortedRun, int, int]]]:
    """Cut slices of several runs into windows of keys, for each of which the runs' parts are given.

    In a window no run has more than `block_rows` keys (in runs with an extra column a few more: the
    rows of one key stay together). Parts without rows are left out.
    """
    starts = [lo for _, lo, _ in pieces]
    while True:
        ends = [
            run.keys.at(start + block_rows)
            for start, (run, _, hi) in zip(starts, pieces, strict=True)
            if start + block_rows < hi
        ]
        end = min(ends) if ends else None
        parts = []
        for number, (run, _, hi) in enumerate(pieces):
            start = starts[number]
            stop = hi if end is None else run.keys.search(end, start, hi)
            starts[number] = stop
            if start < stop:
                parts.append((run, start, stop))
        if not parts and end is not None:
            # One key has more rows than a window: take all of them.
            end += 1
            for number, (run, _, hi) in enumerate(pieces):
                start = starts[number]
                starts[number] = stop = run.keys.search(end, start, hi)
                if start < stop:
                    parts.append((run, start, stop))
        if parts:
            yield parts
        if end is None:
            return


def positions_by(names: U32) -> I64:
    """The positions of rows sorted by name; rows of one name stay in their order."""
    tagged = pack(names, np.arange(len(names), dtype=np.uint32))
    tagged.sort()
    return low(tagged).astype(np.int64)


def sorting_order(names: NDArray[np.generic], keys: U64, extra: U32 | None) -> I64:
    """The positions of distinct rows in the order of (name, key, extra)."""
    if extra is not None or len(keys) < RELATIONS.kernel_rows or names.dtype != np.uint32:
        return np.lexsort((keys, names) if extra is None else (extra, keys, names))
    # Sorting keys is many times faster than sorting by two columns: name by name, then.
    positions = positions_by(names.astype(np.uint32, copy=False))
    starts = start_of_runs(names[positions])
    for lo, hi in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        part = positions[lo:hi]
        part[:] = part[np.argsort(keys[part])]
    return positions

"""The build side of a join: finds the rows with a given key.

Start at `JoinIndex`. It has one of these forms, chosen by order and size, with the same answers:
    sorted   the rows are sorted by the key, or were sorted because kernels are not loaded
    dense    one id column whose ids lie close together: the id is the place in an array
    hashed   anything else: the exact table of `groups`, then rows gathered by group
Always true: matches of one key come in the order of the rows; the index never copies the
rows' other columns. Memory: dense 4 bytes per id of the range and 4 per row, hashed 14 to 24 bytes
per distinct key and 4 per row.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from triplestore.kernels.rows.join import (
    count_rows,
    match_dense,
    match_groups,
    match_sorted,
    place_rows,
)
from triplestore.operators.context import Budget
from triplestore.operators.frame import ID, Array, Frame
from triplestore.operators.group_table import GroupTable, filled, pieces, use_kernels
from triplestore.operators.row_keys import KeyCoder, Keys
from triplestore.operators.thresholds import OPERATORS

I64 = NDArray[np.int64]
Ranges = tuple[I64, I64, int]


class JoinIndex:
    """Finds the rows of `frame` by the values of its columns `on`.

    ordered   the columns `on`, packed in this order, are ascending in the frame
    members   only `exists` will be called, so rows need not be gathered by key

    >>> from triplestore.operators.context import Context
    >>> right = Frame.of(x=[5, 3, 5], y=[1, 2, 3])
    >>> index = JoinIndex(right, [0], Context())
    >>> lo, hi, pairs = index.ranges([np.array([3, 4, 5], np.uint32)], 3)
    >>> pairs, (hi - lo).tolist(), index.rows(np.arange(lo[2], hi[2])).tolist()
    (3, [1, 0, 2], [0, 2])
    """

    __slots__ = ("_base", "_budget", "_coder", "_order", "_present", "_sorted", "_starts", "_table")

    def __init__(
        self,
        frame: Frame,
        on: Sequence[int],
        budget: Budget,
        *,
        ordered: bool = False,
        members: bool = False,
    ) -> None:
        columns = [frame.columns[i] for i in on]
        self._coder = KeyCoder([column.dtype for column in columns], budget)
        self._order: Array | None = None  # rows by key; None if the rows are in this order
        self._sorted: Keys | None = None
        self._starts: NDArray[np.uint32] = np.zeros(1, np.uint32)
        self._table: GroupTable | None = None
        self._present: NDArray[np.bool_] | None = None
        self._base = 0
        self._budget = budget
        rows = frame.rows
        if ordered or rows == 0 or not columns or not use_kernels(rows):
            self._sort(columns, rows, is_sorted=ordered or not columns)
        elif len(columns) == 1 and columns[0].dtype == ID and _dense(columns[0]):
            self._base = int(columns[0].min())
            count = int(columns[0].max()) - self._base + 1
            if members:
                self._mark(columns[0], count)
            else:
                self._gather(np.ascontiguousarray(columns[0]), count)
        else:
            self._hash(columns, rows, members)

    def exists(self, columns: Sequence[Array], rows: int) -> NDArray[np.bool_]:
        """Which of these keys occur."""
        if self._present is not None:
            keys = self._coder.find(columns, rows)
            return self._present.take(keys - np.uint32(self._base), mode="clip")
        if self._table is not None:
            keys = self._coder.find(columns, rows)
            return self._table.find(keys.astype(np.uint64, copy=False)) >= 0
        lo, hi, _ = self.ranges(columns, rows)
        return hi > lo

    def ranges(self, columns: Sequence[Array], rows: int) -> Ranges:
        """For each key the places [lo, hi) of its rows, and the total number of pairs."""
        keys = self._coder.find(columns, rows)
        if self._sorted is not None and not use_kernels(rows):
            lo = self._sorted.searchsorted(keys, "left")
            hi = self._sorted.searchsorted(keys, "right")
            return lo, hi, int((hi - lo).sum())
        lo, hi = np.empty(rows, np.int64), np.empty(rows, np.int64)
        if self._sorted is not None:
            pairs = match_sorted(keys, self._sorted, lo, hi)
        elif self._table is None:
            pairs = match_dense(keys, self._base, self._starts, lo, hi)
        else:
            groups = self._table.find(keys.astype(np.uint64, copy=False))
            pairs = match_groups(groups, self._starts, lo, hi)
        return lo, hi, pairs

    def rows(self, places: I64) -> Array:
        """The rows at these places, returned by `ranges`."""
        return places if self._order is None else self._order.take(places)

    def _sort(self, columns: Sequence[Array], rows: int, is_sorted: bool) -> None:
        if len(columns) != 1 or columns[0].dtype != ID:  # one id column is its own key
            self._budget.charge(8 * rows)
        keys = self._coder.learn(columns, rows)
        if not is_sorted:
            self._order = keys.argsort(kind="stable")
            keys = keys[self._order]
        self._sorted = keys

    def _hash(self, columns: Sequence[Array], rows: int, members: bool) -> None:
        self._table = GroupTable(self._budget)
        size = 0 if members else rows
        self._budget.charge(4 * size)
        groups = np.empty(size, np.uint32)
        for start, stop in pieces(rows, self._budget):
            keys = self._coder.learn([column[start:stop] for column in columns], stop - start)
            part, _ = self._table.insert(keys.astype(np.uint64, copy=False))
            if not members:
                groups[start:stop] = part
        if not members:
            self._gather(groups, self._table.count)
        self._budget.release(4 * size)

    def _mark(self, keys: Array, count: int) -> None:
        """One boolean per id of the range, and a last one, False, for all other ids."""
        self._budget.charge(count + 1)
        present = filled(count + 1, np.bool_, self._budget)
        base = np.uint32(self._base)
        for start, stop in pieces(len(keys), self._budget):
            present[keys[start:stop] - base] = True
        self._present = present

    def _gather(self, groups: NDArray[np.uint32], count: int) -> None:
        """Counting sort of the rows by their groups (less the base)."""
        rows = len(groups)
        self._budget.charge(4 * (count + 1 + rows))
        self._budget.charge(4 * count)
        starts = filled(count + 1, np.uint32, self._budget)
        for start, stop in pieces(rows, self._budget):
            count_rows(groups[start:stop], self._base, starts[1:])
        cursors = np.empty(count, np.uint32)
        before = np.uint32(0)
        for start, stop in pieces(count, self._budget):
            ends = before + starts[start + 1 : stop + 1].cumsum(dtype=np.uint32)
            starts[start + 1 : stop + 1] = ends
            cursors[start] = before
            cursors[start + 1 : stop] = ends[:-1]
            before = ends[-1]
        order = filled(rows, np.uint32, self._budget)
        for start, stop in pieces(rows, self._budget):
            place_rows(groups[start:stop], self._base, start, cursors, order)
        self._budget.release(4 * count)
        self._starts, self._order = starts, order


def _dense(keys: Array) -> bool:
    return int(keys.max()) - int(keys.min()) < OPERATORS.dense_spread * len(keys)

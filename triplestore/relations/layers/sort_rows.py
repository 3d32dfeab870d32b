"""Sorting rows of many relations, alone or with threads, small or large.

Start reading at `GroupedRows`: rows grouped by name, each name's range sorted and distinct.
`group_rows` and `sort_rows` make them of facts, `wide_rows` of quads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from triplestore.data_classes import data_class
from triplestore.kernels.rows import sort_rows as kernels
from triplestore.relations.layers.sorted_order import positions_by
from triplestore.relations.layers.swap_columns import turned
from triplestore.relations.packed_keys import (
    I64,
    U32,
    U64,
    Bools,
    high,
    last_of_equals,
    low,
    pack,
    pieces,
    start_of_runs,
    swap,
)
from triplestore.relations.thresholds import RELATIONS


@data_class
class GroupedRows:
    """Rows grouped by name (the names of quads by graph are pairs, in uint64)."""

    names: NDArray[np.unsignedinteger]
    starts: I64
    keys: U64
    extra: U32 | None
    firsts: I64
    """Distinct first ids of each name; only of rows that are sorted."""

    def row_names(self) -> U32:
        """The name of each row."""
        return np.repeat(self.names, np.diff(self.starts)).astype(np.uint32, copy=False)

    def columns(self) -> tuple[U32, U32, U32]:
        """First id, second id and extra column of each row."""
        assert self.extra is not None
        return high(self.keys), low(self.keys), self.extra

    def by_graph(self) -> tuple[GroupedRows, I64]:
        """These rows by (graph, name), and for each where it was; they must be sorted.

        The rows of one graph keep their order, so they come out sorted by name and key.
        """
        assert self.extra is not None
        positions = positions_by(self.extra)
        names = pack(self.extra[positions], self.row_names()[positions])
        starts = start_of_runs(names)
        keys = self.keys[positions]
        firsts = np.zeros(0, dtype=np.int64)
        return GroupedRows(names[starts[:-1]], starts, keys, None, firsts), positions


def swapped(rows: GroupedRows) -> GroupedRows:
    """The same rows with first and second id changed over, not sorted yet."""
    return GroupedRows(rows.names, rows.starts, swap(rows.keys), rows.extra, rows.firsts)


# -- facts --------------------------------------------------------------------------------------


def group_rows(names: U32, first: U32, second: U32, pool: Executor, threads: int) -> GroupedRows:
    """Rows by name, as packed keys, not sorted yet."""
    if len(names) < RELATIONS.kernel_rows:
        positions = positions_by(names)
        ordered = names[positions]
        starts = start_of_runs(ordered)
        keys = pack(first[positions], second[positions])
        return GroupedRows(ordered[starts[:-1]], starts, keys, None, np.zeros(0, dtype=np.int64))
    bounds = [len(names) * part // threads for part in range(threads + 1)]
    parts = [slice(lo, hi) for lo, hi in pairwise(bounds)]
    counted = list(pool.map(_NameTable.count, [names[part] for part in parts]))
    every = np.unique(np.concatenate([table.names() for table in counted]))
    by_part = np.array([table.sizes_of(every) for table in counted])
    starts = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(by_part.sum(axis=0))))
    # A part's rows of a name go behind those of the parts before it.
    cursors = starts[:-1] + np.cumsum(by_part, axis=0) - by_part
    out = np.empty(len(names), dtype=np.uint64)
    jobs = [
        pool.submit(table.place, every, cursor, names[part], first[part], second[part], out)
        for table, cursor, part in zip(counted, cursors, parts, strict=True)
    ]
    for job in jobs:
        job.result()
    return GroupedRows(every, starts, out, None, np.zeros(0, dtype=np.int64))


class _NameTable:
    """How often each name occurs in a part of the rows, in an open-addressing hash table."""

    def __init__(self, size: int = 1024) -> None:
        self.slots = np.zeros(size, dtype=np.uint32)
        self.counts = np.zeros(size, dtype=np.int64)

    @classmethod
    def count(cls, names: U32) -> _NameTable:
        """The table of these rows' names."""
        table = cls()
        start = 0
        while start < len(names):
            part = names[start : start + RELATIONS.piece_rows]
            done = kernels.count_names(part, table.slots, table.counts)
            start += done
            if done < len(part):
                table = table._larger()
        return table

    def _larger(self) -> _NameTable:
        table = _NameTable(4 * len(self.slots))
        names = self.names()
        kernels.count_names(names, table.slots, table.counts)
        table.counts[table.slots != 0] = self.sizes_of(table.slots[table.slots != 0])
        return table

    def names(self) -> U32:
        """The names, increasing."""
        return np.sort(self.slots[self.slots != 0])

    def sizes_of(self, names: U32) -> I64:
        """How often each of `names` occurs."""
        mine, counts = self.slots[self.slots != 0], self.counts[self.slots != 0]
        if len(mine) == 0:
            return np.zeros(len(names), dtype=np.int64)
        order = np.argsort(mine)
        mine, counts = mine[order], counts[order]
        place = np.minimum(mine.searchsorted(names), len(mine) - 1)
        sizes: I64 = np.where(mine[place] == names, counts[place], 0)
        return sizes

    def place(
        self, every: U32, cursors: I64, names: U32, first: U32, second: U32, out: U64
    ) -> None:
        """Write the rows as packed keys where the cursors of their names stand."""
        by_slot = cursors[np.minimum(every.searchsorted(self.slots), len(every) - 1)]
        for part in pieces(len(names)):
            kernels.place_rows(names[part], first[part], second[part], self.slots, by_slot, out)


def sort_rows(rows: GroupedRows, pool: Executor) -> GroupedRows:
    """Each name's range sorted, without repetitions: done in place, in the same memory."""
    keys, starts = rows.keys, rows.starts
    jobs = [pool.submit(_sort_ranges, keys, batch) for batch in _batches(starts)]
    repeated = [job.result() for job in jobs]
    if len(keys) >= RELATIONS.kernel_rows:
        return _compacted(rows) if any(repeated) else _counted(rows, pool)
    kept = last_of_equals(keys)
    kept[starts[1:] - 1] = True
    starts = np.concatenate(
        (np.zeros(1, np.int64), np.cumsum(np.add.reduceat(kept, starts[:-1], dtype=np.int64)))
    )
    keys = keys[kept]
    return GroupedRows(rows.names, starts, keys, None, count_distinct(keys, starts))


def turned_rows(rows: GroupedRows, pool: Executor) -> GroupedRows:
    """Sorted, distinct rows with first and second id changed over, sorted."""
    out = np.empty(len(rows.keys), dtype=np.uint64)
    jobs = [pool.submit(_turn_ranges, rows.keys, b, out) for b in _batches(rows.starts)]
    for job in jobs:
        job.result()
    return _counted(GroupedRows(rows.names, rows.starts, out, None, rows.firsts), pool)


def _turn_ranges(keys: U64, ranges: list[tuple[int, int]], out: U64) -> None:
    for lo, hi in ranges:
        turned(keys[lo:hi], out[lo:hi])


def _counted(rows: GroupedRows, pool: Executor) -> GroupedRows:
    """Sorted, distinct rows with their distinct first ids counted: of two halves at a time."""
    keys, starts = rows.keys, rows.starts
    if len(keys) < RELATIONS.kernel_rows:
        return GroupedRows(rows.names, starts, keys, None, count_distinct(keys, starts))
    middle = int(starts.searchsorted(len(keys) // 2))
    halves = [starts[: middle + 1], starts[middle:]]
    firsts = np.concatenate(list(pool.map(lambda half: count_distinct(keys, half), halves)))
    return GroupedRows(rows.names, starts, keys, None, firsts)


def _batches(starts: I64) -> list[list[tuple[int, int]]]:
    """Ranges to sort, in batches of about `sort_batch_rows` rows; the largest come first."""
    batches: list[list[tuple[int, int]]] = []
    size = RELATIONS.sort_batch_rows
    bounds = zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
    for lo, hi in sorted(bounds, key=lambda bound: bound[0] - bound[1]):
        if size >= RELATIONS.sort_batch_rows:
            batches.append([])
            size = 0
        batches[-1].append((lo, hi))
        size += hi - lo
    return batches


def _sort_ranges(keys: U64, ranges: list[tuple[int, int]]) -> bool:
    """Sort some ranges; whether any key comes twice in one."""
    repeated = False
    for lo, hi in ranges:
        part = keys[lo:hi]
        if _increases(part[:_LOOK]) and _increases(part):  # dumps often are in order already
            continue
        part.sort()
        repeated = repeated or bool((part[1:] == part[:-1]).any())
    return repeated


_LOOK = 256  # rows that show whether a range is ordered, for most ranges


def _increases(keys: U64) -> bool:
    """Whether keys are sorted and distinct."""
    return bool((keys[1:] > keys[:-1]).all())


def _compacted(rows: GroupedRows) -> GroupedRows:
    starts = np.zeros(len(rows.starts), dtype=np.int64)
    firsts = np.zeros(len(rows.names), dtype=np.int64)
    keys = rows.keys
    _run(kernels.compact, len(rows.names), keys, rows.starts, starts, firsts)
    size = int(starts[-1])
    if size < len(keys):
        if keys.base is None and keys.flags.owndata and len(keys) - size > len(keys) // 64:
            keys = keys[:size].copy()
        else:
            keys = keys[:size]
    return GroupedRows(rows.names, starts, keys, None, firsts)


def _run(
    kernel: Callable[..., object], ranges: int, *arrays: NDArray[np.generic], at: int = 0
) -> I64:
    """Call a kernel, first for row `at`, until it has done all ranges; returns its last state."""
    state = np.array([0, at, 0], dtype=np.int64)
    while state[0] < ranges:
        kernel(*arrays, RELATIONS.piece_rows, state)
    return state


def count_distinct(keys: U64, starts: I64) -> I64:
    """The number of distinct first ids of each sorted range of `keys`; there may be other keys
    before and after these ranges."""
    if len(keys) == 0 or len(starts) < 2:
        return np.zeros(len(starts) - 1, dtype=np.int64)
    if len(keys) >= RELATIONS.kernel_rows:
        firsts = np.zeros(len(starts) - 1, dtype=np.int64)
        _run(kernels.count_heads, len(firsts), keys, starts, firsts, at=int(starts[0]))
        return firsts
    return np.add.reduceat(first_of_heads(keys, starts), starts[:-1], dtype=np.int64)


def first_of_heads(keys: U64, starts: I64) -> Bools:
    """Which rows of sorted ranges are the first with their first id."""
    heads = keys >> np.uint64(32)
    begins = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(heads[1:], heads[:-1], out=begins[1:])
    begins[starts[:-1]] = True
    return begins


def term_name_pairs(names: U32, starts: I64, keys: U64, firsts: I64) -> U64:
    """first id << 32 | name for the distinct first ids of each name; not sorted."""
    if len(keys) >= RELATIONS.kernel_rows:
        pairs = np.empty(int(firsts.sum()), dtype=np.uint64)
        _run(kernels.term_name_pairs, len(names), keys, starts, names, pairs)
        return pairs
    begins = first_of_heads(keys, starts)
    pairs = (keys[begins] >> np.uint64(32)) << np.uint64(32)
    pairs |= np.repeat(names, firsts)
    return pairs


# -- quads --------------------------------------------------------------------------------------


def wide_rows(names: U32, first: U32, second: U32, extra: U32) -> GroupedRows:
    """Rows with one more column, by name, each name's range sorted and without repetitions."""
    positions = positions_by(names)
    ordered = names[positions]
    starts = start_of_runs(ordered)
    keys, extra = pack(first[positions], second[positions]), extra[positions]
    for lo, hi in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        _sort_wide(keys[lo:hi], extra[lo:hi])
    kept = np.ones(len(keys), dtype=np.bool_)
    kept[:-1] = (keys[1:] != keys[:-1]) | (extra[1:] != extra[:-1])
    kept[starts[1:] - 1] = True
    sizes = np.add.reduceat(kept, starts[:-1], dtype=np.int64)
    names = ordered[starts[:-1]]
    starts = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes)))
    if len(keys) != starts[-1]:
        keys, extra = keys[kept], extra[kept]
    return GroupedRows(names, starts, keys, extra, count_distinct(keys, starts))


def _sort_wide(keys: U64, extra: U32) -> None:
    """Sort rows (key, extra) in their place."""
    if len(keys) < RELATIONS.kernel_rows:
        order = np.lexsort((extra, keys))
        keys[:], extra[:] = keys[order], extra[order]
        return
    order = np.argsort(keys)
    keys[:], extra[:] = keys[order], extra[order]
    start = 0
    while start < len(keys):
        last = min(start + RELATIONS.piece_rows, len(keys)) - 1
        stop = int(keys.searchsorted(keys[last], "right"))
        kernels.sort_ties(keys[start:stop], extra[start:stop])
        start = stop

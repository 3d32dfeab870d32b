"""Sorted rows with first and second id swapped, sorted again.

Start reading at `turned`. The rows are placed by counting their second ids; since they are already
in the order of their first ids, nothing is compared, which takes a third of the time of sorting. If
second ids are sparse, counting would cost more, and rows are sorted.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np

from triplestore.kernels.parallel import each, shares, thread_count
from triplestore.relations.packed_keys import U8, U32, U64, pieces, swap
from triplestore.relations.thresholds import RELATIONS


def turned(keys: U64, out: U64 | None = None) -> U64:
    """Sorted keys with their ids swapped, sorted; written to `out` if it is given.

    >>> keys = np.array([1 << 32 | 9, 2 << 32 | 7], np.uint64)
    >>> [divmod(key, 1 << 32) for key in turned(keys).tolist()]
    [(7, 2), (9, 1)]
    """
    found = _cursors(keys)
    if found is None:
        made = swap(keys, out)
        made.sort()
        return made
    out = np.empty(len(keys), dtype=np.uint64) if out is None else out
    least, shared = found

    def turn(share: tuple[slice, U32]) -> None:
        mine, cursors = share
        for piece in pieces(len(keys[mine])):
            _kernels().turn_by_second(keys[mine][piece], least, cursors, out)

    each(turn, shared)
    return out


def turned_rows(keys: U64, status: U8, counts: U32) -> tuple[U64, U8, U32]:
    """The same with the status and count of each row."""
    found = _cursors(keys)
    if found is None:
        made = swap(keys)
        order = np.argsort(made)
        return made[order], status[order], counts[order]
    least, shared = found
    size = len(keys)
    out = np.empty(size, np.uint64), np.empty(size, np.uint8), np.empty(size, np.uint32)

    def turn(share: tuple[slice, U32]) -> None:
        mine, cursors = share
        columns = keys[mine], status[mine], counts[mine]
        for piece in pieces(len(columns[0])):
            rows = (column[piece] for column in columns)
            _kernels().turn_rows_by_second(*rows, least, cursors, *out)

    each(turn, shared)
    return out


def _cursors(keys: U64) -> tuple[np.uint64, list[tuple[slice, U32]]] | None:
    """The least second id, and for each thread a part of the keys, and where its keys of each
    second id begin when all are sorted by it; None where sorting is as fast."""
    if not RELATIONS.dense_rows <= len(keys) < 1 << 32:
        return None
    kernels = _kernels()
    threads = thread_count() if len(keys) >= RELATIONS.shared_rows else 1
    bounds = keys[:1].repeat(2) & np.uint64(0xFFFFFFFF)
    for piece in pieces(len(keys)):
        kernels.second_bounds(keys[piece], bounds)
    span = int(bounds[1] - bounds[0]) + 1
    if span > RELATIONS.dense_span * len(keys):
        return None
    shared = [(mine, np.zeros(span, dtype=np.uint32)) for mine in shares(len(keys), threads)]

    def count(share: tuple[slice, U32]) -> None:
        mine, sizes = share
        for piece in pieces(len(keys[mine])):
            kernels.count_seconds(keys[mine][piece], bounds[0], sizes)

    each(count, shared)
    if threads == 1:
        kernels.begin_cursors(shared[0][1])
        return bounds[0], shared
    sizes = [one for _, one in shared]
    begin = np.sum(sizes, axis=0, dtype=np.uint32)
    kernels.begin_cursors(begin)
    for one in sizes:  # a part's keys go behind those of the parts before it
        following = begin + one
        one[:] = begin
        begin = following
    return bounds[0], shared


def _kernels() -> ModuleType:
    """Imported late: importing numba costs more than sorting few rows."""
    from triplestore.kernels.rows import swap_columns

    return swap_columns

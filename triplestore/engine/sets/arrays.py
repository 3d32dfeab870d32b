"""Sorted arrays of packed keys as sets: numpy where they are short, kernels where they are long.

A kernel's call costs half a microsecond, but the first one imports numba; so an update of a few
facts never needs it.
"""

from __future__ import annotations

import os
from functools import cache

import numpy as np

from triplestore.errors import BudgetError
from triplestore.tables.rows import (
    I64,
    NO_IDS,
    SHIFT,
    U32,
    U64,
    Bools,
    Keys,
    distinct,
    in_sorted,
    last_of_equals,
    low,
    start_of_runs,
    swap,
)

SMALL = 512
"""Rows below which numpy is used, so that small updates never import numba; `WARM` after that."""

WARM = 32
"""Rows below which numpy is as fast as a kernel that has been called before."""


def _warm() -> None:
    """From now on kernels are loaded, and serve smaller inputs too."""
    global SMALL
    SMALL = min(SMALL, WARM)


_PIECE = 1 << 20  # rows for one call of a kernel, so that Ctrl-C is not kept waiting
_LOW = np.uint64(0xFFFFFFFF)
_BYTES = 12  # what a row of a join takes, before any of its columns is copied


def member(keys: Keys, within: Keys) -> Bools:
    """Which of `keys`, in any order, are in the sorted array `within`."""
    if len(keys) < SMALL or keys.dtype != np.uint64:
        return in_sorted(keys, within)
    if len(within) == 0:
        return np.zeros(len(keys), dtype=np.bool_)
    from triplestore.kernels.sets import mark_members

    _warm()

    found = np.empty(len(keys), dtype=np.uint8)
    for at in range(0, len(keys), _PIECE):
        mark_members(keys[at : at + _PIECE], within, found[at : at + _PIECE])
    return found.view(np.bool_)


def places_in(keys: Keys, within: Keys) -> I64:
    """Where in the sorted array `within` each key stands; -1 where it does not."""
    if len(within) == 0:
        return np.full(len(keys), -1, dtype=np.int64)
    if len(keys) < SMALL or keys.dtype != np.uint64:
        places = np.minimum(within.searchsorted(keys), len(within) - 1)
        return np.where(within[places] == keys, places, -1)
    from triplestore.kernels.sets import find_places

    _warm()

    places = np.empty(len(keys), dtype=np.int64)
    for at in range(0, len(keys), _PIECE):
        find_places(keys[at : at + _PIECE], within, places[at : at + _PIECE])
    return places


def summed(keys: Keys, by: I64, more: Keys, more_by: I64) -> tuple[Keys, I64]:
    """Two sorted arrays of keys with counts as one, in which counts of equal keys are added."""
    if len(keys) + len(more) < SMALL or keys.dtype != np.uint64:
        both, counts = np.concatenate((keys, more)), np.concatenate((by, more_by))
        order = np.argsort(both, kind="stable")
        both = both[order]
        starts = start_of_runs(both)[:-1]
        return both[starts], np.add.reduceat(counts[order], starts)
    from triplestore.kernels.sets import add_counts

    _warm()

    out = np.empty(len(keys) + len(more), dtype=np.uint64)
    total = np.empty(len(out), dtype=np.int64)
    size = add_counts(keys, by, more, more_by, out, total)
    return out[:size], total[:size]


def without(keys: Keys, taken: Keys) -> Keys:
    """The keys that are not in the sorted array `taken`."""
    if len(taken) == 0 or len(keys) == 0:
        return keys
    found = member(keys, taken)
    return keys[~found] if found.any() else keys


def unite(left: Keys, right: Keys) -> Keys:
    """The union of two sorted, distinct arrays."""
    if len(left) == 0:
        return right
    if len(right) == 0:
        return left
    if left.dtype != np.uint64 or len(left) + len(right) < SMALL:
        return distinct(np.sort(np.concatenate((left, right)), kind="stable"))
    from triplestore.kernels.sets import unite as unite_keys

    _warm()

    out = np.empty(len(left) + len(right), dtype=np.uint64)
    return out[: unite_keys(left, right, out)]


def sorted_distinct(keys: Keys) -> Keys:
    """The keys in order, without repetitions."""
    return distinct(np.sort(keys)) if len(keys) > 1 else keys


def counted(keys: Keys) -> tuple[Keys, U32]:
    """The keys in order, without repetitions, and how often each came."""
    if len(keys) < 2:
        return keys, np.ones(len(keys), dtype=np.uint32)
    ordered = np.sort(keys)
    if len(keys) < SMALL or keys.dtype != np.uint64:
        last = last_of_equals(ordered).nonzero()[0]
        counts = np.diff(last, prepend=-1)
        return ordered[last], counts.astype(np.uint32)
    from triplestore.kernels.sets import count_equals

    _warm()

    out = np.empty(len(keys), dtype=np.uint64)
    counts32 = np.empty(len(keys), dtype=np.uint32)
    size = count_equals(ordered, out, counts32)
    return out[:size], counts32[:size]


def swapped(keys: U64) -> U64:
    """The keys with their ids changed over, sorted."""
    return np.sort(swap(keys))


def bounds(keys: U64, first: int) -> tuple[int, int]:
    """Where the rows lie whose first id is `first`."""
    lo = int(keys.searchsorted(np.uint64(first << 32)))
    return lo, int(keys.searchsorted(np.uint64((first + 1) << 32)))


def beside(first: int, second: U32) -> U64:
    """Keys of one first id and many second ones."""
    keys = second.astype(np.uint64)
    keys |= np.uint64(first << 32)
    return keys


@cache
def _most_rows() -> int:
    """So many rows of one join fill a third of the machine's memory."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // (3 * _BYTES)
    except (AttributeError, OSError, ValueError):
        return 1 << 30


def _check_room(rows: int) -> None:
    if rows > _most_rows():
        raise BudgetError(
            f"one join of a rule would make {rows:,} rows, more than a third of the memory; look "
            "for a rule whose atoms share no variable, or only one that takes few values"
        )


def match(values: U32, keys: U64) -> tuple[I64, U32]:
    """The rows of sorted `keys` that have `values` as first id: (number of value, second id)."""
    if len(values) == 0 or len(keys) == 0:
        return np.zeros(0, dtype=np.int64), NO_IDS
    if len(values) == 1:
        start, stop = bounds(keys, int(values[0]))
        return np.zeros(stop - start, dtype=np.int64), low(keys[start:stop])
    if len(values) < max(2, SMALL // 4):
        firsts = values.astype(np.uint64) << SHIFT
        lo = keys.searchsorted(firsts)
        hi = keys.searchsorted(firsts | _LOW, side="right")
        sizes = hi - lo
        total = int(sizes.sum())
        index = np.repeat(np.arange(len(values)), sizes)
        ends = np.cumsum(sizes)
        rows = np.arange(total) + np.repeat(lo - (ends - sizes), sizes)
        return index, keys[rows].astype(np.uint32)
    from triplestore.kernels.sets import expand_second, match_first

    _warm()

    lo, hi = np.empty(len(values), dtype=np.int64), np.empty(len(values), dtype=np.int64)
    total = 0
    for at in range(0, len(values), _PIECE):
        stop = at + _PIECE
        total += match_first(values[at:stop], keys, lo[at:stop], hi[at:stop])
    _check_room(total)
    index, second = np.empty(total, dtype=np.int64), np.empty(total, dtype=np.uint32)
    expand_second(lo, hi, keys, index, second)
    return index, second

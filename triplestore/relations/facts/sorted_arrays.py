"""Set operations on sorted arrays of packed keys: numpy for short arrays, kernels for long ones.

A call of a kernel costs half a microsecond, but the first one imports numba. Updates of a few facts
never need it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplestore.errors import BudgetError
from triplestore.kernels.parallel import each
from triplestore.relations.facts.key_ranges import FirstIdStarts, ranges_of, seems_sorted
from triplestore.relations.facts.narrow_keys import narrowed
from triplestore.relations.layers.sorted_order import ranges
from triplestore.relations.packed_keys import (
    I64,
    NO_IDS,
    U32,
    U64,
    Bools,
    Keys,
    distinct,
    in_sorted,
    last_of_equals,
    least_keys,
    low,
    pieces,
    start_of_runs,
)
from triplestore.relations.shared_work import (
    in_parts,
    parts,
    sorted_keys,
    split_at_equal_keys,
)
from triplestore.relations.thresholds import RELATIONS
from triplestore.thread_limits import needs

_kernels: ModuleType | None = None


def _is_small(rows: int) -> bool:
    """Whether numpy is faster than a kernel, or than loading numba first."""
    return rows < (RELATIONS.cold_rows if _kernels is None else RELATIONS.warm_rows)


def _warm() -> ModuleType:
    """Load the kernels of sets; from now on they are used for smaller inputs as well."""
    global _kernels
    if _kernels is None:  # an import statement costs half a microsecond each time
        from triplestore.kernels.rows import sorted_sets

        _kernels = sorted_sets
    return _kernels


def loaded_kernels() -> ModuleType | None:
    """The kernels of rules if numba is loaded already, else None: importing it costs more than a
    small update."""
    if _kernels is None:
        return None
    from triplestore.kernels.rules import fire

    return fire


_LOW = np.uint64(0xFFFFFFFF)
_SORTED_BYTES = 28  # extra bytes per key while keys are sorted and counted
_BYTES = 12  # bytes per row of a join before any of its columns is copied


def member(keys: Keys, within: Keys) -> Bools:
    """Which of `keys`, in any order, are in the sorted array `within`."""
    if _is_small(len(keys)) or len(within) == 0:
        return in_sorted(keys, within)
    if keys.dtype != np.uint64:
        return _member_of_wide(keys, within)
    if len(keys) >= RELATIONS.dense_rows and not seems_sorted(keys):
        least, most = keys.min(), keys.max()
        if int(most - least) <= RELATIONS.dense_span * len(keys):
            return _member_of_dense(keys, within, least, most)
        starts = FirstIdStarts.of(within, len(keys))
        if starts is not None:
            return starts.contain(keys, within)
    kernels = _warm()
    keys, found = np.ascontiguousarray(keys), np.empty(len(keys), dtype=np.uint8)
    in_parts(lambda piece: kernels.mark_members(keys[piece], within, found[piece]), len(keys))
    return found.view(np.bool_)


def _member_of_wide(keys: Keys, within: Keys) -> Bools:
    """`member` for rows of three or more columns: in order by a kernel, a third of numpy's time."""
    if len(keys) < RELATIONS.dense_rows or keys.dtype.kind != "S" or not seems_sorted(keys):
        return in_sorted(keys, within)
    from triplestore.kernels.rows.intersect_ranges import mark_wide

    width = keys.dtype.itemsize // 4
    words = np.ascontiguousarray(within).view(np.uint32)
    found = np.empty(len(keys), dtype=np.uint8)
    for piece in pieces(len(keys)):
        some = np.ascontiguousarray(keys[piece]).view(np.uint32)
        mark_wide(some, words, width, found[piece])
    return found.view(np.bool_)


def _member_of_dense(keys: U64, within: U64, least: np.uint64, most: np.uint64) -> Bools:
    """`member` for keys close together: a flag for each number between the least and the greatest.

    Eight times as fast for unordered ids, such as the objects of a property.
    """
    lo, hi = within.searchsorted(least), within.searchsorted(most, side="right")
    flags = np.zeros(int(most - least) + 1, dtype=np.bool_)
    flags[within[lo:hi] - least] = True
    found = np.empty(len(keys), dtype=np.bool_)
    in_parts(lambda piece: flags.take(keys[piece] - least, out=found[piece]), len(keys))
    return found


def places_in(keys: Keys, within: Keys) -> I64:
    """Where in the sorted array `within` each key stands; -1 where it does not."""
    if len(within) == 0:
        return np.full(len(keys), -1, dtype=np.int64)
    if len(keys) == len(within) and keys.dtype != np.uint64 and bool((keys == within).all()):
        return np.arange(len(keys))  # searching for wide keys is slow
    if _is_small(len(keys)) or keys.dtype != np.uint64:
        places = np.minimum(within.searchsorted(keys), len(within) - 1)
        return np.where(within[places] == keys, places, -1)
    kernels = _warm()
    places = np.empty(len(keys), dtype=np.int64)
    in_parts(lambda piece: kernels.find_places(keys[piece], within, places[piece]), len(keys))
    return places


def summed(keys: Keys, by: I64, more: Keys, more_by: I64) -> tuple[Keys, I64]:
    """Two sorted arrays of keys with counts as one, in which counts of equal keys are added."""
    if _is_small(len(keys) + len(more)) or keys.dtype != np.uint64:
        both, counts = np.concatenate((keys, more)), np.concatenate((by, more_by))
        order = np.argsort(both, kind="stable")
        both = both[order]
        starts = start_of_runs(both)[:-1]
        return both[starts], np.add.reduceat(counts[order], starts)
    kernels = _warm()
    needs(16 * (len(keys) + len(more)))
    out = np.empty(len(keys) + len(more), dtype=np.uint64)
    total = np.empty(len(out), dtype=np.int64)

    def add(ranges: tuple[slice, ...]) -> int:
        one, other, to = ranges
        size: int = kernels.add_counts(
            keys[one], by[one], more[other], more_by[other], out[to], total[to]
        )
        return size

    size = _merged(add, keys, more, (out, total))
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
    if left.dtype != np.uint64 and min(len(left), len(right)) * RELATIONS.inserted_share < max(
        len(left), len(right)
    ):
        return _with_few(left, right) if len(left) > len(right) else _with_few(right, left)
    if left.dtype != np.uint64:
        return sorted_distinct(np.concatenate((left, right)))
    if _is_small(len(left) + len(right)):
        return distinct(np.sort(np.concatenate((left, right)), kind="stable"))
    kernels = _warm()
    needs(8 * (len(left) + len(right)))
    out = np.empty(len(left) + len(right), dtype=np.uint64)

    def merge(ranges: tuple[slice, ...]) -> int:
        one, other, to = ranges
        size: int = kernels.unite(left[one], right[other], out[to])
        return size

    return out[: _merged(merge, left, right, (out,))]


def _merged(
    merge: Callable[[tuple[slice, ...]], int],
    left: U64,
    right: U64,
    out: tuple[NDArray[Any], ...],
) -> int:
    """Merge two sorted arrays in several threads; return the number of rows that were made.

    merge  writes the union of a range of each array to a range of `out`, and returns its size
    """
    size = len(left) + len(right)
    if size < RELATIONS.shared_rows:
        return merge((slice(0, len(left)), slice(0, len(right)), slice(0, size)))
    ranges = list(split_at_equal_keys((left, right), parts(size)))
    sizes = [0] * len(ranges)

    def write(number: int) -> None:
        sizes[number] = merge(ranges[number])

    each(write, range(len(ranges)))
    size = 0
    for (_, _, to), made in zip(ranges, sizes, strict=True):  # close the gaps
        if size < to.start:
            for column in out:
                column[size : size + made] = column[to.start : to.start + made]
        size += made
    return size


def _with_few(many: Keys, few: Keys) -> Keys:
    """`unite` of many wide keys and few, which are inserted: sorting wide keys is slow."""
    places = many.searchsorted(few)
    new = many[np.minimum(places, len(many) - 1)] != few
    return np.insert(many, places[new], few[new])


def sorted_distinct(keys: Keys) -> Keys:
    """The keys in order, without repetitions."""
    if len(keys) < 2 or _is_increasing(keys):
        return keys
    if len(keys) >= RELATIONS.dense_rows and (narrow := narrowed(keys)) is not None:
        return narrow[1](distinct(sorted_keys(narrow[0])))
    return distinct(sorted_keys(keys))


def _is_increasing(keys: Keys) -> bool:
    """Whether many keys are sorted and distinct, as conclusions of copying rules mostly are."""
    if len(keys) < RELATIONS.dense_rows or not seems_sorted(keys):
        return False
    return bool((keys[1:] > keys[:-1]).all())


def counted(keys: Keys) -> tuple[Keys, U32]:
    """The keys sorted and distinct, and how often each occurred."""
    if len(keys) < 2 or _is_increasing(keys):
        return keys, np.ones(len(keys), dtype=np.uint32)
    if len(keys) >= RELATIONS.dense_rows and (narrow := narrowed(keys)) is not None:
        found, times = counted(narrow[0])
        return narrow[1](found), times
    ordered = sorted_keys(keys)
    if _is_small(len(keys)) or keys.dtype != np.uint64:
        last = last_of_equals(ordered).nonzero()[0]
        counts = np.diff(last, prepend=-1)
        return ordered[last], counts.astype(np.uint32)
    kernels = _warm()
    out = np.empty(len(keys), dtype=np.uint64)
    counts32 = np.empty(len(keys), dtype=np.uint32)
    size = kernels.count_equals(ordered, out, counts32)
    return out[:size], counts32[:size]


def counted_pieces(arrays: list[Keys]) -> tuple[Keys, U32]:
    """All keys of some arrays, sorted and distinct, and how often each occurred.

    Rules mostly conclude facts of one class, or one object, at a time. Such facts are counted by
    their second ids, which is three times as fast as sorting if these are close together.
    """
    rows = sum(map(len, arrays))
    if rows > RELATIONS.checked_rows:
        needs(_SORTED_BYTES * rows)
    if rows < RELATIONS.dense_rows or arrays[0].dtype != np.uint64:
        return counted(arrays[0] if len(arrays) == 1 else np.concatenate(arrays))
    alone: dict[int, list[tuple[int, int, U64]]] = {}
    mixed: list[U64] = []
    for array in arrays:
        least, most = int(array.min()), int(array.max())
        if len(array) >= RELATIONS.warm_rows and least >> 32 == most >> 32:
            alone.setdefault(least >> 32, []).append((least, most, array))
        else:
            mixed.append(array)
    if not alone:
        return counted(mixed[0] if len(mixed) == 1 else np.concatenate(mixed))
    found = [_counted_beside(alone[first]) for first in sorted(alone)]
    keys, counts = found[0] if len(found) == 1 else map(np.concatenate, zip(*found, strict=True))
    if mixed:
        more, times = counted(np.concatenate(mixed))
        keys, total = summed(keys, counts.astype(np.int64), more, times.astype(np.int64))
        counts = total.astype(np.uint32)
    return keys, counts


def distinct_pieces(arrays: list[Keys]) -> Keys:
    """All keys of some arrays in order, without repetitions."""
    if sum(map(len, arrays)) >= RELATIONS.dense_rows and arrays[0].dtype == np.uint64:
        return counted_pieces(arrays)[0]
    return sorted_distinct(arrays[0] if len(arrays) == 1 else np.concatenate(arrays))


def _counted_beside(ranges: list[tuple[int, int, U64]]) -> tuple[U64, U32]:
    """`counted` for keys of one first id: arrays as (least key, greatest key, keys)."""
    arrays = [keys for _, _, keys in ranges]
    if len(arrays) == 1 and _is_increasing(arrays[0]):
        return arrays[0], np.ones(len(arrays[0]), dtype=np.uint32)
    least, rows = min(low for low, _, _ in ranges), sum(map(len, arrays))
    span = max(most for _, most, _ in ranges) - least + 1
    if span > RELATIONS.dense_span * rows:
        return counted(arrays[0] if len(arrays) == 1 else np.concatenate(arrays))
    kernels = _warm()
    counts = np.zeros(span, dtype=np.uint32)
    for keys in arrays:
        for piece in pieces(len(keys)):
            kernels.count_close(keys[piece], np.uint64(least), counts)
    out, times = np.empty(min(rows, span), np.uint64), np.empty(min(rows, span), np.uint32)
    size = 0
    for piece in pieces(span):
        first = np.uint64(least + piece.start)
        size += kernels.take_counted(counts[piece], first, out[size:], times[size:])
    return out[:size], times[:size]


def bounds(keys: U64, first: int) -> tuple[int, int]:
    """The range of the rows whose first id is `first`."""
    last = np.uint64(first << 32 | 0xFFFFFFFF)
    return int(keys.searchsorted(np.uint64(first << 32))), int(keys.searchsorted(last, "right"))


def beside(first: int, second: U32) -> U64:
    """Keys of one first id and many second ids."""
    keys = second.astype(np.uint64)
    keys |= np.uint64(first << 32)
    return keys


@cache
def _most_rows() -> int:
    """Maximum number of rows of one join: a third of the machine's memory."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // (3 * _BYTES)
    except (AttributeError, OSError, ValueError):
        return 1 << 30


class TooManyRowsError(BudgetError):
    """One join would make `rows` rows, more than there is memory for."""

    def __init__(self, message: str, rows: int) -> None:
        super().__init__(message)
        self.rows = rows


class _Room(threading.local):
    """Maximum number of rows of a join in this thread, if lower than what memory allows."""

    most: int | None = None


_ROOM = _Room()


@contextmanager
def at_most(rows: int) -> Iterator[None]:
    """Refuse joins of this thread that would make more rows."""
    before = _ROOM.most
    _ROOM.most = rows if before is None else min(rows, before)
    try:
        yield
    finally:
        _ROOM.most = before


def is_bounded() -> bool:
    """Whether joins of this thread have a limit below what memory allows."""
    return _ROOM.most is not None


def check_room(rows: int) -> None:
    """Raise `TooManyRowsError` if a join would make too many rows."""
    most = _ROOM.most
    if rows > (_most_rows() if most is None else most):
        raise TooManyRowsError(
            f"one join of a rule would make {rows:,} rows, more than a third of the memory; look "
            "for a rule whose atoms share no variable, or only one that takes few values",
            rows,
        )
    if rows > RELATIONS.checked_rows:
        needs(rows * _BYTES)


def fans(values: U32, keys: U64) -> I64:
    """How many of the sorted `keys` have each of these first ids."""
    if len(values) < 2 or _is_small(4 * len(values)):
        firsts = least_keys(values)
        return keys.searchsorted(firsts | _LOW, side="right") - keys.searchsorted(firsts)
    _warm()
    lo, hi, _ = ranges_of(keys, values)
    hi -= lo
    return hi


def match(values: U32, keys: U64) -> tuple[I64, U32]:
    """The rows of sorted `keys` with these first ids: (position in `values`, second id)."""
    if len(values) == 0 or len(keys) == 0:
        return np.zeros(0, dtype=np.int64), NO_IDS
    if len(values) == 1:
        start, stop = bounds(keys, int(values[0]))
        return np.zeros(stop - start, dtype=np.int64), low(keys[start:stop])
    if len(values) < 2 or _is_small(4 * len(values)):
        firsts = least_keys(values)
        lo = keys.searchsorted(firsts)
        hi = keys.searchsorted(firsts | _LOW, side="right")
        sizes = hi - lo
        check_room(int(sizes.sum()))
        index = np.repeat(np.arange(len(values)), sizes)
        return index, keys[ranges(lo, sizes)].astype(np.uint32)
    kernels = _warm()
    lo, hi, total = ranges_of(keys, values)
    check_room(total)
    index, second = np.empty(total, dtype=np.int64), np.empty(total, dtype=np.uint32)
    if total < RELATIONS.shared_rows:
        kernels.expand_second(lo, hi, keys, index, second)
        return index, second
    ends = np.cumsum(hi - lo)

    def expand(values: slice) -> None:
        start = int(ends[values.start - 1]) if values.start else 0
        to = slice(start, int(ends[values.stop - 1]) if values.stop else 0)
        kernels.expand_second(lo[values], hi[values], keys, index[to], second[to])
        index[to] += values.start

    in_parts(expand, len(values))
    return index, second

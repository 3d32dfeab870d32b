"""Where the rows of many ids lie in sorted keys: by searching, or from a table of all first ids.

Start reading at `Ranges`. Sorted ids are found fastest by continuing from the last one. For many
unsorted ids a table is made first of where each first id begins, in one pass over the keys: 60 ns
per id become 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from triplestore.relations.packed_keys import (
    I64,
    NO_IDS,
    NO_KEYS,
    SHIFT,
    U32,
    U64,
    Bools,
    Keys,
    pieces,
)
from triplestore.relations.shared_work import in_parts
from triplestore.relations.thresholds import RELATIONS

_LOOKED_AT = 64
"""Approximate number of rows sampled to guess whether all are sorted."""


def seems_sorted(values: Keys) -> bool:
    """Whether the values are probably sorted, from a sample: a wrong guess only costs time."""
    every = max(1, len(values) // _LOOKED_AT)
    return bool((values[1::every] >= values[: len(values) - 1 : every]).all())


class FirstIdStarts(NamedTuple):
    """Where the keys of each first id from `base` on begin; the last entry is their number."""

    base: int
    starts: U32

    @classmethod
    def of(cls, keys: U64, wanted: int) -> FirstIdStarts | None:
        """The starts for sorted keys; None if too large for looking up `wanted` ids."""
        if not _worth_table(keys, wanted):
            return None
        base = int(keys[0] >> SHIFT)
        span = int(keys[-1] >> SHIFT) - base + 1
        if span > RELATIONS.dense_span * wanted:
            return None
        from triplestore.kernels.rows.intersect_ranges import count_firsts

        counts = np.zeros(span, dtype=np.uint32)
        for piece in pieces(len(keys)):
            count_firsts(keys[piece], np.uint64(base), counts)
        starts = np.empty(span + 1, dtype=np.uint32)
        starts[0] = 0
        np.cumsum(counts, out=starts[1:])
        return cls(base, starts)

    def contain(self, keys: U64, within: U64) -> Bools:
        """Which of `keys`, in any order, are in the sorted ones that these starts are of."""
        from triplestore.kernels.rows.intersect_ranges import mark_within

        found = np.empty(len(keys), dtype=np.uint8)

        def mark(piece: slice) -> None:
            mark_within(keys[piece], within, self.base, self.starts, found[piece])

        in_parts(mark, len(keys))
        return found.view(np.bool_)


def _worth_table(keys: U64, wanted: int) -> bool:
    """Whether a table of these keys pays for looking up this many ids."""
    most = min(RELATIONS.table_keys * wanted, 1 << 32)
    return wanted >= RELATIONS.table_ids and 0 < len(keys) < most


def directory(keys: U64, wanted: int) -> U32:
    """A table for finding second ids in ranges of keys; empty if `wanted` look-ups are too few."""
    if not _worth_table(keys, wanted):
        return NO_IDS
    from triplestore.kernels.rows.intersect_ranges import make_directory

    made = np.empty(len(keys) // 4 + 1, dtype=np.uint32)
    make_directory(keys, made)
    return made


class Ranges:
    """Sorted keys in which many ids are looked up."""

    __slots__ = ("_keys", "_starts", "_values")

    def __init__(self, keys: U64, values: U32) -> None:
        self._keys = keys
        self._values = values
        worth = len(values) >= RELATIONS.table_ids and not seems_sorted(values)
        self._starts = FirstIdStarts.of(keys, len(values)) if worth else None

    def write(self, part: slice, lo: I64, hi: I64) -> int:
        """Write the ranges of some of the ids; return the total number of rows."""
        values = self._values[part]
        if self._starts is not None:
            from triplestore.kernels.rows.join import match_dense

            found: int = match_dense(values, self._starts.base, self._starts.starts, lo, hi)
        else:
            from triplestore.kernels.rows.sorted_sets import match_first

            found = match_first(values, self._keys, lo, hi)
        return found


def ranges_of(keys: U64, values: U32) -> tuple[I64, I64, int]:
    """The range of the sorted keys with each first id, and the total number of rows.

    >>> keys = np.array([1 << 32 | 5, 1 << 32 | 6, 4 << 32 | 5], np.uint64)
    >>> lo, hi, total = ranges_of(keys, np.array([4, 1, 2], np.uint32))
    >>> (hi - lo).tolist(), total
    ([1, 2, 0], 3)
    """
    size = len(values)
    lo, hi = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    if size < RELATIONS.table_ids:
        from triplestore.kernels.rows.sorted_sets import match_first

        return lo, hi, match_first(values, keys, lo, hi)
    ranges, total = Ranges(keys, values), list[int]()
    in_parts(lambda piece: total.append(ranges.write(piece, lo[piece], hi[piece])), size)
    return lo, hi, sum(total)


# -- several at once ------------------------------------------------------------------------------

LINKS = 4
"""Maximum number of ranges crossed at once."""


class Crossed(NamedTuple):
    """The values of some rows.

    start, stop  which rows
    counts       the number of values of each row
    values       the values of all rows, row by row; empty if they were only counted
    looked       how many values were compared
    """

    start: int
    stop: int
    counts: I64
    values: U32
    looked: int


def crossed(keys: Sequence[U64], values: Sequence[U32], listed: bool) -> Iterator[Crossed]:
    """For each row the second ids that occur with its values in all of `keys`, in pieces.

    Column i of `values` has the first ids to look up in keys[i]. There are at most `LINKS` keys.
    """
    from triplestore.kernels.rows.intersect_ranges import cross

    run: Callable[..., int] = cross
    links, size = len(keys), len(values[0])
    ranges = [Ranges(one, ids) for one, ids in zip(keys, values, strict=True)]
    none = LINKS - links
    directories = {id(one): directory(one, size) for one in keys}
    read = *keys, *[NO_KEYS] * none, *(directories[id(one)] for one in keys), *[NO_IDS] * none
    out, state = np.empty(RELATIONS.crossed_room, dtype=np.uint32), np.empty(2, dtype=np.int64)
    for start in range(0, size, RELATIONS.crossed_rows):
        stop = min(size, start + RELATIONS.crossed_rows)
        lo, hi = np.empty((2, links, stop - start), dtype=np.int64)
        for number, one in enumerate(ranges):
            one.write(slice(start, stop), lo[number], hi[number])
        counts = np.empty(stop - start, dtype=np.int64)
        row, parts, looked = 0, [], 0
        ends = lo.reshape(-1), hi.reshape(-1)
        while True:
            row = run(*ends, *read, links, int(listed), row, counts, out, state)
            looked += int(state[1])
            if listed and state[0]:
                parts.append(out[: state[0]].copy())
            if row == len(counts):
                break
            room = int((hi - lo)[:, row].min())
            if room > len(out):
                out = np.empty(max(2 * len(out), room), dtype=np.uint32)
        found = parts[0] if len(parts) == 1 else np.concatenate([NO_IDS, *parts])
        yield Crossed(start, stop, counts, found, looked)

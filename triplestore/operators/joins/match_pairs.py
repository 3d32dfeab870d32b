"""From ranges of matches to pairs of positions, in blocks of any size.

`cut_pairs` is the second half of every join. Blocks stay within their maximum, however many rows
one key matches; only the position is kept between blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplestore.kernels.rows.join import expand_pairs
from triplestore.operators.group_table import use_kernels

I64: TypeAlias = NDArray[np.int64]
Pairs: TypeAlias = tuple[I64, I64]

_LOW = (1 << 32) - 1


def cut_pairs(lo: I64, hi: I64, total: int, room: int, outer: bool) -> Iterator[Pairs]:
    """All pairs (i, j) with lo[i] <= j < hi[i], by i then j, in blocks of at most `room`.

    total  the number of pairs, including those of `outer`
    outer  a row i without matches has one pair (i, -1)

    >>> lo, hi = np.array([0, 2, 2]), np.array([2, 2, 3])
    >>> [(i.tolist(), j.tolist()) for i, j in cut_pairs(lo, hi, 4, 3, True)]
    [([0, 0, 1], [0, 1, -1]), ([2], [2])]
    """
    if not use_kernels(total):
        yield from _cut_few(lo, hi, total, room, outer)
        return
    row = offset = 0
    while total > 0:
        size = min(room, total)
        left, right = np.empty(size, np.int64), np.empty(size, np.int64)
        at = expand_pairs(lo, hi, row, offset, int(outer), left, right)
        row, offset = at >> 32, at & _LOW
        total -= size
        yield left, right


def _cut_few(lo: I64, hi: I64, total: int, room: int, outer: bool) -> Iterator[Pairs]:
    counts = hi - lo
    if outer:
        missing = counts == 0
        counts = counts + missing
        lo = lo - missing * (lo + 1)  # -1
    if total <= room:
        left = np.arange(len(lo)).repeat(counts)
        yield left, np.arange(total) + (lo - counts.cumsum() + counts).repeat(counts)
        return
    ends = counts.cumsum()
    for start in range(0, total, room):
        places = np.arange(start, min(start + room, total))
        left = ends.searchsorted(places, "right")
        yield left, lo[left] + places - (ends - counts)[left]

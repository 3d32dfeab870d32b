"""Transitive reduction of a closed relation, as columns: start at `direct_pairs`."""

from __future__ import annotations

import numpy as np

from triplestore.relations.layers.sorted_order import ranges
from triplestore.relations.packed_keys import (
    U32,
    U64,
    Bools,
    distinct,
    high,
    in_sorted,
    low,
    pack,
    start_of_runs,
    swap,
)
from triplestore.thread_limits import look

BLOCK = 1 << 22
"""Pairs of pairs that are compared at once."""


def grouped(keys: U64) -> tuple[U32, U32]:
    """Those that are equivalent to others, increasing, and the least one of each group.

    keys  a transitive relation, sorted

    >>> members, heads = grouped(np.array([1 << 32 | 2, 2 << 32 | 1, 2 << 32 | 3], np.uint64))
    >>> members.tolist(), heads.tolist()
    ([1, 2], [1, 1])
    """
    both = keys[in_sorted(swap(keys), keys)]
    both = both[high(both) != low(both)]
    starts = start_of_runs(high(both))[:-1]
    members = high(both)[starts]
    heads: U32 = np.minimum(members, low(both)[starts])  # sorted: the first is the least
    return members, heads


def direct_pairs(keys: U64) -> U64:
    """The pairs of a transitive relation without cycles that do not follow from two others.

    keys  sorted, without pairs of something with itself

    >>> chain = np.array([1 << 32 | 2, 1 << 32 | 3, 2 << 32 | 3], np.uint64)
    >>> [(int(key) >> 32, int(key) & 0xFFFFFFFF) for key in direct_pairs(chain)]
    [(1, 2), (2, 3)]
    """
    if not len(keys):
        return keys
    starts = start_of_runs(high(keys))
    firsts, sizes = high(keys)[starts[:-1]], np.diff(starts)
    places = np.minimum(firsts.searchsorted(low(keys)), len(firsts) - 1)
    widths = np.where(firsts[places] == low(keys), sizes[places], 0)
    implied: Bools = np.zeros(len(keys), dtype=np.bool_)
    ends = np.cumsum(widths)
    at = 0
    while at < len(keys):
        look()
        done = ends[at - 1] if at else 0
        stop = max(at + 1, int(ends.searchsorted(done + BLOCK, side="right")))
        part = slice(at, stop)
        rows = ranges(starts[:-1][places[part]], widths[part])
        led = pack(np.repeat(high(keys[part]), widths[part]), low(keys[rows]))
        led = distinct(np.sort(led))
        found = keys.searchsorted(led)
        found = found[found < len(keys)]
        hits = keys[found] == led[: len(found)]
        implied[found[hits]] = True
        at = stop
    return keys[~implied]

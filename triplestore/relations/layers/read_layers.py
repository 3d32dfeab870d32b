"""What all reading through several layers is made of: merge slices, filter, cut into groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from triplestore.relations.layers.sorted_order import SortedRun
from triplestore.relations.packed_keys import I64, NO_KEYS, NO_STATUS, U8, Keys, last_of_equals
from triplestore.relations.status import HOLDS

_LARGE = 1 << 16  # positions


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
    if total >= _LARGE:
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

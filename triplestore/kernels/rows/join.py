"""Joins in two steps: first the range of each left row's matches, then pairs of positions in
pieces.

The first step writes for each left row a range [lo, hi) of places on the right, by galloping
through sorted keys (`match_sorted`) or from group numbers (`match_groups`, `match_dense`), and
returns the number of pairs, so that memory can be checked before the second step. `expand_pairs`
then fills blocks of any size and may stop within one row's matches. Always true: nothing is
allocated here; positions are i64; outputs never alias inputs.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import kernel


@kernel("i64(u64r, u64r, i64w, i64w)", "i64(u32r, u32r, i64w, i64w)")
def match_sorted(left, right, lo, hi):
    """Write the range of `right` that equals each key of `left`; return the number of pairs.

    right : sorted. left : in any order; if sorted, each search starts where the last one ended and
    doubles its steps, so the cost is O(n + m) for equal sizes and O(n log(m / n)) for few keys.
    """
    size = right.size
    total = 0
    at = 0  # right[:at] < key, once the search for a key begins
    for i in range(left.size):
        key = left[i]
        if i > 0 and left[i - 1] == key:
            lo[i] = lo[i - 1]
            hi[i] = hi[i - 1]
            total += hi[i] - lo[i]
            continue
        if at > 0 and right[at - 1] >= key:
            at = 0
        step = 1
        top = at
        while top < size and right[top] < key:
            at = top + 1
            top += step
            step += step
        top = min(top, size)
        while at < top:
            middle = (at + top) >> 1
            if right[middle] < key:
                at = middle + 1
            else:
                top = middle
        end = at
        step = 1
        top = at
        while top < size and right[top] == key:
            end = top + 1
            top += step
            step += step
        top = min(top, size)
        while end < top:
            middle = (end + top) >> 1
            if right[middle] == key:
                end = middle + 1
            else:
                top = middle
        lo[i] = at
        hi[i] = end
        total += end - at
    return total


@kernel("i64(i64r, u32r, i64w, i64w)")
def match_groups(groups, starts, lo, hi):
    """Write the range of each group (-1: none) from the starts of all groups; return the pairs."""
    total = 0
    for i in range(groups.size):
        group = groups[i]
        if group < 0:
            lo[i] = 0
            hi[i] = 0
        else:
            lo[i] = starts[group]
            hi[i] = starts[group + 1]
            total += hi[i] - lo[i]
    return total


@kernel("i64(u32r, i64, u32r, i64w, i64w)")
def match_dense(keys, base, starts, lo, hi):
    """The same where the group of a key is the key minus `base`, if that group exists."""
    total = 0
    size = starts.size - 1
    for i in range(keys.size):
        group = np.int64(keys[i]) - base
        if group < 0 or group >= size:
            lo[i] = 0
            hi[i] = 0
        else:
            lo[i] = starts[group]
            hi[i] = starts[group + 1]
            total += hi[i] - lo[i]
    return total


@kernel("void(u32r, i64, u32w)")
def count_rows(groups, base, counts):
    """Add the number of rows of each group (minus `base`) to its count."""
    for i in range(groups.size):
        counts[np.int64(groups[i]) - base] += np.uint32(1)


@kernel("void(u32r, i64, i64, u32w, u32w)")
def place_rows(groups, base, first_row, cursors, rows):
    """Counting sort: write the number of each row at the cursor of its group.

    groups  : u32[n], the groups (plus `base`) of the rows from `first_row` on
    cursors : where the next row of each group goes; advanced
    """
    for i in range(groups.size):
        group = np.int64(groups[i]) - base
        place = cursors[group]
        cursors[group] = place + np.uint32(1)
        rows[place] = np.uint32(first_row + i)


@kernel("i64(i64r, i64r, i64, i64, i64, i64w, i64w)")
def expand_pairs(lo, hi, row, offset, outer, left, right):
    """Fill `left` and `right` with pairs of positions, from match number `offset` of left row `row`
    on.

    outer : 1 if a row without matches gives one pair with right position -1, else 0
    Return the row and offset to continue with, packed as row << 32 | offset. The outputs are filled
    completely unless the pairs end (the caller counted them).
    """
    filled = 0
    room = left.size
    while filled < room and row < lo.size:
        start = lo[row] + offset
        stop = hi[row]
        if start >= stop:
            if outer == 1 and offset == 0:
                left[filled] = row
                right[filled] = -1
                filled += 1
            row += 1
            offset = 0
            continue
        take = min(stop - start, room - filled)
        for k in range(take):
            left[filled + k] = row
            right[filled + k] = start + k
        filled += take
        offset += take
        if start + take == stop:
            row += 1
            offset = 0
    return row << 32 | offset

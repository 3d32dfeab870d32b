"""Set operations on sorted arrays of packed keys: membership, union, counts, look-ups by first id.

These are the inner loops of rule evaluation. `right` and `keys` are sorted and distinct unless a
function says otherwise; `left` and `values` may be in any order. Increasing order is fastest: each
search starts where the last one ended, in either direction, and doubles its steps.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import helper, kernel

_32 = np.uint64(32)


@helper
def place_between(keys, key, at, top):
    """The first place in [at, top) whose key is not less, or `top`."""
    while at < top:
        middle = (at + top) >> 1
        if keys[middle] < key:
            at = middle + 1
        else:
            top = middle
    return at


@helper
def place_from(keys, key, at):
    """The first place of `keys` whose key is not less; it is not before `at`."""
    size = keys.size
    step = 1
    top = at
    while top < size and keys[top] < key:
        at = top + 1
        top += step
        step += step
    return place_between(keys, key, at, min(top, size))


@helper
def place_near(keys, key, at):
    """The first place of `keys` whose key is not less, searched from any place on in both
    directions."""
    if at < keys.size and keys[at] < key:
        return place_from(keys, key, at + 1)
    step = 1
    low = at - 1
    while low >= 0 and keys[low] >= key:
        at = low
        low -= step
        step += step
    low = max(low, -1)
    while low + 1 < at:
        middle = (low + at) >> 1
        if keys[middle] < key:
            low = middle
        else:
            at = middle
    return at


@kernel("i64(u64r, u64r, u8w)")
def mark_members(left, right, found):
    """Write 1 for each key of `left` that is in `right`, 0 for the others; return the number of
    ones."""
    hits = 0
    at = 0
    for i in range(left.size):
        key = left[i]
        at = place_near(right, key, at)
        if at < right.size and right[at] == key:
            found[i] = 1
            hits += 1
        else:
            found[i] = 0
    return hits


@kernel("i64(u32r, u64r, i64w, i64w)")
def match_first(values, keys, lo, hi):
    """Write the range of `keys` for each first id in `values`; return the total number of rows."""
    total = 0
    at = 0
    for i in range(values.size):
        value = np.uint64(values[i])
        if i > 0 and values[i - 1] == values[i]:
            lo[i] = lo[i - 1]
            hi[i] = hi[i - 1]
            total += hi[i] - lo[i]
            continue
        key = value << _32
        at = place_near(keys, key, at)
        lo[i] = at
        end = at
        while end < keys.size and end < at + 8 and keys[end] >> _32 == value:
            end += 1
        if end == at + 8:
            end = place_from(keys, (value + np.uint64(1)) << _32, end)
        hi[i] = end
        total += end - at
    return total


@kernel("void(i64r, i64r, u64r, i64w, u32w)")
def expand_second(lo, hi, keys, index, second):
    """Write for each row of the ranges [lo, hi) the number of its range, and its second id."""
    row = 0
    for i in range(lo.size):
        for place in range(lo[i], hi[i]):
            index[row] = i
            second[row] = np.uint32(keys[place])
            row += 1


@kernel("i64(u64r, u64r, u64w)")
def unite(left, right, out):
    """Write the union; `left` is sorted and distinct as well. Return the number of keys."""
    i = j = row = 0
    while i < left.size and j < right.size:
        a, b = left[i], right[j]
        if a < b:
            out[row] = a
            i += 1
        elif b < a:
            out[row] = b
            j += 1
        else:
            out[row] = a
            i += 1
            j += 1
        row += 1
    while i < left.size:
        out[row] = left[i]
        i += 1
        row += 1
    while j < right.size:
        out[row] = right[j]
        j += 1
        row += 1
    return row


@kernel("i64(u64r, u64w, u32w)")
def count_equals(keys, out, counts):
    """Write each distinct key of a sorted array and its number of occurrences; return how many
    keys."""
    row = -1
    for i in range(keys.size):
        if i == 0 or keys[i] != keys[i - 1]:
            row += 1
            out[row] = keys[i]
            counts[row] = 1
        else:
            counts[row] += np.uint32(1)
    return row + 1


@kernel("void(u64r, u64, u32w)")
def count_close(keys, least, counts):
    """Add the occurrences of each key, from `least` on, to `counts`."""
    for i in range(keys.size):
        counts[np.int64(keys[i] - least)] += np.uint32(1)


@kernel("i64(u32r, u64, u64w, u32w)")
def take_counted(counts, least, out, times):
    """Write each key that was counted and its number of occurrences; return how many keys."""
    row = 0
    for i in range(counts.size):
        if counts[i] > 0:
            out[row] = least + np.uint64(i)
            times[row] = counts[i]
            row += 1
    return row


@kernel("i64(u64r, u64r, i64w)")
def find_places(left, right, places):
    """Write the place of each key of `left` in `right`, or -1; return how many were found."""
    hits = 0
    at = 0
    for i in range(left.size):
        key = left[i]
        at = place_near(right, key, at)
        if at < right.size and right[at] == key:
            places[i] = at
            hits += 1
        else:
            places[i] = -1
    return hits


@kernel("i64(u64r, i64r, u64r, i64r, u64w, i64w)")
def add_counts(left, left_counts, right, right_counts, out, counts):
    """Write the union with the sums of counts; return the number of keys."""
    i = j = row = 0
    while i < left.size or j < right.size:
        if j == right.size or (i < left.size and left[i] < right[j]):
            out[row] = left[i]
            counts[row] = left_counts[i]
            i += 1
        elif i == left.size or right[j] < left[i]:
            out[row] = right[j]
            counts[row] = right_counts[j]
            j += 1
        else:
            out[row] = left[i]
            counts[row] = left_counts[i] + right_counts[j]
            i += 1
            j += 1
        row += 1
    return row

"""Intersections of sorted ranges: the values of a variable that several atoms allow.

For `p(x, y), q(y, z), r(z, x)` each pair (x, y) has a range of z in q and one in r. `cross` writes
the values that are in all ranges, starting from the smallest. Always true: the second ids within a
range are sorted and distinct; nothing is allocated here.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import helper, kernel
from triplestore.kernels.rows.sorted_sets import place_between

_32 = np.uint64(32)

_MOST = 1 << 24  # maximum number of values compared in one call
_LONG = 64  # minimum number of keys of a range to search it with a directory
_NEAR = 8  # minimum ratio of a range to the values searched in it for galloping


@kernel("void(u64r, u64, u32w)")
def count_firsts(keys, least, counts):
    """Add the number of keys of each first id, from `least` on, to `counts`."""
    for i in range(keys.size):
        counts[np.int64((keys[i] >> _32) - least)] += np.uint32(1)


@kernel("void(u64r, u64r, i64, u32r, u8w)")
def mark_within(left, right, base, starts, found):
    """Write 1 for each key of `left` that is in the sorted `right`, 0 for the others.

    starts : where the keys of each first id (minus `base`) begin; the last entry is their number
    """
    firsts = starts.size - 1
    for i in range(left.size):
        key = left[i]
        group = np.int64(key >> _32) - base
        found[i] = 0
        if 0 <= group < firsts:
            lo, hi = np.int64(starts[group]), np.int64(starts[group + 1])
            lo = place_between(right, key, lo, hi)
            if lo < hi and right[lo] == key:
                found[i] = 1


@helper
def copy_range(keys, lo, hi, out, at):
    """Write the second ids of a range; return where they end."""
    for place in range(lo, hi):
        out[at] = np.uint32(keys[place])
        at += 1
    return at


@helper
def slots_of(keys, lo, hi):
    """For a long range: its first slot in a directory, its number of slots, its first second id,
    and the number of slots per id."""
    first = np.uint32(keys[lo])
    span = np.float64(np.uint32(keys[hi - 1]) - first) + 1.0
    slots = (hi >> 2) - (lo >> 2)
    return lo >> 2, slots, first, np.float64(slots) / span


@helper
def slot_of_id(value, first, slots, scale):
    """The slot of an id that is not less than the first id of the range."""
    return min(np.int64(np.float64(value - first) * scale), slots - 1)


@kernel("void(u64r, u32w)")
def make_directory(keys, directory):
    """Make a directory for finding second ids in long ranges of keys with one first id.

    directory : u32[keys / 4 + 1]; a range from `lo` to `hi` has the slots from lo / 4 to hi / 4;
                each is the place of the first key whose slot (`slot_of_id`) is not less
    """
    lo = 0
    while lo < keys.size:
        first = keys[lo] >> _32
        hi = lo + 1
        while hi < keys.size and keys[hi] >> _32 == first:
            hi += 1
        if hi - lo >= _LONG:
            base, slots, least, scale = slots_of(keys, lo, hi)
            slot = 0
            for at in range(lo, hi):
                own = slot_of_id(np.uint32(keys[at]), least, slots, scale)
                while slot <= own:
                    directory[base + slot] = np.uint32(at)
                    slot += 1
            while slot < slots:
                directory[base + slot] = np.uint32(hi)
                slot += 1
        lo = hi


@helper
def place_within(keys, value, at, stop):
    """The first place in [at, stop) whose second id is not less, or `stop`."""
    left = stop - at
    while left > 1:
        half = left >> 1
        at += half * (np.uint32(keys[at + half - 1]) < value)
        left -= half
    if left == 1 and np.uint32(keys[at]) < value:
        at += 1
    return at


@helper
def keep_common(keys, directory, lo, hi, out, start, end):
    """Keep the values of `out` (from `start` to `end`) that are in a range; return the new end.

    It has no branches that depend on comparisons, since these cannot be predicted: half the time.
    """
    kept = start
    if hi - lo <= _NEAR * (end - start):
        i, at = start, lo
        while i < end and at < hi:
            value, other = out[i], np.uint32(keys[at])
            out[kept] = value
            kept += value == other
            i += value <= other
            at += other <= value
        return kept
    if directory.size == 0 or hi - lo < _LONG:
        at = lo
        for i in range(start, end):
            value = out[i]
            at = place_within(keys, value, at, hi)
            if at == hi:
                break
            out[kept] = value
            kept += np.uint32(keys[at]) == value
        return kept
    base, slots, first, scale = slots_of(keys, lo, hi)
    last = np.uint32(keys[hi - 1])
    for i in range(start, end):
        value = out[i]
        if first <= value <= last:
            slot = slot_of_id(value, first, slots, scale)
            at = np.int64(directory[base + slot])
            stop = hi
            if slot + 1 < slots:
                stop = np.int64(directory[base + slot + 1])
            at = place_within(keys, value, at, stop)
            out[kept] = value
            kept += np.uint32(keys[at]) == value
    return kept


@kernel(
    "i64(i64r, i64r, u64r, u64r, u64r, u64r, u32r, u32r, u32r, u32r, i64, i64, i64, i64w, u32w,"
    " i64w)"
)
def cross(lo, hi, one, two, three, four, d1, d2, d3, d4, links, listed, row, counts, out, state):
    """Write the values that are in the ranges of all links, row by row, and their counts.

    lo, hi  : the ranges of each row: of the first link for all rows, then of the second one ...
    one ... : the keys of up to four links
    d1 ...  : their directories, possibly empty
    listed  : 0 if the values are only counted; then each row overwrites `out`
    row     : the row to begin with
    counts  : one per row
    state   : the number of values in `out`; the number of values compared
    Returns the row to continue with once there is room in `out` again, or the number of rows.
    """
    rows = counts.size
    at = looked = 0
    while row < rows:
        best = 0
        least = hi[row] - lo[row]
        for link in range(1, links):
            size = hi[link * rows + row] - lo[link * rows + row]
            if size < least:
                best, least = link, size
        if least == 0:
            counts[row] = 0
            row += 1
            continue
        if at + least > out.size or looked > _MOST:
            break
        looked += least
        start, stop = lo[best * rows + row], hi[best * rows + row]
        if best == 0:
            end = copy_range(one, start, stop, out, at)
        elif best == 1:
            end = copy_range(two, start, stop, out, at)
        elif best == 2:
            end = copy_range(three, start, stop, out, at)
        else:
            end = copy_range(four, start, stop, out, at)
        for link in range(links):
            if link == best or end == at:
                continue
            start, stop = lo[link * rows + row], hi[link * rows + row]
            if link == 0:
                end = keep_common(one, d1, start, stop, out, at, end)
            elif link == 1:
                end = keep_common(two, d2, start, stop, out, at, end)
            elif link == 2:
                end = keep_common(three, d3, start, stop, out, at, end)
            else:
                end = keep_common(four, d4, start, stop, out, at, end)
        counts[row] = end - at
        if listed == 1:
            at = end
        row += 1
    state[0] = at
    state[1] = looked
    return row


@helper
def spelt(word):
    """The number that four big-endian bytes stand for."""
    return (
        (word >> np.uint32(24))
        | ((word >> np.uint32(8)) & np.uint32(0xFF00))
        | ((word << np.uint32(8)) & np.uint32(0xFF0000))
        | ((word << np.uint32(24)) & np.uint32(0xFF000000))
    )


@helper
def is_less(left, i, right, j, width):
    """Whether row `i` of one array comes before row `j` of another."""
    for place in range(width):
        a, b = left[i * width + place], right[j * width + place]
        if a != b:
            return spelt(a) < spelt(b)
    return False


@kernel("void(u32r, u32r, i64, u8w)")
def mark_wide(left, right, width, found):
    """Write 1 for each row of `left` that is in the sorted `right`, 0 for the others.

    left, right : rows of `width` ids, as bytes of wide keys; sorted `left` is fastest, since each
                  search continues where the last one ended
    """
    size = right.size // width
    at = 0
    for i in range(left.size // width):
        if at > 0 and not is_less(right, at - 1, left, i, width):
            at = 0
        step = 1
        top = at
        while top < size and is_less(right, top, left, i, width):
            at = top + 1
            top += step
            step += step
        top = min(top, size)
        while at < top:
            middle = (at + top) >> 1
            if is_less(right, middle, left, i, width):
                at = middle + 1
            else:
                top = middle
        found[i] = 0
        if at < size and not is_less(left, i, right, at, width):
            found[i] = 1

"""Where several sorted ranges meet: the values of a variable that several atoms allow.

Of `p(x, y), q(y, z), r(z, x)` each pair (x, y) has a range of z in q and one in r; what `cross`
writes are the values in all of them, found from the smallest range on. Always true: the second ids
within a range are sorted and distinct; nothing is allocated here.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import helper, kernel
from triplestore.kernels.rows.sorted_sets import place_between

_32 = np.uint64(32)

_MOST = 1 << 24  # values looked at in one call
_LONG = 64  # ranges of so many keys are looked through with the help of a directory
_NEAR = 8  # a range so many times longer than what is looked for in it is gone through in steps


@kernel("void(u64r, u64, u32w)")
def count_firsts(keys, least, counts):
    """Add to `counts` how many keys have each first id, from `least` on."""
    for i in range(keys.size):
        counts[np.int64((keys[i] >> _32) - least)] += np.uint32(1)


@kernel("void(u64r, u64r, i64, u32r, u8w)")
def mark_within(left, right, base, starts, found):
    """Write 1 for each key of `left` that is in the sorted `right`, 0 for the others.

    starts : where the keys of each first id (less `base`) begin, and at the end how many there are
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
    """Of a long range: its first slot in a directory, how many it has, its first second id, and
    how many slots there are for each id."""
    first = np.uint32(keys[lo])
    span = np.float64(np.uint32(keys[hi - 1]) - first) + 1.0
    slots = (hi >> 2) - (lo >> 2)
    return lo >> 2, slots, first, np.float64(slots) / span


@helper
def slot_of_id(value, first, slots, scale):
    """The slot of an id, not less than the first one of the range."""
    return min(np.int64(np.float64(value - first) * scale), slots - 1)


@kernel("void(u64r, u32w)")
def make_directory(keys, directory):
    """For each range of many keys with one first id: where in it to look for a second id.

    directory : u32[keys / 4 + 1]; a range from `lo` to `hi` has the slots from lo / 4 to hi / 4,
                each of them the place of the first key whose slot (`slot_of_id`) is not less
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
    """The first place from `at` to `stop` whose second id is not less."""
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
    """Keep those values of `out` (from `start` to `end`) that are in a range; return the end.

    Without branches on what is compared, which nobody can foretell: half the time.
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
    """Write the values that are in the ranges of all links, row by row, and how many they are.

    lo, hi  : the ranges of each row: of the first link for all rows, then of the second one ...
    one ... : the keys of up to four links
    d1 ...  : their directories, or nothing
    listed  : 0 if the values are only counted, and `out` is written over by each row
    row     : where to begin
    counts  : one for each row
    state   : how many values are in `out`; how many were looked at, of the smallest ranges
    Returns the row to go on from, once there is room in `out` again, or the number of rows.
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
    """The number that four bytes spell, the first one being the greatest."""
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

    left, right : rows of `width` ids, spelt as wide keys are; `left` costs least in order, since
                  each search goes on from where the last one ended
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

"""Sort many rows of many relations: count them by name, move them, remove duplicates.

`count_names` and `place_rows` bring the rows of each name together as packed keys. Each range is
then sorted by numpy, and `compact` removes duplicates and counts distinct ids. Always true: nothing
is allocated here; names are not 0. Each kernel works on a piece of the rows and leaves in its last
array where it stopped, so that no call takes longer than the caller wants.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import helper, kernel

_MIX = np.uint64(0x9E3779B97F4A7C15)
_32 = np.uint64(32)


@helper
def place_of_name(name, mask):
    """The slot where the search for a name begins."""
    return np.int64((np.uint64(name) * _MIX) >> _32) & mask


@kernel("i64(u32r, u32w, i64w)")
def count_names(names, slots, counts):
    """Add the number of rows of each name to `counts`; return how many rows were counted.

    slots, counts : u32[2^k], i64[2^k]; the name in a slot (0: free) and its number of rows.
                    At a new name counting stops if half of the slots are taken; the caller then
                    continues with larger tables.
    """
    mask = slots.size - 1
    free = slots.size // 2
    for slot in range(slots.size):
        if slots[slot] != 0:
            free -= 1
    for row in range(names.size):
        name = names[row]
        slot = place_of_name(name, mask)
        while slots[slot] != name and slots[slot] != 0:
            slot = (slot + 1) & mask
        if slots[slot] == 0:
            if free <= 0:
                return row
            free -= 1
            slots[slot] = name
        counts[slot] += 1
    return names.size


@kernel("void(u32r, u32r, u32r, u32r, i64w, u64w)")
def place_rows(names, first, second, slots, cursors, out):
    """Write each row as a packed key at the cursor of its name, and advance the cursor.

    slots   : as `count_names` left them, with all names in it
    cursors : i64[slots]; the rows of a name keep their order
    """
    mask = slots.size - 1
    for row in range(names.size):
        name = names[row]
        slot = place_of_name(name, mask)
        while slots[slot] != name:
            slot = (slot + 1) & mask
        place = cursors[slot]
        cursors[slot] = place + 1
        out[place] = (np.uint64(first[row]) << _32) | np.uint64(second[row])


@kernel("void(u64w, i64r, i64w, i64w, i64, i64w)")
def compact(keys, starts, new_starts, firsts, limit, state):
    """Remove duplicates from sorted ranges, and count distinct first ids.

    keys   : range i is keys[starts[i] : starts[i + 1]], sorted; afterwards it is
             keys[new_starts[i] : new_starts[i + 1]], without duplicates
    firsts : i64[ranges]; the number of distinct first ids of each range
    state  : i64[3], initially 0, 0, 0: the range, the row, and the place for the next key; it
             returns after at most `limit` rows, and is done when state[0] is the number of ranges
    """
    at, row, out = state[0], state[1], state[2]
    last_row = min(keys.size, row + limit)
    ranges = starts.size - 1
    while at < ranges:
        if row == starts[at]:
            new_starts[at] = out
            firsts[at] = 0
        stop = min(starts[at + 1], last_row)
        while row < stop:
            key = keys[row]
            if out == new_starts[at]:
                firsts[at] += 1
                keys[out] = key
                out += 1
            elif keys[out - 1] != key:
                if keys[out - 1] >> _32 != key >> _32:
                    firsts[at] += 1
                keys[out] = key
                out += 1
            row += 1
        if row < starts[at + 1]:
            break
        at += 1
        new_starts[at] = out
    state[0], state[1], state[2] = at, row, out


@kernel("void(u64r, i64r, i64w, i64, i64w)")
def count_heads(keys, starts, firsts, limit, state):
    """Count the distinct first ids of each sorted range, as `compact` does, without changing the
    keys.

    firsts : i64[ranges], initially 0
    """
    at, row = state[0], state[1]
    last_row = min(keys.size, row + limit)
    ranges = starts.size - 1
    while at < ranges:
        stop = min(starts[at + 1], last_row)
        found = 0
        while row < stop:
            if row == starts[at] or keys[row - 1] >> _32 != keys[row] >> _32:
                found += 1
            row += 1
        firsts[at] += found
        if row < starts[at + 1]:
            break
        at += 1
    state[0], state[1] = at, row


@kernel("void(u64r, i64r, u32r, u64w, i64, i64w)")
def term_name_pairs(keys, starts, names, out, limit, state):
    """Write (first id << 32 | name) for each distinct first id of each name.

    keys, starts, names : as in an order of a layer
    out                 : u64[number of distinct first ids of all names]
    state               : i64[3], as in `compact`
    """
    at, row, place = state[0], state[1], state[2]
    last_row = min(keys.size, row + limit)
    ranges = starts.size - 1
    while at < ranges:
        name = np.uint64(names[at])
        stop = min(starts[at + 1], last_row)
        while row < stop:
            head = keys[row] >> _32
            if row == starts[at] or keys[row - 1] >> _32 != head:
                out[place] = (head << _32) | name
                place += 1
            row += 1
        if row < starts[at + 1]:
            break
        at += 1
    state[0], state[1], state[2] = at, row, place


@kernel("void(u64r, u32w)")
def sort_ties(keys, extra):
    """Sort `extra` within runs of equal `keys`.

    Shell sort: it needs no recursion and no room; runs are mostly short (the graphs of one triple).
    """
    lo = 0
    size = keys.size
    while lo < size:
        hi = lo + 1
        while hi < size and keys[hi] == keys[lo]:
            hi += 1
        gap = 1
        while gap < (hi - lo) // 3:
            gap = 3 * gap + 1
        while gap > 0 and hi - lo > 1:
            for row in range(lo + gap, hi):
                value = extra[row]
                place = row
                while place - gap >= lo and extra[place - gap] > value:
                    extra[place] = extra[place - gap]
                    place -= gap
                extra[place] = value
            gap //= 3
        lo = hi

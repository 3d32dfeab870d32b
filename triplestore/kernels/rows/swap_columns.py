"""Sort packed keys by their second ids, by counting these.

Called in this order: `second_bounds` for all pieces of the keys, `count_seconds` for all pieces,
`begin_cursors`, then one of the other kernels for each piece. There are fewer than 2^32 keys, so
that places have 32 bits and more of them fit in the processor's cache.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import kernel

_LOW, _32 = np.uint64(0xFFFFFFFF), np.uint64(32)


@kernel("void(u64r, u64w)")
def second_bounds(keys, bounds):
    """Update the least and the greatest second id."""
    least, most = bounds[0], bounds[1]
    for i in range(keys.size):
        second = keys[i] & _LOW
        least = min(least, second)
        most = max(most, second)
    bounds[0], bounds[1] = least, most


@kernel("void(u64r, u64, u32w)")
def count_seconds(keys, least, sizes):
    """Add the number of keys of each second id, from `least` on, to `sizes`."""
    for i in range(keys.size):
        sizes[np.int64((keys[i] & _LOW) - least)] += np.uint32(1)


@kernel("void(u32w)")
def begin_cursors(sizes):
    """Replace the sizes by the places where each begins."""
    at = np.uint32(0)
    for i in range(sizes.size):
        size = sizes[i]
        sizes[i] = at
        at += size


@kernel("void(u64r, u64, u32w, u64w)")
def turn_by_second(keys, least, cursors, out):
    """Write each key with its ids swapped at the cursor of its second id, and advance the cursor.
    If the keys are sorted, so is the result."""
    for i in range(keys.size):
        second = keys[i] & _LOW
        at = np.int64(second - least)
        place = cursors[at]
        cursors[at] = place + np.uint32(1)
        out[place] = second << _32 | keys[i] >> _32


@kernel("void(u64r, u8r, u32r, u64, u32w, u64w, u8w, u32w)")
def turn_rows_by_second(keys, status, counts, least, cursors, out, out_status, out_counts):
    """`turn_by_second` for keys with statuses and counts."""
    for i in range(keys.size):
        second = keys[i] & _LOW
        at = np.int64(second - least)
        place = cursors[at]
        cursors[at] = place + np.uint32(1)
        out[place] = second << _32 | keys[i] >> _32
        out_status[place] = status[i]
        out_counts[place] = counts[i]

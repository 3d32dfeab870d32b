"""Exact hash tables of 64-bit keys: every distinct key gets the next number, its *group*.

Start at `group_insert`. Always true: `slots` has a power of two of places, each 0 (free) or a group
plus one; `group_keys[g]` is the key of group g; at most two thirds of the places are taken, which
is up to the caller. Keys are compared, not only their hashes. Groups are numbered in the order of
their first occurrence, so the result does not depend on the size of the table. Costs one or two
cache misses per key; the caller cuts long inputs into pieces.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import helper, kernel

_MIX = np.uint64(0x9E3779B97F4A7C15)
_32 = np.uint64(32)


@helper
def place_of(key, mask):
    """The slot where the search for a key begins."""
    mixed = (key ^ (key >> _32)) * _MIX
    return (mixed ^ (mixed >> _32)) & mask


@kernel("i64(u64r, u32w, u64w, i64, u32w, i64w)")
def group_insert(keys, slots, group_keys, count, groups, firsts):
    """Write the group of each key to `groups`; return the new number of groups.

    keys       : u64[n]
    slots      : u32[2^k], group_keys : u64[>= count + n]; the table, which is added to
    count      : number of groups so far
    firsts     : i64[>= n]; position in `keys` of the first key of each new group, in order
    """
    mask = np.uint64(slots.size - 1)
    before = count
    for i in range(keys.size):
        key = keys[i]
        place = place_of(key, mask)
        while True:
            found = slots[place]
            if found == 0:
                slots[place] = np.uint32(count + 1)
                group_keys[count] = key
                groups[i] = np.uint32(count)
                firsts[count - before] = i
                count += 1
                break
            if group_keys[found - 1] == key:
                groups[i] = np.uint32(found - 1)
                break
            place = (place + np.uint64(1)) & mask
    return count


@kernel("void(u64r, i64, i64, u32w)")
def group_rehash(group_keys, start, stop, slots):
    """Insert the groups [start, stop), known to be distinct, into the places of a larger table."""
    mask = np.uint64(slots.size - 1)
    for g in range(start, stop):
        place = place_of(group_keys[g], mask)
        while slots[place] != 0:
            place = (place + np.uint64(1)) & mask
        slots[place] = np.uint32(g + 1)


@kernel("i64(u64r, u32r, u64r, i64w)")
def group_find(keys, slots, group_keys, groups):
    """Write the group of each key, or -1, to `groups`; return how many were found."""
    mask = np.uint64(slots.size - 1)
    hits = 0
    for i in range(keys.size):
        key = keys[i]
        place = place_of(key, mask)
        group = np.int64(-1)
        while True:
            found = slots[place]
            if found == 0:
                break
            if group_keys[found - 1] == key:
                group = np.int64(found) - 1
                hits += 1
                break
            place = (place + np.uint64(1)) & mask
        groups[i] = group
    return hits

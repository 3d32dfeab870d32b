"""Characteristic sets: number the distinct sets among many short groups of names."""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import kernel

_MIX = np.uint64(0x9E3779B97F4A7C15)
_32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@kernel("void(u64r, i64w, i64w, i64w, i64w, u32w, u32w, i64, i64w)")
def number_sets(pairs, slots, examples, lengths, sizes, terms, codes, limit, state):
    """Write each term's id and the number of its set of names.

    pairs        : sorted distinct term << 32 | name
    slots        : i64[2^k], a hash table of sets: 0 if free, else the number of a set plus one
    examples, lengths, sizes : i64[>= 2^k / 2]; for each set where one group with it begins, its
                   number of names, and the number of terms with it
    terms, codes : u32[terms]
    state        : i64[4]: the next pair, the terms and sets so far, and 1 if the kernel stopped
                   because half of the slots are taken. It returns after about `limit` pairs, and
                   is done when state[0] is the number of pairs.
    Sets are numbered in the order of their first occurrence.
    """
    row, found, sets = state[0], state[1], state[2]
    mask = slots.size - 1
    stop = min(pairs.size, row + limit)
    state[3] = 0
    while row < stop:
        term = pairs[row] >> _32
        end = row
        code = np.uint64(0)
        while end < pairs.size and pairs[end] >> _32 == term:
            code = (code ^ (pairs[end] & _LOW)) * _MIX
            code ^= code >> _32
            end += 1
        slot = np.int64(code & np.uint64(0x7FFFFFFFFFFFFFFF)) & mask
        number = np.int64(-1)
        while slots[slot] != 0:
            other = slots[slot] - 1
            same = lengths[other] == end - row
            if same:
                for k in range(end - row):
                    if (pairs[examples[other] + k] & _LOW) != (pairs[row + k] & _LOW):
                        same = False
                        break
            if same:
                number = other
                break
            slot = (slot + 1) & mask
        if number < 0:
            if 2 * (sets + 1) > slots.size:
                state[3] = 1
                break
            number = sets
            slots[slot] = sets + 1
            examples[sets] = row
            lengths[sets] = end - row
            sizes[sets] = 0
            sets += 1
        sizes[number] += 1
        terms[found] = np.uint32(term)
        codes[found] = np.uint32(number)
        found += 1
        row = end
    state[0], state[1], state[2] = row, found, sets


@kernel("void(u64r, i64r, i64r, i64, i64w)")
def reenter_sets(pairs, examples, lengths, sets, slots):
    """Insert the first `sets` sets into an empty hash table of another size."""
    mask = slots.size - 1
    for number in range(sets):
        code = np.uint64(0)
        for k in range(lengths[number]):
            code = (code ^ (pairs[examples[number] + k] & _LOW)) * _MIX
            code ^= code >> _32
        slot = np.int64(code & np.uint64(0x7FFFFFFFFFFFFFFF)) & mask
        while slots[slot] != 0:
            slot = (slot + 1) & mask
        slots[slot] = number + 1

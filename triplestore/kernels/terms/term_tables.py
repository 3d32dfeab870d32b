"""Kernels of the term dictionary: hash tables of terms, and copying terms about.

A set of terms is four arrays, whether it is a sealed segment or a collector that still grows:

    bytes     u8[]     the texts, one after the other
    offsets   u64[n+1] text of term i is bytes[offsets[i] : offsets[i + 1]]
    kinds     u8[n]
    slots     u64[m]   open addressing, linear probing: low half of the hash << 32 | i + 1, or 0

Terms asked about come as spans of another buffer: `buf[starts[i] : starts[i] + lengths[i]]`.
Always true: a term is found only if kind and bytes are equal, whatever the hashes say, and every
table has at least one empty slot. Callers cut their input into calls of some ten milliseconds.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import helper, kernel
from triplestore.kernels.terms.hashing import hash_bytes, little_word, slot_of

_0 = np.uint64(0)
_1 = np.uint64(1)
_8 = np.uint64(8)
_32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@helper
def same_bytes(left, i, right, j, length):
    """True if `length` bytes from left[i] and right[j] are equal; all three numbers are u64."""
    end = i + length
    if length < _8:
        while i < end:
            if left[i] != right[j]:
                return False
            i += _1
            j += _1
        return True
    while i + _8 <= end:
        if little_word(left, i) != little_word(right, j):
            return False
        i += _8
        j += _8
    back = i + _8 - end  # the last word overlaps the one before it
    return little_word(left, i - back) == little_word(right, j - back)


@helper
def find_slot(slots, texts, offsets, kinds, kind, buf, start, length, hashed):
    """The slot (u64) that holds the term, or the empty slot where it would be put."""
    size = np.uint64(slots.size)
    tag = hashed & _LOW
    at = slot_of(hashed, size)
    while slots[at] != _0:
        if slots[at] >> _32 == tag:
            term = (slots[at] & _LOW) - _1
            first = offsets[term]
            if offsets[term + _1] - first == length and kinds[term] == kind:
                if same_bytes(texts, first, buf, start, length):
                    return at
        at += _1
        if at == size:
            at = _0
    return at


@kernel("void(u8r, i64r, i64r, u8r, u64w)")
def hash_terms(buf, starts, lengths, kinds, out):
    """Write the hash of each span to `out`."""
    for i in range(starts.size):
        out[i] = hash_bytes(kinds[i], buf, starts[i], starts[i] + lengths[i])


@kernel("void(u64r, i64, u64w)")
def fill_slots(hashes, first, slots):
    """Put the terms first, first + 1, ... with these hashes into `slots`; none is in there yet."""
    size = np.uint64(slots.size)
    for i in range(hashes.size):
        at = slot_of(hashes[i], size)
        while slots[at] != _0:
            at += _1
            if at == size:
                at = _0
        slots[at] = (hashes[i] << _32) | np.uint64(first + i + 1)


@kernel("void(u8r, i64r, i64r, u8r, u64r, u64r, u8r, u64r, u8r, i64, u32w)")
def find_terms(buf, starts, lengths, kinds, hashes, slots, texts, offsets, own_kinds, base, out):
    """Where out[i] is 0, write `base` + number of the i-th span among the terms; 0 if absent."""
    for i in range(starts.size):
        if out[i] == 0:
            start = np.uint64(starts[i])
            length = np.uint64(lengths[i])
            at = find_slot(
                slots, texts, offsets, own_kinds, kinds[i], buf, start, length, hashes[i]
            )
            if slots[at] != _0:
                out[i] = np.uint32(base + np.int64((slots[at] & _LOW) - _1))


@kernel("i64(u8r, i64r, i64r, u8r, u64r, i64, i64w, u64w, u8w, u64w, u8w, u64w, u32w)")
def collect_terms(
    buf, starts, lengths, kinds, hashes, begin, size, slots, texts, offsets, own_kinds, kept, out
):
    """Number the spans from the `begin`-th on, adding those that are new; return where it stopped.

    size  : [0] is the number of terms; updated. The text of the next goes to offsets[size[0]].
    kept  : the hashes of the terms, for growing `slots`.
    out   : number + 1 of the term of each span.
    Stops early when a table is too small for the next new term: `slots` is filled to 5/8.
    """
    most = min(slots.size // 8 * 5, kept.size, own_kinds.size, offsets.size - 1)
    room = np.uint64(texts.size)
    for i in range(begin, starts.size):
        start = np.uint64(starts[i])
        length = np.uint64(lengths[i])
        at = find_slot(slots, texts, offsets, own_kinds, kinds[i], buf, start, length, hashes[i])
        if slots[at] == _0:
            term = size[0]
            to = offsets[term]
            if term >= most or to + length > room:
                return i
            for j in range(length):
                texts[to + j] = buf[start + j]
            offsets[term + 1] = to + length
            own_kinds[term] = kinds[i]
            kept[term] = hashes[i]
            slots[at] = (hashes[i] << _32) | np.uint64(term + 1)
            size[0] = term + 1
        out[i] = np.uint32(slots[at] & _LOW)
    return starts.size


@kernel("void(u8r, i64r, i64r, i64r, u8w)")
def copy_spans(buf, starts, lengths, places, out):
    """Copy each span of `buf` to its place in `out`."""
    for i in range(starts.size):
        start = np.uint64(starts[i])
        place = np.uint64(places[i])
        for j in range(np.uint64(lengths[i])):
            out[place + j] = buf[start + j]

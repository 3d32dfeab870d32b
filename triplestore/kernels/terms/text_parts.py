"""Kernels on many texts at once: where literals end, what a text contains, parts and cases of it.

Texts come as spans of a buffer, `buf[starts[i] : starts[i] + lengths[i]]`, in UTF-8, where a
substring of bytes is one of characters. Always true: nothing outside of the spans decides a
result. Callers cut their input into calls of some ten milliseconds. Costs 5 to 20 ns a text, and
about 0.3 ns per byte that is searched.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import helper, kernel
from triplestore.kernels.terms.hashing import hash_bytes, little_word, slot_of
from triplestore.kernels.terms.term_tables import same_bytes

_0 = np.uint64(0)
_1 = np.uint64(1)
_2 = np.uint64(2)
_8 = np.uint64(8)
_32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_EACH = np.uint64(0x0101010101010101)
_TOPS = np.uint64(0x8080808080808080)
_QUOTE = np.uint8(34)
_TAGGED = np.uint8(4)
_TYPED = np.uint8(5)
_RECENT = np.uint64(63)
_FIRST_END = 8


@kernel("i64(u8r, i64r, i64r, u8r, i64, u8r, i64r, u16w, u16w, i64w)")
def split_literals(buf, starts, lengths, kinds, first, ends, places, recent, shapes, sizes):
    """Write shape and length of the lexical form of each term from `first` on; stop at one with
    an unknown end, whose lexical form has the length in `sizes`. Returns where it stopped.

    ends    the known ends of literals, from the quotation mark on: end k is
            ends[places[k] : places[k + 1]], and its shape 8 + k; other terms have their kind
    recent  64 shapes of ends that were found last, 0 for none
    """
    known = places.size - 1
    for i in range(first, starts.size):
        kind = kinds[i]
        if kind != _TAGGED and kind != _TYPED:
            shapes[i] = kind
            sizes[i] = lengths[i]
            continue
        start = np.uint64(starts[i])
        stop = start + np.uint64(lengths[i])
        at = stop - _1
        while at > start and buf[at] != _QUOTE:
            at -= _1
        length = stop - at
        sizes[i] = np.int64(at - start)
        here = (length * _8 + np.uint64(buf[stop - _1]) + np.uint64(buf[stop - _2])) & _RECENT
        shape = np.int64(recent[here])
        if shape == 0 or not _is_end(buf, at, length, ends, places, shape - _FIRST_END):
            shape = 0
            for k in range(known):
                if _is_end(buf, at, length, ends, places, k):
                    shape = k + _FIRST_END
                    break
            if shape == 0:
                return i
            recent[here] = shape
        shapes[i] = shape
    return starts.size


@helper
def _is_end(buf, at, length, ends, places, k):
    there = np.uint64(places[k])
    if np.uint64(places[k + 1]) - there != length:
        return False
    return same_bytes(buf, at, ends, there, length)


@kernel("void(u8r, i64r, i64r, i64w)")
def count_characters(buf, starts, lengths, out):
    """The number of characters of each text: of its bytes that do not continue one."""
    for i in range(starts.size):
        start = np.uint64(starts[i])
        count = 0
        for j in range(np.uint64(lengths[i])):
            count += (buf[start + j] & np.uint8(0xC0)) != np.uint8(0x80)
        out[i] = count


# --- searching -----------------------------------------------------------------------------------


@kernel("void(u8r, i64r, i64r, u8r, i64r, i64r, i64w)")
def find_parts(buf, starts, lengths, other, other_starts, other_lengths, out):
    """Where text i of the second texts occurs first in text i of the first ones; -1 if nowhere."""
    for i in range(starts.size):
        start = np.uint64(starts[i])
        size = np.uint64(lengths[i])
        part = np.uint64(other_starts[i])
        length = np.uint64(other_lengths[i])
        out[i] = -1
        if length <= size:
            at = _find(buf, start, start + size, other, part, length)
            if at <= start + size:
                out[i] = np.int64(at - start)


@helper
def _find(buf, start, stop, other, part, length):
    """The place of the part in buf[start:stop]; stop + 1 if it does not occur there.

    Eight places are looked at together, as long as the words read lie in the buffer: a place is a
    candidate if the first and the last byte of the part are where they should be.
    """
    if length == _0:
        return start
    at = start
    last = stop - length
    first_byte = np.uint64(other[part]) * _EACH
    last_byte = np.uint64(other[part + length - _1]) * _EACH
    end = np.uint64(buf.size)
    while at <= last:
        if at + length + _8 <= end:
            differ = little_word(buf, at) ^ first_byte
            differ |= little_word(buf, at + length - _1) ^ last_byte
            if (differ - _EACH) & ~differ & _TOPS == _0:
                at += _8
                continue
        steps = min(last + _1, at + _8)
        while at < steps:
            if buf[at] == other[part] and same_bytes(buf, at, other, part, length):
                return at
            at += _1
    return stop + _1


@kernel("void(u8r, i64r, i64r, u8r, i64r, i64r, i64w)")
def compare_parts(buf, starts, lengths, other, other_starts, other_lengths, out):
    """-1, 0 or 1: text i of the first texts is less than, equal to or greater than the other."""
    for i in range(starts.size):
        at = np.uint64(starts[i])
        there = np.uint64(other_starts[i])
        size = min(np.uint64(lengths[i]), np.uint64(other_lengths[i]))
        found = np.int64(lengths[i] > other_lengths[i]) - np.int64(lengths[i] < other_lengths[i])
        for j in range(size):
            if buf[at + j] != other[there + j]:
                found = 1 if buf[at + j] > other[there + j] else -1
                break
        out[i] = found


# --- parts and cases -----------------------------------------------------------------------------


@kernel("void(u8r, i64w, i64w, i64, i64)")
def cut_characters(buf, starts, lengths, first, last):
    """Narrow each text to its characters from `first` (0 or more) to `last` - 1."""
    for i in range(starts.size):
        start = np.uint64(starts[i])
        stop = start + np.uint64(lengths[i])
        begin = _skip(buf, start, stop, first)
        end = _skip(buf, begin, stop, last - first)
        starts[i] = np.int64(begin)
        lengths[i] = np.int64(end - begin)


@helper
def _skip(buf, at, stop, count):
    """The place `count` characters after `at`, at most `stop`."""
    while count > 0 and at < stop:
        at += _1
        while at < stop and (buf[at] & np.uint8(0xC0)) == np.uint8(0x80):
            at += _1
        count -= 1
    return at


@kernel("void(u8r, i64r, i64r, i64r, i64, u8w, u8w)")
def change_case(buf, starts, lengths, places, lower, out, others):
    """Write each text in capitals (or lower case) to its place in `out`, as far as it is ASCII;
    mark the texts that have other characters."""
    base = np.uint8(65 if lower else 97)
    for i in range(starts.size):
        start = np.uint64(starts[i])
        place = np.uint64(places[i])
        seen = np.uint8(0)
        for j in range(np.uint64(lengths[i])):
            c = buf[start + j]
            seen |= c
            out[place + j] = c ^ (
                np.uint8(32) if np.uint8(c - base) < np.uint8(26) else np.uint8(0)
            )
        others[i] = seen >> np.uint8(7)


# --- numbering -----------------------------------------------------------------------------------


@kernel("i64(u8r, i64r, i64r, u16r, i64, i64, i64, u64w, i64w, i64w)")
def number_texts(buf, starts, lengths, shapes, first, stop, count, slots, codes, firsts):
    """Number the distinct ones of the texts first .. stop - 1 with their shapes by their first
    appearance, from `count` on; return how many there are then.

    slots   at first empty; more than there are texts
    firsts  the first text of each number
    """
    size = np.uint64(slots.size)
    for i in range(first, stop):
        start = np.uint64(starts[i])
        length = np.uint64(lengths[i])
        hashed = hash_bytes(shapes[i], buf, start, start + length)
        at = slot_of(hashed, size)
        code = count
        while slots[at] != _0:
            if slots[at] >> _32 == hashed & _LOW:
                number = np.int64(slots[at] & _LOW) - 1
                row = firsts[number]
                if shapes[row] == shapes[i] and lengths[row] == lengths[i]:
                    if same_bytes(buf, np.uint64(starts[row]), buf, start, length):
                        code = number
                        break
            at += _1
            if at == size:
                at = _0
        if code == count:
            firsts[count] = i
            count += 1
            slots[at] = (hashed << _32) | np.uint64(count)
        codes[i] = code
    return count

"""The 64-bit hash of a term, for kernels; `triplestore.terms.hashing` is the same in plain Python.

Start at `hash_bytes`. Always true: the hash depends on the kind and the bytes of a term only, is
the same on every machine and in every version of the format (segments on disk contain slots made
from it), and never identifies the term: after equal hashes the bytes are compared.
Costs about 4 cycles per word of 8 bytes and 10 cycles per term.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import helper

# Odd 64-bit constants: MIX of the golden ratio, STEP of the polynomial, the last two of murmur3.
MIX = np.uint64(0x9E3779B97F4A7C15)
STEP = np.uint64(0xD6E8FEB86659FD93)
END_1 = np.uint64(0xFF51AFD7ED558CCD)
END_2 = np.uint64(0xC4CEB9FE1A85EC53)

_0 = np.uint64(0)
_1 = np.uint64(1)
_2 = np.uint64(2)
_3 = np.uint64(3)
_4 = np.uint64(4)
_5 = np.uint64(5)
_6 = np.uint64(6)
_7 = np.uint64(7)
_8 = np.uint64(8)
_16 = np.uint64(16)
_24 = np.uint64(24)
_29 = np.uint64(29)
_32 = np.uint64(32)
_33 = np.uint64(33)
_40 = np.uint64(40)
_48 = np.uint64(48)
_56 = np.uint64(56)
_64 = np.uint64(64)


@helper
def little_word(buf, i):
    """The 8 bytes from `buf[i]`, first byte lowest; `i` is a u64 (one load in machine code)."""
    return (
        np.uint64(buf[i])
        | np.uint64(buf[i + _1]) << _8
        | np.uint64(buf[i + _2]) << _16
        | np.uint64(buf[i + _3]) << _24
        | np.uint64(buf[i + _4]) << _32
        | np.uint64(buf[i + _5]) << _40
        | np.uint64(buf[i + _6]) << _48
        | np.uint64(buf[i + _7]) << _56
    )


@helper
def big_word(buf, i):
    """The 8 bytes from `buf[i]`, first byte highest, so that words compare as the bytes do."""
    return (
        np.uint64(buf[i]) << _56
        | np.uint64(buf[i + _1]) << _48
        | np.uint64(buf[i + _2]) << _40
        | np.uint64(buf[i + _3]) << _32
        | np.uint64(buf[i + _4]) << _24
        | np.uint64(buf[i + _5]) << _16
        | np.uint64(buf[i + _6]) << _8
        | np.uint64(buf[i + _7])
    )


@helper
def little_tail(buf, first, i, stop):
    """The last `stop - i` (1 to 7) bytes, padded with zeros, of a term that starts at `first`."""
    if first + _8 <= stop:  # one load that ends where the term ends, shifted
        return little_word(buf, stop - _8) >> (_64 - ((stop - i) << _3))
    word = _0
    shift = _0
    while i < stop:
        word |= np.uint64(buf[i]) << shift
        shift += _8
        i += _1
    return word


@helper
def mix_word(word):
    """A bijection of words under which neighbouring words become unrelated."""
    word = (word ^ (word >> _32)) * MIX
    return word ^ (word >> _29)


@helper
def hash_bytes(kind, buf, start, stop):
    """The hash (u64) of the term of this kind whose text is `buf[start:stop]`.

    A polynomial in STEP whose coefficients are the mixed words of the text, mixed at the end;
    so plain Python can compute the hash of a long term with whole-array operations.
    """
    first = np.uint64(start)
    end = np.uint64(stop)
    i = first
    total = (np.uint64(kind) * MIX) ^ (end - first)
    while i + _8 <= end:
        total = total * STEP + mix_word(little_word(buf, i))
        i += _8
    if i < end:
        total = total * STEP + mix_word(little_tail(buf, first, i, end))
    total = (total ^ (total >> _33)) * END_1
    total = (total ^ (total >> _33)) * END_2
    return total ^ (total >> _33)


@helper
def slot_of(hashed, slots):
    """The slot where the search for a hash starts, by multiplication instead of division.

    Uses the high 32 bits of the hash, so that the low 32 can serve as the tag in the slot.
    """
    return ((hashed >> _32) * slots) >> _32

"""The hash of a term in plain Python and in numpy, for small inputs.

`hash_key` is for one term, `hash_texts` for a batch; both give exactly what the helper
`triplestore.kernels.terms.hashing.hash_bytes` gives inside kernels, without importing numba.
"""

from __future__ import annotations

import struct
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from triplestore.terms.thresholds import TERMS

U8 = NDArray[np.uint8]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]

MIX = 0x9E3779B97F4A7C15
STEP = 0xD6E8FEB86659FD93
END_1 = 0xFF51AFD7ED558CCD
END_2 = 0xC4CEB9FE1A85EC53

_MASK = 0xFFFFFFFFFFFFFFFF


def hash_key(key: bytes) -> int:
    """The 64-bit hash of a term key (kind byte, then text).

    >>> hex(hash_key(b"\\x01http://example.org/"))
    '0x93b2dc48b340a269'
    """
    return hash_text(key[0], key[1:])


def hash_text(kind: int, text: bytes) -> int:
    """The 64-bit hash of a term of this kind and text."""
    total = (kind * MIX & _MASK) ^ len(text)
    if len(text) > TERMS.long_text:
        total = _polynomial(total, text)
    else:
        count = (len(text) + 7) >> 3
        for word in struct.unpack(f"<{count}Q", text.ljust(count << 3, b"\0")):
            mixed = (word ^ (word >> 32)) * MIX & _MASK
            total = (total * STEP + (mixed ^ (mixed >> 29))) & _MASK
    total = (total ^ (total >> 33)) * END_1 & _MASK
    total = (total ^ (total >> 33)) * END_2 & _MASK
    return total ^ (total >> 33)


def hash_texts(buf: U8, starts: I64, lengths: I64, kinds: U8) -> U64:
    """The hashes of many terms, `buf[starts[i] : starts[i] + lengths[i]]`, without numba.

    Costs about 0.3 microseconds per term; kernels are 20 times as fast, but must be loaded.
    """
    words_of = (lengths + 7) >> 3
    total = _seeds(kinds, lengths)
    longest = int(words_of.max(initial=0))
    padded = np.concatenate([buf, np.zeros(8, np.uint8)])
    active = np.arange(len(starts))
    for depth in range(min(longest, TERMS.long_text >> 3)):
        active = active[words_of[active] > depth]
        total[active] = total[active] * np.uint64(STEP) + _mixed(
            _words_at(padded, starts[active] + 8 * depth, lengths[active] - 8 * depth)
        )
    _finish(total)
    for i in np.flatnonzero(lengths > TERMS.long_text):
        start = int(starts[i])
        text = buf[start : start + int(lengths[i])].tobytes()
        total[i] = np.uint64(hash_text(int(kinds[i]), text))
    return total


def slot_of(hashed: int, slots: int) -> int:
    """The slot where the search for a hash starts, in a table of this many slots."""
    return ((hashed >> 32) * slots) >> 32


def _seeds(kinds: U8, lengths: I64) -> U64:
    return cast(U64, (kinds.astype(np.uint64) * np.uint64(MIX)) ^ lengths.astype(np.uint64))


def _words_at(padded: U8, starts: I64, remaining: I64) -> U64:
    """The word at each start, of which `remaining` bytes count; the others become zero."""
    at = starts[:, None] + np.arange(8)
    words = cast(U64, padded[at].reshape(-1).view("<u8").astype(np.uint64, copy=False))
    unused = np.maximum(8 - remaining, 0).astype(np.uint64) << np.uint64(3)
    return cast(U64, (words << unused) >> unused)


def _mixed(words: U64) -> U64:
    words = (words ^ (words >> np.uint64(32))) * np.uint64(MIX)
    return words ^ (words >> np.uint64(29))


def _finish(total: U64) -> None:
    for constant in (END_1, END_2):
        total ^= total >> np.uint64(33)
        total *= np.uint64(constant)
    total ^= total >> np.uint64(33)


def _polynomial(total: int, text: bytes) -> int:
    """Continue Horner's rule over a long text, one piece at a time as a dot product."""
    whole = text.ljust((len(text) + 7) & ~7, b"\0")
    words: Any = np.frombuffer(whole, "<u8")
    for first in range(0, len(words), TERMS.hashed_words):
        mixed = _mixed(words[first : first + TERMS.hashed_words].astype(np.uint64))
        powers = np.full(len(mixed), STEP, np.uint64)
        powers[0] = 1
        powers = np.multiply.accumulate(powers)[::-1]
        step = pow(STEP, len(mixed), 1 << 64)
        total = (total * step + int((mixed * powers).sum(dtype=np.uint64))) & _MASK
    return total

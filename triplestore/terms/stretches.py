"""Stretches: ranges of ids whose terms have one kind and come in the order of their bytes.

Bulk loads number terms by kind and bytes, so a segment of one load is six stretches or fewer;
within a stretch terms compare by their ids, without their texts. Start at `stretches_of` (of one
segment) and `Stretches` (of a dictionary). Always true: within a stretch of a kind other than 0
each term sorts after the one before; a stretch of kind 0 promises nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from triplestore.terms.spans import U8, U32, U64, pieces, worth_kernels
from triplestore.terms.thresholds import TERMS


def stretches_of(texts: U8, offsets: U64, kinds: U8) -> U32:
    """Where the stretches of some terms begin; none if there are more than `most_stretches`.

    >>> texts = np.frombuffer(b"abba", np.uint8)
    >>> offsets, kinds = np.arange(5, dtype=np.uint64), np.array([1, 1, 1, 3], np.uint8)
    >>> stretches_of(texts, offsets, kinds).tolist()
    [0, 2, 3]
    """
    if len(kinds) == 0:
        return np.zeros(0, np.uint32)
    made = _by_kernel if worth_kernels(len(kinds)) else _one_by_one
    breaks = made(texts, offsets, kinds)
    if breaks is None:
        return np.zeros(0, np.uint32)
    return np.array([0, *breaks], np.uint32)


def starts_of_kinds(kinds: U8) -> U32:
    """The same for terms that are sorted by kind and bytes."""
    changes = np.flatnonzero(kinds[1:] != kinds[:-1]) + 1
    return np.array([0, *changes.tolist()], np.uint32)


def _by_kernel(texts: U8, offsets: U64, kinds: U8) -> list[int] | None:
    from triplestore.kernels.terms.sort_terms import order_breaks

    room = np.empty(TERMS.most_stretches, np.uint32)
    found: list[int] = []
    for lo, hi in pieces(np.diff(offsets).astype(np.int64)):
        lo = max(lo - 1, 0)  # the last term of the piece before is compared with the first
        count = order_breaks(texts, offsets[lo : hi + 1], kinds[lo:hi], room)
        found += (room[:count].astype(np.int64) + lo).tolist()
        if count < 0 or len(found) >= TERMS.most_stretches:
            return None
    return found


def _one_by_one(texts: U8, offsets: U64, kinds: U8) -> list[int] | None:
    raw, ends, listed = texts.tobytes(), offsets.tolist(), kinds.tolist()
    found: list[int] = []
    last = (0, b"")
    for place, kind in enumerate(listed):
        here = (kind, raw[ends[place] : ends[place + 1]])
        if place and (kind != last[0] or here[1] <= last[1]):
            found.append(place)
            if len(found) >= TERMS.most_stretches:
                return None
        last = here
    return found


class Stretches(NamedTuple):
    """The stretches of a dictionary, the ids of queries and 0 included.

    firsts  their first ids, increasing from 0 on
    kinds   the kind of each; 0 if terms must be looked at
    """

    firsts: U32
    kinds: tuple[int, ...]

    @classmethod
    def of(cls, parts: Sequence[tuple[int, int]]) -> Stretches:
        """Of the first id and the kind of each, of which neighbours of kind 0 are joined.

        >>> Stretches.of([(0, 0), (1, 0), (5, 3), (9, 0)])
        Stretches(firsts=array([0, 5, 9], dtype=uint32), kinds=(0, 3, 0))
        """
        kept = [parts[0]]
        for first, kind in parts[1:]:
            if kind or kept[-1][1]:
                kept.append((first, kind))
        return cls(np.array([first for first, _ in kept], np.uint32), tuple(k for _, k in kept))

    def whole(self, ids: U32) -> int | None:
        """The stretch that has all these ids; None if there are several, or no ids."""
        if len(ids) == 0:
            return None
        first = int(self.firsts.searchsorted(ids.min(), "right"))
        if first < len(self.firsts) and ids.max() >= self.firsts[first]:
            return None
        return first - 1

    def between(self, ids: U32) -> tuple[int, ...]:
        """The kinds of the stretches from the least of some ids to the greatest.

        >>> stretches = Stretches.of([(0, 0), (1, 1), (5, 2), (7, 3), (9, 0)])
        >>> stretches.between(np.array([6, 2], np.uint32))
        (1, 2)
        """
        if len(ids) == 0:
            return ()
        first, stop = self.firsts.searchsorted([ids.min(), ids.max()], "right").tolist()
        return self.kinds[first - 1 : stop]

    def numbers(self, ids: U32) -> NDArray[np.uint8] | NDArray[np.int64]:
        """The stretch of each id."""
        if len(self.firsts) > TERMS.compared_stretches:
            return self.firsts.searchsorted(ids, "right") - 1
        found = np.zeros(len(ids), np.uint8)
        for first in self.firsts[1:]:
            found += ids >= first
        return found

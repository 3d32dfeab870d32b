"""Spans: many terms as places in one buffer, the form in which batches of terms travel.

A batch is a `Spans`: term i has kind `kinds[i]`, text `buf[starts[i] : starts[i] + lengths[i]]`
and hash `hashes[i]`. Start at `spans_of_keys`. The rest are the steps every batch takes: cutting
it into pieces that a kernel does in some ten milliseconds, hashing, copying, making slots; each
in numpy for small batches and by kernel for large ones, with equal results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from triplestore.kernels.jit import is_loaded
from triplestore.terms.hashing import hash_texts
from triplestore.terms.thresholds import TERMS

U8 = NDArray[np.uint8]
U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
Bools = NDArray[np.bool_]


_TEXT = 64  # bytes of a text that are hashed as fast as a short text is looked at


def worth_kernels(rows: int) -> bool:
    """Whether a kernel is faster for this many rows, including loading numba (0.4 s) if needed."""
    return rows >= (TERMS.warm_rows if is_loaded() else TERMS.cold_rows)


class Spans(NamedTuple):
    """Terms as spans of one buffer; none of the arrays is written."""

    buf: U8
    starts: I64
    lengths: I64
    kinds: U8
    hashes: U64

    def part(self, lo: int, hi: int) -> Spans:
        """Views of the terms lo to hi."""
        _, starts, lengths, kinds, hashes = self
        return Spans(self.buf, starts[lo:hi], lengths[lo:hi], kinds[lo:hi], hashes[lo:hi])

    def pieces(self) -> Iterator[tuple[int, int]]:
        """The terms in pieces for one kernel call each."""
        return pieces(self.lengths)


def spans_of_keys(keys: Sequence[bytes]) -> Spans:
    """The terms of some keys, hashed; the buffer is new.

    >>> spans_of_keys([b"\\x01http://a", b"\\x03b"]).lengths.tolist()
    [8, 1]
    """
    return with_hashes(*texts_of_keys(keys))


def texts_of_keys(keys: Sequence[bytes]) -> tuple[U8, I64, I64, U8]:
    """Keys in one buffer: where the text of each begins in it, its length, and its kind."""
    sizes = np.fromiter(map(len, keys), np.int64, len(keys))
    starts = np.cumsum(sizes) - sizes
    buf = np.frombuffer(b"".join(keys) or b"\0", np.uint8)
    return buf, starts + 1, sizes - 1, buf[starts]


def with_hashes(buf: U8, starts: I64, lengths: I64, kinds: U8) -> Spans:
    """Spans of a buffer, with their hashes."""
    if not worth_kernels(max(len(starts), int(lengths.sum()) // _TEXT)):
        return Spans(buf, starts, lengths, kinds, hash_texts(buf, starts, lengths, kinds))
    from triplestore.kernels.terms.term_tables import hash_terms

    hashes = np.empty(len(starts), np.uint64)
    for lo, hi in pieces(lengths):
        hash_terms(buf, starts[lo:hi], lengths[lo:hi], kinds[lo:hi], hashes[lo:hi])
    return Spans(buf, starts, lengths, kinds, hashes)


def find_listed(spans: Spans, keys: Sequence[bytes], ids: Sequence[int], out: U32) -> None:
    """Write the id of each term that is among some keys to `out`, where `out` is 0."""
    if not keys:
        return
    hashes = spans_of_keys(keys).hashes
    order = np.argsort(hashes)
    places = np.searchsorted(hashes[order], spans.hashes)
    there = hashes[order][np.minimum(places, len(keys) - 1)] == spans.hashes
    for row in np.flatnonzero(there & (out == 0)).tolist():
        start = int(spans.starts[row])
        text = spans.buf[start : start + int(spans.lengths[row])].tobytes()
        key = bytes((int(spans.kinds[row]),)) + text
        place = int(places[row])
        while place < len(keys) and hashes[order[place]] == spans.hashes[row]:
            if keys[order[place]] == key:
                out[row] = ids[order[place]]
            place += 1


def pieces(lengths: I64) -> Iterator[tuple[int, int]]:
    """Ranges of rows, each small in rows and, if more than one row, small in bytes."""
    for lo in range(0, len(lengths), TERMS.piece_rows):
        part = lengths[lo : lo + TERMS.piece_rows]
        if int(part.sum()) <= TERMS.piece_bytes:
            yield lo, lo + len(part)
        else:
            yield from _by_bytes(part, lo)


def _by_bytes(part: I64, base: int) -> Iterator[tuple[int, int]]:
    ends = np.cumsum(part)
    lo = 0
    while lo < len(part):
        before = int(ends[lo - 1]) if lo else 0
        hi = max(lo + 1, int(ends.searchsorted(before + TERMS.piece_bytes, "right")))
        yield base + lo, base + hi
        lo = hi


def copy_texts(buf: U8, starts: I64, lengths: I64, out: U8, places: I64) -> None:
    """Copy each span of `buf` to its place in `out`."""
    if not worth_kernels(len(starts)):
        for lo in range(0, len(starts), TERMS.copied_rows):
            part = slice(lo, lo + TERMS.copied_rows)
            _copy_without_kernels(buf, starts[part], lengths[part], out, places[part])
        return
    from triplestore.kernels.terms.term_tables import copy_spans

    for lo, hi in pieces(lengths):
        copy_spans(buf, starts[lo:hi], lengths[lo:hi], places[lo:hi], out)


def _copy_without_kernels(buf: U8, starts: I64, lengths: I64, out: U8, places: I64) -> None:
    """Short texts byte by byte, all at once (0.04 us each); long ones one after the other."""
    total = int(lengths.sum())
    if total > TERMS.copied_bytes:
        spans = zip(starts.tolist(), lengths.tolist(), places.tolist(), strict=True)
        for start, length, place in spans:
            out[place : place + length] = buf[start : start + length]
        return
    before = lengths.cumsum() - lengths
    steps = np.arange(total)
    out[np.repeat(places - before, lengths) + steps] = buf[
        np.repeat(starts - before, lengths) + steps
    ]


def offsets_of(lengths: NDArray[Any]) -> U64:
    """Where texts of these lengths begin when one follows the other, and where the last ends."""
    offsets = np.zeros(len(lengths) + 1, np.uint64)
    np.cumsum(lengths, out=offsets[1:], dtype=np.uint64)
    return offsets


def slots_of(hashes: U64) -> U64:
    """The hash table of terms 0, 1, ... with these hashes, filled to 0.7."""
    size = min(len(hashes) * 10 // 7 + 2, max(0xFFFFFFFF, len(hashes) + 1))
    if not worth_kernels(len(hashes)):
        return _slots_by_sorting(hashes, size)
    from triplestore.kernels.terms.term_tables import fill_slots

    slots = np.zeros(size, np.uint64)
    for lo in range(0, len(hashes), TERMS.piece_rows):
        fill_slots(hashes[lo : lo + TERMS.piece_rows], lo, slots)
    return slots


def _slots_by_sorting(hashes: U64, size: int) -> U64:
    """The same table (with other neighbours in a cluster), laid out in the order of home slots."""
    shift = np.uint64(32)
    homes = ((hashes >> shift) * np.uint64(size) >> shift).astype(np.int64)
    order = np.argsort(homes, kind="stable")
    step = np.arange(len(homes))
    places = np.maximum.accumulate(homes[order] - step) + step
    entries = (hashes << shift) | (step + 1).astype(np.uint64)
    slots = np.zeros(size, np.uint64)
    fits = places < size
    slots[places[fits]] = entries[order[fits]]
    empty = iter(np.flatnonzero(slots[: len(hashes) + 1] == 0).tolist())
    for term in order[~fits].tolist():  # a cluster at the end goes on at the beginning
        slots[next(empty)] = entries[term]
    return cast(U64, slots)

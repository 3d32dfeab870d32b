"""The fast path: blocks of N-Triples or N-Quads through the kernel, into numbered terms and rows.

Start at `BlockParser`. Each worker thread has one and uses it for every block, so the memory of a
load does not depend on the size of its files. Always true: a piece of `pieces` is valid until the
next one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from triplestore.data_classes import data_class
from triplestore.kernels.documents import ntriples as kernels
from triplestore.terms.spans import Spans

from .thresholds import LOADING

U8 = NDArray[np.uint8]
I64 = NDArray[np.int64]
U32 = NDArray[np.uint32]

# Maximum rows and odd lines of one call of the kernel.
_ROWS = 1 << 15
_ODD = 1 << 12
_LF = 10


@data_class(frozen=False)
class Piece:
    """The result of one call of the kernel.

    `terms` are the distinct terms; `rows` has their numbers (from 1) in columns s, p, o, g, where
    g = 0 is the default graph; `odd` has `(start, stop, line)` of lines that pyoxigraph has to
    check, lines counted from the start of the block.
    """

    terms: Spans
    rows: U32
    odd: I64
    free: int  # from here on the buffer is unused

    def odd_lines(self) -> list[bytes]:
        """The text of the odd lines."""
        return [self.terms.buf[start:stop].tobytes() for start, stop, _ in self.odd.tolist()]


class BlockParser:
    """The buffers of one thread, and the kernel on them."""

    def __init__(self, block_bytes: int | None = None) -> None:
        self.lines = 0
        terms = LOADING.block_terms
        self._starts = np.empty(terms, np.int64)
        self._lengths = np.empty(terms, np.int64)
        self._kinds = np.empty(terms, np.uint8)
        self._hashes = np.empty(terms, np.uint64)
        self._slots = np.empty(2 * terms, np.uint32)
        self._rows = np.empty(4 * _ROWS, np.uint32)
        self._odd = np.empty(3 * _ODD, np.int64)
        self._spans = np.zeros(13, np.uint64)
        self._state = np.zeros(6, np.int64)
        self._buf: U8 = np.empty(0, np.uint8)
        self._slack = LOADING.block_slack
        self.reserve(LOADING.block_bytes if block_bytes is None else block_bytes)

    @property
    def capacity(self) -> int:
        """Maximum number of bytes of text, without the final line feed."""
        return (len(self._buf) - self._slack) // 2

    def reserve(self, text_bytes: int, used: int = 0) -> None:
        """Make room for this much text and as much again after it, keeping the used bytes."""
        if text_bytes > self.capacity:
            grown = np.empty(2 * text_bytes + self._slack, np.uint8)
            grown[:used] = self._buf[:used]
            self._buf = grown

    def text(self) -> memoryview:
        """The buffer for the text of the next block."""
        return self._buf.data[: self.capacity]

    def fill(self, text: bytes) -> int:
        """Take this text as the next block; returns its length."""
        self.reserve(len(text))
        self._buf[: len(text)] = np.frombuffer(text, np.uint8)
        return len(text)

    def pieces(self, length: int, flags: int, scope: bytes) -> Iterator[Piece]:
        """Parse the first `length` bytes of the text; `lines` is their number at the end."""
        if length and self._buf[length - 1] != _LF:
            self._buf[length] = _LF
            length += 1
        state = self._state
        prefix = np.frombuffer(scope, np.uint8)
        state[kernels.LINES] = 0
        at = 0
        while at < length:
            self._slots.fill(0)
            state[: kernels.LINES] = 0
            state[kernels.ROOM_END] = length
            state[kernels.LIMIT] = len(self._buf)
            stopped = kernels.parse_lines(
                self._buf, at, length, flags, prefix, self._slots, self._starts, self._lengths,
                self._kinds, self._hashes, self._rows, self._odd, self._spans, state,
            )  # fmt: skip
            if stopped == at:  # the labels of one line do not fit into the empty room
                self.reserve(2 * self.capacity + 1, length)
                continue
            at = stopped
            self.lines = int(state[kernels.LINES])
            yield self._piece()

    def _piece(self) -> Piece:
        rows, terms, odd = (int(count) for count in self._state[: kernels.LINES])
        return Piece(
            Spans(
                self._buf,
                self._starts[:terms],
                self._lengths[:terms],
                self._kinds[:terms],
                self._hashes[:terms],
            ),
            self._rows[: 4 * rows].reshape(rows, 4),
            self._odd[: 3 * odd].reshape(odd, 3),
            int(self._state[kernels.ROOM_END]),
        )

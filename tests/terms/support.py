"""What several tests of terms need: weak hashes, and columns that note what they verify."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from triplestore.checked_columns import Column
from triplestore.terms import dictionary_state, hashing, segment, spans
from triplestore.terms.segment import TermSegment

BLOCK = 32768


def weaken_hashes(monkeypatch, bits: int) -> None:
    """Make all hashes agree in all but a few bits, so that only bytes tell terms apart."""
    mask = ((1 << bits) - 1) << 61 - bits

    def weak_text(kind: int, text: bytes) -> int:
        return hashing.hash_text(kind, text) & mask

    def weak_spans(buf, starts, lengths, kinds):
        hashes = hashing.hash_texts(buf, starts, lengths, kinds) & np.uint64(mask)
        return spans.Spans(buf, starts, lengths, kinds, hashes)

    monkeypatch.setattr(segment, "hash_text", weak_text)
    monkeypatch.setattr(dictionary_state, "hash_text", weak_text)
    monkeypatch.setattr(spans, "with_hashes", weak_spans)
    monkeypatch.setattr(segment, "with_hashes", weak_spans)


class NotingGuard:
    """Notes which blocks of a column were verified."""

    def __init__(self) -> None:
        self.blocks: set[int] = set()

    def verify(self, start: int, stop: int) -> None:
        if start < stop:
            self.blocks.update(range(start // BLOCK, (stop - 1) // BLOCK + 1))

    def verified(self, start: int, stop: int) -> bool:
        return start >= stop or self.blocks >= set(range(start // BLOCK, (stop - 1) // BLOCK + 1))

    def verify_at(self, offsets: np.ndarray) -> None:
        self.blocks.update((offsets // BLOCK).tolist())

    def go_on(self) -> None:
        """Nothing beyond what is asked for."""


def stored(made: TermSegment) -> tuple[dict[str, np.ndarray], Callable[[str], Column]]:
    """The sections of a segment, and a `get` over copies of them."""
    sections = {name: array.copy() for name, array in made.sections().items()}
    return sections, lambda name: Column.of(sections[name])


def reopened(made: TermSegment) -> TermSegment:
    """The same segment through its sections."""
    return TermSegment.from_sections(made.first_id, made.count, stored(made)[1])

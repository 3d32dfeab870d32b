"""The collector: all terms of one load, numbered as they come, given their ids at the end.

Start at `TermCollector`. Blocks of parsed terms are added from any thread. Each distinct term is
copied once and gets a number at once, so that rows can be written. `seal` then gives every number
its id: known terms keep theirs; new ones are numbered by kind and bytes, in whatever order they
came, and become a segment. Costs about 30 bytes per distinct term beside its text, and at the end,
for a moment, 20 more and a copy of the text.
"""

from __future__ import annotations

import threading

import numpy as np

from triplestore.errors import StorageError
from triplestore.kernels.parallel import thread_count
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.growing_arrays import Growing
from triplestore.terms.segment import TermSegment
from triplestore.terms.sort_terms import sorted_terms
from triplestore.terms.spans import (
    I64,
    U8,
    U32,
    U64,
    Spans,
    copy_texts,
    offsets_of,
)
from triplestore.terms.thresholds import TERMS
from triplestore.terms.values.segment_values import ValueTable


class TermCollector:
    """Distinct terms, numbered from 1 on in the order of arrival."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._lock = threading.Lock()
        self._size = np.zeros(1, np.int64)
        self._slots: U64 = np.zeros(TERMS.collector_slots, np.uint64)
        rows = TERMS.collector_slots // 8 * 5
        self._texts = Growing(np.uint8, rows * 40)
        self._offsets = Growing(np.uint64, rows + 1)
        self._kinds = Growing(np.uint8, rows)
        self._hashes = Growing(np.uint64, rows)
        self._sealed = False

    def __len__(self) -> int:
        return int(self._size[0])

    @property
    def text_bytes(self) -> int:
        """The size of the texts of its terms."""
        return int(self._offsets.array[len(self)])

    def spans(self) -> Spans:
        """All its terms in the order of their numbers, from number 1 on; not while others add."""
        return self._spans(slice(0, len(self)))

    def add(self, buf: U8, starts: I64, lengths: I64, kinds: U8, hashes: U64) -> U32:
        """The numbers of terms given as spans of `buf`, repeated ones allowed; safe in threads."""
        spans = Spans(buf, starts, lengths, kinds, hashes)
        out = np.empty(len(starts), np.uint32)
        with self._lock:
            if self._sealed:
                raise AssertionError("the collector is sealed")
            for lo, hi in spans.pieces():
                self._add_piece(spans.part(lo, hi), out[lo:hi])
        return out

    def _add_piece(self, spans: Spans, out: U32) -> None:
        from triplestore.kernels.terms.term_tables import collect_terms

        done = 0
        while True:
            done = collect_terms(
                *spans,
                done,
                self._size,
                self._slots,
                self._texts.array,
                self._offsets.array,
                self._kinds.array,
                self._hashes.array,
                out,
            )
            if done == len(out):
                return
            self._make_room(int(spans.lengths[done]))

    def _make_room(self, length: int) -> None:
        """Make room for one more term of this length, and for many."""
        count = len(self)
        if count >= self._dictionary.max_id:
            raise StorageError(
                f"more than {count} distinct terms in one load: 32-bit ids allow no more"
            )
        self._texts.reserve(self.text_bytes + length)
        self._offsets.reserve(count + 2)
        self._kinds.reserve(count + 1)
        self._hashes.reserve(count + 1)
        if count >= len(self._slots) // 8 * 5:
            self._rebuild_slots(2 * len(self._slots))

    def _rebuild_slots(self, size: int) -> None:
        from triplestore.kernels.terms.term_tables import fill_slots

        self._slots = np.zeros(0, np.uint64)  # the old ones are not needed: hashes are kept
        self._slots = np.zeros(size, np.uint64)
        for lo in range(0, len(self), TERMS.piece_rows):
            fill_slots(
                self._hashes.array[lo : min(lo + TERMS.piece_rows, len(self))], lo, self._slots
            )

    def seal(self, threads: int | None = None) -> tuple[U32, TermSegment | None]:
        """The ids of all numbers (`ids[number]`; ids[0] is 0), and the segment of the new terms.

        New terms are numbered after all terms of the dictionary, which must not get others before
        the segment is added to it. The collector is empty afterwards.
        """
        with self._lock:
            if self._sealed:
                raise AssertionError("the collector is sealed")
            self._sealed = True
            try:
                return self._seal(threads or thread_count())
            finally:
                self._drop()

    def _seal(self, threads: int) -> tuple[U32, TermSegment | None]:
        count = len(self)
        ids = np.zeros(count + 1, np.uint32)
        if count == 0:
            return ids, None
        dictionary = self._dictionary
        first_id = dictionary.size + 1
        older = self._mark_known(ids[1:])
        self._slots = np.zeros(0, np.uint64)
        new = np.flatnonzero(ids[1:] == 0).astype(np.uint32)
        if len(new) == 0:
            return ids, None
        if first_id + len(new) - 1 > dictionary.max_id:
            raise StorageError(
                f"the dictionary is full: {first_id - 1} terms and {len(new)} more would go beyond "
                f"the {dictionary.max_id} that 32-bit ids allow"
            )
        new = sorted_terms(self._texts.array, self._offsets.array, self._kinds.array, new, threads)
        ids[new + np.int64(1)] = np.arange(first_id, first_id + len(new), dtype=np.uint32)
        arrays = self._sorted_arrays(new)
        self._drop()
        return ids, TermSegment.of_arrays(first_id, *arrays, older, dictionary, is_sorted=True)

    def _mark_known(self, ids: U32) -> list[ValueTable]:
        """Write the ids of known terms; return the values of all terms of the dictionary."""
        dictionary = self._dictionary
        segments = list(dictionary.segments)
        older = [segment.values for segment in segments]
        if dictionary.sealed_size < dictionary.size:  # live terms, as a segment for this once
            keys = dictionary.new_keys(dictionary.sealed_size, dictionary.size)
            live = TermSegment.from_keys(dictionary.sealed_size + 1, keys, older, dictionary)
            segments.append(live)
            older.append(live.values)
        for lo in range(0, len(ids), TERMS.piece_rows):
            part = slice(lo, lo + TERMS.piece_rows)
            spans = self._spans(part)
            for segment in segments:
                segment.find_many(spans, ids[part])
        return older

    def _spans(self, part: slice) -> Spans:
        stop = min(part.stop, len(self))
        offsets = self._offsets.array[part.start : stop + 1].astype(np.int64)
        kinds, hashes = self._kinds.array[part.start : stop], self._hashes.array[part.start : stop]
        return Spans(self._texts.array, offsets[:-1], np.diff(offsets), kinds, hashes)

    def _sorted_arrays(self, order: U32) -> tuple[U8, U64, U8, U64]:
        """Texts, offsets, kinds and hashes of some terms in this order: copies."""
        starts = self._offsets.array[order].astype(np.int64)
        lengths = self._offsets.array[order + np.int64(1)].astype(np.int64) - starts
        offsets = offsets_of(lengths)
        texts = np.empty(int(offsets[-1]), np.uint8)
        copy_texts(self._texts.array, starts, lengths, texts, offsets[:-1].astype(np.int64))
        return texts, offsets, self._kinds.array[order], self._hashes.array[order]

    def _drop(self) -> None:
        """Release the memory."""
        self._slots = np.zeros(0, np.uint64)
        self._size[0] = 0
        self._texts = self._kinds = Growing(np.uint8, 1)
        self._offsets = self._hashes = Growing(np.uint64, 1)

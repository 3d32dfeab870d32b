"""A sealed segment of the dictionary: terms with consecutive ids, never changed again.

Start at `TermSegment`. Always true: term i of a segment has id `first_id + i`; texts, offsets,
kinds and slots are laid out as `kernels.terms.term_tables` says; the arrays are frozen. A segment
from a file is opened by looking at its lengths only, and one look-up verifies and touches the few
blocks it needs, without numba. Costs 11.4 (slots) + 8 + 1 bytes a term beside its text, and what
`values` costs for the literals that have a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplestore.checked_columns import Column
from triplestore.errors import CorruptError
from triplestore.terms.hashing import hash_text, slot_of
from triplestore.terms.spans import (
    I64,
    U8,
    U32,
    U64,
    Bools,
    Spans,
    copy_texts,
    offsets_of,
    slots_of,
    spans_of_keys,
    with_hashes,
    worth_kernels,
)
from triplestore.terms.stretches import starts_of_kinds, stretches_of
from triplestore.terms.term_keys import TRIPLE
from triplestore.terms.thresholds import TERMS
from triplestore.terms.triples.part_columns import NO_PARTS, PartColumns
from triplestore.terms.values.canonical_ids import TermSource, build_values
from triplestore.terms.values.segment_values import ValueTable

_AHEAD = 4  # slots read at a time in a single look-up
_TOGETHER = 16  # slots of each term read at a time in a look-up of several
_COLUMNS = ("texts", "offsets", "kinds", "slots")
STRETCHES = "stretches"  # a section that older files do not have
_LOW = np.uint64(0xFFFFFFFF)
_VALUE = "value_"  # before the names of the sections of values


class TermSegment:
    """Terms first_id .. last_id, and the hash table that finds them.

    >>> segment = TermSegment.from_keys(7, [b"\\x01http://a", b"\\x03b"])
    >>> segment.key(8), segment.find(3, b"b"), segment.find(3, b"c")
    (b'\\x03b', 8, 0)
    """

    __slots__ = (
        "_kinds",
        "_offsets",
        "_slots",
        "_stretches",
        "_texts",
        "count",
        "first_id",
        "triples",
        "values",
    )

    def __init__(
        self,
        first_id: int,
        texts: Column,
        offsets: Column,
        kinds: Column,
        slots: Column,
        values: ValueTable,
        stretches: Column | None = None,
        triples: PartColumns | None = None,
    ) -> None:
        self.first_id = first_id
        self.count = len(kinds)
        self.values = values
        self.triples = triples  # None until they are asked for
        self._texts = texts
        self._offsets = offsets
        self._kinds = kinds
        self._slots = slots
        self._stretches = stretches  # None until they are asked for

    # --- making ---------------------------------------------------------------------------------

    @classmethod
    def build(
        cls,
        first_id: int,
        buf: U8,
        starts: I64,
        lengths: I64,
        kinds: U8,
        hashes: U64,
        older: Sequence[ValueTable] = (),
        source: TermSource | None = None,
    ) -> TermSegment:
        """The segment of these distinct terms, in this order; their texts are copied.

        `older` are the values of all segments before, `source` the dictionary that holds their
        terms: without them a literal's canonical id is looked for in this segment only.
        """
        offsets = offsets_of(lengths)
        texts = np.empty(int(offsets[-1]), np.uint8)
        copy_texts(buf, starts, lengths, texts, offsets[:-1].astype(np.int64))
        return cls.of_arrays(first_id, texts, offsets, kinds, hashes, older, source)

    @classmethod
    def of_arrays(
        cls,
        first_id: int,
        texts: U8,
        offsets: U64,
        kinds: U8,
        hashes: U64,
        older: Sequence[ValueTable] = (),
        source: TermSource | None = None,
        *,
        is_sorted: bool = False,
    ) -> TermSegment:
        """The segment of these arrays, which it keeps and freezes (but for the hashes).

        is_sorted  the caller sorted the terms by kind and bytes
        """
        starts = offsets.astype(np.int64)
        lengths = np.diff(starts)
        buf = texts if len(texts) else np.zeros(1, np.uint8)  # so that a start is a place in it
        values = build_values(first_id, buf, starts[:-1], lengths, kinds, older, source)
        del starts, lengths
        stretches = Column.of(starts_of_kinds(kinds)) if is_sorted else None
        triples = None if len(kinds) and int(kinds.max()) == TRIPLE else NO_PARTS
        columns = _columns(texts, offsets, kinds, slots_of(hashes))
        return cls(first_id, *columns, values, stretches, triples)

    @classmethod
    def from_keys(
        cls,
        first_id: int,
        keys: Sequence[bytes],
        older: Sequence[ValueTable] = (),
        source: TermSource | None = None,
    ) -> TermSegment:
        """The segment of these distinct keys, in this order."""
        return cls.build(first_id, *spans_of_keys(keys), older, source)

    @classmethod
    def merge(cls, segments: Sequence[TermSegment]) -> TermSegment:
        """One segment for several adjacent ones, given in the order of their ids."""
        ids = [segment.first_id for segment in segments[1:]]
        if ids != [segment.last_id + 1 for segment in segments[:-1]]:
            raise AssertionError(f"segments are not adjacent: {list(segments)}")
        lengths = np.concatenate([np.diff(s._offsets.all()) for s in segments]).astype(np.int64)
        texts = np.concatenate([segment._texts.all() for segment in segments])
        kinds = np.concatenate([segment._kinds.all() for segment in segments])
        offsets = offsets_of(lengths)
        hashes = with_hashes(texts, offsets[:-1].astype(np.int64), lengths, kinds).hashes
        columns = _columns(texts, offsets, kinds, slots_of(hashes))
        values = ValueTable.merge([segment.values for segment in segments])
        made = cls(segments[0].first_id, *columns, values)
        known = [segment.triples for segment in segments if segment.triples is not None]
        if len(known) == len(segments):
            made.triples = PartColumns.joined([part for part in known if len(part)] or [NO_PARTS])
        return made

    # --- storing --------------------------------------------------------------------------------

    def sections(self) -> dict[str, NDArray[Any]]:
        """The arrays to write to a file, by name: views."""
        arrays = {name: column.all() for name, column in zip(_COLUMNS, self._all(), strict=True)}
        values = {_VALUE + name: array for name, array in self.values.sections().items()}
        triples = self.triples if self.count_of_triples else None
        parts = triples.sections(self.first_id) if triples is not None else {}
        return {**arrays, STRETCHES: self._all_stretches(), **values, **parts}

    @classmethod
    def from_sections(
        cls, first_id: int, count: int, get: Callable[[str], Column], triples: int | None = None
    ) -> TermSegment:
        """The segment whose sections `get` returns; only their lengths are read.

        triples  the number of triple terms with known parts; None if the file does not say
        """
        texts, offsets, kinds, slots = map(get, _COLUMNS)
        if len(kinds) != count or len(offsets) != count + 1 or len(slots) <= count:
            raise CorruptError(
                f"a segment of {count} terms from id {first_id} has {len(kinds)} kinds, "
                f"{len(offsets)} offsets and {len(slots)} slots: restore the store from a backup"
            )
        values = ValueTable.from_sections(first_id, count, lambda name: get(_VALUE + name))
        made = cls(first_id, texts, offsets, kinds, slots, values, get(STRETCHES))
        if triples is not None:
            made.triples = PartColumns.in_segment(first_id, get) if triples else NO_PARTS
        return made

    # --- asking ---------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"<terms {self.first_id}..{self.last_id}>"

    @property
    def last_id(self) -> int:
        """The id of its last term."""
        return self.first_id + self.count - 1

    @property
    def nbytes(self) -> int:
        """Size of all its arrays."""
        return sum(column.nbytes for column in self._all()) + self.values.nbytes

    @property
    def count_of_triples(self) -> int | None:
        """The number of its triple terms, if all their parts are known; otherwise None."""
        known = self.triples
        return len(known) if known is not None and known.is_whole else None

    @property
    def text_bytes(self) -> int:
        """Size of the texts alone."""
        return self._texts.nbytes

    def stretches(self) -> list[tuple[int, int]]:
        """The first id and the kind of each stretch (see `stretches`); kind 0 if not known.

        >>> TermSegment.from_keys(7, [b"\\x01http://a", b"\\x01http://b", b"\\x03b"]).stretches()
        [(7, 1), (9, 3)]
        """
        starts = self._all_stretches().tolist()
        if not starts:
            return [(self.first_id, 0)]
        return [(self.first_id + start, self._kinds.at(start)) for start in starts]

    def _all_stretches(self) -> U32:
        if self._stretches is None:
            arrays = self._texts.all(), self._offsets.all(), self._kinds.all()
            self._stretches = Column.of(stretches_of(*arrays))
        return self._stretches.all()

    def key(self, term_id: int) -> bytes:
        """The key of one of its terms."""
        row = term_id - self.first_id
        start, stop = self._offsets[row : row + 2].tolist()
        return bytes((self._kinds.at(row),)) + self._texts[start:stop].tobytes()

    def keys(self, first_id: int, last_id: int) -> list[bytes]:
        """The keys of the terms first_id .. last_id, which are among its own."""
        lo, hi = first_id - self.first_id, last_id + 1 - self.first_id
        ends = self._offsets[lo : hi + 1].tolist()
        base = ends[0]
        texts = self._texts[base : ends[-1]].tobytes()
        kinds = self._kinds[lo:hi].tobytes()
        return [
            kinds[i : i + 1] + texts[ends[i] - base : ends[i + 1] - base] for i in range(hi - lo)
        ]

    def find(self, kind: int, text: bytes, hashed: int | None = None) -> int:
        """The id of a term, 0 if it is not among these."""
        if hashed is None:
            hashed = hash_text(kind, text)
        size = len(self._slots)
        tag = hashed & 0xFFFFFFFF
        at = slot_of(hashed, size)
        while True:
            for slot in self._slots.listed(at, at + _AHEAD):
                if slot == 0:
                    return 0
                if slot >> 32 == tag and self._is_at((slot & 0xFFFFFFFF) - 1, kind, text):
                    return int(self.first_id + (slot & 0xFFFFFFFF) - 1)
            at = at + _AHEAD if at + _AHEAD < size else 0

    def _is_at(self, row: int, kind: int, text: bytes) -> bool:
        start, stop = self._offsets.listed(row, row + 2)
        return (
            stop - start == len(text)
            and self._texts[start:stop].tobytes() == text
            and self._kinds.at(row) == kind
        )

    def find_many(self, spans: Spans, out: U32) -> None:
        """Write the id of each term that is among these to `out`, where `out` is 0."""
        wanted = np.flatnonzero(out == 0)
        verified = not self._texts.in_file or len(wanted) * TERMS.block_bytes >= self.nbytes
        if verified and worth_kernels(len(out)):
            self.probe(spans, self.first_id, out)
        elif len(wanted) > TERMS.found_singly:
            self._find_at_once(spans, wanted, out)
        else:
            buf, starts, lengths, kinds, hashes = spans
            for i in wanted.tolist():
                start = int(starts[i])
                text = buf[start : start + int(lengths[i])].tobytes()
                out[i] = self.find(int(kinds[i]), text, int(hashes[i]))

    def _find_at_once(self, spans: Spans, wanted: I64, out: U32) -> None:
        """`find` for the terms at these places, each step for all of them: only the blocks that
        they need are touched."""
        half, size, ahead = np.uint64(32), len(self._slots), np.arange(_TOGETHER)
        tags = spans.hashes[wanted] & _LOW
        at = ((spans.hashes[wanted] >> half) * np.uint64(size) >> half).astype(np.int64)
        while len(wanted):
            places = (at[:, None] + ahead) % size
            slots = self._slots.take(places.reshape(-1)).reshape(places.shape)
            filled = np.logical_and.accumulate(slots != 0, axis=1)
            likely, column = np.nonzero(filled & (slots >> half == tags[:, None]))
            on = filled[:, -1]
            if len(likely):
                rows = (slots[likely, column] & _LOW).astype(np.int64) - 1
                same = self._are_at(rows, spans, wanted[likely])
                out[wanted[likely[same]]] = (rows[same] + self.first_id).astype(np.uint32)
                on[likely[same]] = False
            wanted, tags, at = wanted[on], tags[on], at[on] + _TOGETHER

    def _are_at(self, rows: I64, spans: Spans, wanted: I64) -> Bools:
        """Whether the terms at these rows are the wanted ones."""
        starts = self._offsets.take(rows).astype(np.int64)
        stops = self._offsets.take(rows + 1).astype(np.int64)
        equal: Bools = (stops - starts == spans.lengths[wanted]) & (
            self._kinds.take(rows) == spans.kinds[wanted]
        )
        starts, stops, wanted = starts[equal], stops[equal], wanted[equal]
        lengths = stops - starts
        places = np.cumsum(lengths) - lengths
        own, given = np.empty((2, int(lengths.sum())), np.uint8)
        copy_texts(self._texts.spans(starts, stops), starts, lengths, own, places)
        copy_texts(spans.buf, spans.starts[wanted], lengths, given, places)
        differing = np.searchsorted(places, np.flatnonzero(own != given), "right") - 1
        equal[np.flatnonzero(equal)[differing]] = False
        return equal

    def probe(self, spans: Spans, base: int, out: U32) -> None:
        """The same, always by kernel, numbering the terms from `base`."""
        from triplestore.kernels.terms.term_tables import find_terms

        table = (self._slots.all(), self._texts.all(), self._offsets.all(), self._kinds.all())
        for lo, hi in spans.pieces():
            find_terms(*spans.part(lo, hi), *table, base, out[lo:hi])

    def kind(self, term_id: int) -> int:
        """The kind of one of its terms."""
        return self._kinds.at(term_id - self.first_id)

    def kinds_of(self, ids: U32) -> U8:
        """The kinds of terms that are among these."""
        return self._kinds.take(self._rows(ids))

    def of_kind(self, kind: int, since: int) -> Iterator[U32]:
        """The ids above `since` of its terms of one kind, ascending, in blocks."""
        for lo in range(max(0, since + 1 - self.first_id), self.count, TERMS.piece_rows):
            rows = np.flatnonzero(self._kinds[lo : lo + TERMS.piece_rows] == kind)
            if len(rows):
                yield (rows + (lo + self.first_id)).astype(np.uint32)

    def lengths_of(self, ids: U32) -> I64:
        """The lengths of the texts of terms that are among these."""
        rows = self._rows(ids)
        found: I64 = (self._offsets.take(rows + 1) - self._offsets.take(rows)).astype(np.int64)
        return found

    def spans_of(self, ids: U32) -> tuple[U8, I64, I64, U8]:
        """Texts of terms that are among these: the buffer, where each begins, lengths, kinds."""
        rows = self._rows(ids)
        starts = self._offsets.take(rows).astype(np.int64)
        stops = self._offsets.take(rows + 1).astype(np.int64)
        return self._texts.spans(starts, stops), starts, stops - starts, self._kinds.take(rows)

    def copy_texts(self, ids: U32, out: U8, places: I64) -> None:
        """Copy the texts of these terms to their places in `out`."""
        rows = self._rows(ids)
        starts = self._offsets.take(rows).astype(np.int64)
        stops = self._offsets.take(rows + 1).astype(np.int64)
        copy_texts(self._texts.spans(starts, stops), starts, stops - starts, out, places)

    def all_spans(self) -> Spans:
        """All its terms as spans, hashed anew."""
        offsets = self._offsets.all().astype(np.int64)
        return with_hashes(self._texts.all(), offsets[:-1], np.diff(offsets), self._kinds.all())

    def _rows(self, ids: U32) -> I64:
        return ids.astype(np.int64) - self.first_id

    def _all(self) -> tuple[Column, Column, Column, Column]:
        return self._texts, self._offsets, self._kinds, self._slots


def _columns(
    texts: U8, offsets: U64, kinds: U8, slots: U64
) -> tuple[Column, Column, Column, Column]:
    return Column.of(texts), Column.of(offsets), Column.of(kinds), Column.of(slots)

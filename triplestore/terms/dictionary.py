"""The dictionary: every term has an id, dense from 1 on, and keeps it.

Start at `Dictionary`. It is a list of sealed segments and, after them, a live table. Always true:
ids are dense; the id of a term is never given to another one (except after `truncate`: no reader
keeps the ids that it removes); a published state is only appended to, so that readers in any thread
need no lock. Every change takes the lock; there is only one writer at a time. Costs: a look-up of
one term takes about 2 us in the live table or if it was found before, 10 us in a segment, and 0.1
us per term in batches; 20 bytes per term beside its text, without values.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from triplestore.errors import StorageError
from triplestore.terms.dictionary_state import DictionaryState, LiveTable
from triplestore.terms.segment import TermSegment
from triplestore.terms.spans import I64, U8, U32, Spans, find_listed, worth_kernels
from triplestore.terms.stretches import Stretches
from triplestore.terms.term_keys import TRIPLE, Term, key_of
from triplestore.terms.thresholds import TERMS
from triplestore.terms.triples.find_parts import missing_parts, parts_of_segment
from triplestore.terms.triples.part_columns import PartColumns
from triplestore.terms.triples.split_triples import triple_keys
from triplestore.terms.values.segment_values import ValueColumn
from triplestore.terms.values.value_stack import ValueStack
from triplestore.thread_limits import look

FIRST_QUERY_ID = 0xF0000000
"""Ids from here on are never given by a dictionary: queries number terms of their own with them."""


_A_TERM = 4
"""The cost of adding a term relative to looking at one."""


class Dictionary:
    """Terms and their ids.

    >>> import pyoxigraph as ox
    >>> dictionary = Dictionary()
    >>> dictionary.encode([ox.NamedNode("http://a"), ox.Literal("b"), ox.NamedNode("http://a")])
    array([1, 2, 1], dtype=uint32)
    >>> dictionary.lookup(ox.Literal("b")), dictionary.lookup(ox.Literal("c"))
    (2, 0)
    >>> print(dictionary.term(2))
    "b"
    """

    max_id = FIRST_QUERY_ID - 1

    def __init__(self, segments: Sequence[TermSegment] = ()) -> None:
        self._lock = threading.RLock()
        self._frozen: set[int] = set()  # first ids of segments made here, from live terms
        _check_dense(segments, 1)
        after = segments[-1].last_id + 1 if segments else 1
        self._state = DictionaryState(tuple(segments), LiveTable(after, self))
        self.remembered: dict[int, Any] = {}
        """Objects derived from these terms by the last commits, for later ones. They may refer to
        the dictionary, so this is cleared when the dictionary is replaced or its store closed."""

    def __repr__(self) -> str:
        return f"<dictionary of {self.size} terms: {[*self.segments, self._state.live]}>"

    # --- what it is -----------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """The number of terms, which is the greatest id."""
        return self._state.live.last_id

    @property
    def segments(self) -> tuple[TermSegment, ...]:
        """The sealed segments, in the order of ids; those frozen from live terms among them."""
        return self._state.segments

    @property
    def sealed_size(self) -> int:
        """The greatest id in a segment."""
        return self._state.live.first_id - 1

    @property
    def nbytes(self) -> int:
        """Size of the segments in memory and in files."""
        return sum(segment.nbytes for segment in self.segments)

    @property
    def text_bytes(self) -> int:
        """Size of the texts of the terms in segments."""
        return sum(segment.text_bytes for segment in self.segments)

    # --- from terms to ids ----------------------------------------------------------------------

    def encode(self, terms: Iterable[Any]) -> U32:
        """The ids of terms (of pyoxigraph or rdflib); new terms get one."""
        return self.encode_keys([key_of(term) for term in terms])

    def encode_keys(self, keys: Sequence[bytes]) -> U32:
        """The ids of term keys; new ones get one: all of them or, on an error, none."""
        out = np.zeros(len(keys), np.uint32)
        with self._lock:
            mark = self.mark()
            try:
                for lo in range(0, len(keys), TERMS.encoded_keys):
                    look()
                    self._encode_chunk(
                        keys[lo : lo + TERMS.encoded_keys], out[lo : lo + TERMS.encoded_keys]
                    )
            except BaseException:
                self.truncate(mark)
                raise
        return out

    def encode_few(self, keys: Sequence[bytes]) -> list[int]:
        """The same as a list; few keys are encoded without arrays, which take longer than that."""
        if len(keys) > TERMS.single_look_ups:
            found: list[int] = self.encode_keys(keys).tolist()
            return found
        with self._lock:
            mark, ids = self.size, []
            try:
                for key in keys:
                    state = self._state
                    known = state.live.ids.get(key) or state.lookup(key)
                    ids.append(known or self._add(key))
                    if not known and key[0] == TRIPLE:
                        self.add_parts((key,))
            except BaseException:
                self.truncate(mark)
                raise
        return ids

    def _encode_chunk(self, keys: Sequence[bytes], out: U32) -> None:
        state = self._state
        known = state.live.ids.get
        ids = [known(key, 0) for key in keys]
        if 0 in ids:
            missing = list(dict.fromkeys(key for key, i in zip(keys, ids, strict=True) if not i))
            given = dict(zip(missing, state.lookup_sealed(missing).tolist(), strict=True))
            new = [key for key in missing if not given[key]]
            given.update(zip(new, self._add_all(new), strict=True))
            self.add_parts(new)
            ids = [i or given[key] for key, i in zip(keys, ids, strict=True)]
        out[:] = ids

    def add_parts(self, keys: Sequence[bytes]) -> None:
        """Add the missing parts of the triple terms among these keys, and the parts of those.

        So all parts of a triple term have ids, which `triple_runs` gives.
        """
        triples = triple_keys(keys)
        while triples:
            missing = missing_parts(triples, self.lookup_keys)
            for lo in range(0, len(missing), TERMS.encoded_keys):
                look()
                self._add_all(missing[lo : lo + TERMS.encoded_keys])
            triples = triple_keys(missing)

    def _add_all(self, keys: Sequence[bytes]) -> Iterable[int]:
        """Append new, distinct keys; their ids."""
        self._check_room(len(keys))
        if len(keys) < TERMS.sealed_batch or not worth_kernels(_A_TERM * len(keys)):
            state = self._state
            if len(state.live) + len(keys) <= TERMS.live_terms:
                return state.live.add_all(keys, state.values.tables)
            return [self._add(key) for key in keys]
        first = self.size + 1
        self._freeze(keys)
        return range(first, first + len(keys))

    def _add(self, key: bytes) -> int:
        state = self._state
        self._check_room(1)
        if len(state.live) >= TERMS.live_terms:
            self._freeze()
            state = self._state
        return state.live.add(key, state.values.tables)

    def _check_room(self, count: int) -> None:
        if self.size + count > self.max_id:
            raise StorageError(
                f"the dictionary is full: {self.size} terms and {count} more would go beyond the "
                f"{self.max_id} that 32-bit ids allow; `optimize` drops terms that nothing uses"
            )

    def lookup(self, term: Any) -> int:
        """The id of a term, 0 if it has none.

        Look up after taking the snapshot of the tables that is asked about: an id that a
        transaction took back may later belong to another term.
        """
        return self._state.lookup(key_of(term))

    def lookup_key(self, key: bytes) -> int:
        """The id of a term key, 0 if it has none."""
        return self._state.lookup(key)

    def lookup_keys(self, keys: Sequence[bytes]) -> U32:
        """The ids of term keys, 0 for those that have none."""
        return self._state.lookup_many(keys)

    def find_spans(self, spans: Spans, out: U32) -> None:
        """Write the ids that terms have here to `out`, where `out` is 0."""
        state = self._state
        for segment in state.segments:
            segment.find_many(spans, out)
        keys, first = state.live.keys[:], state.live.first_id
        find_listed(spans, keys, range(first, first + len(keys)), out)

    # --- from ids to terms ----------------------------------------------------------------------

    def key(self, term_id: int) -> bytes:
        """The key of an id."""
        return self._state.key(term_id)

    def term(self, term_id: int) -> Term:
        """The term of an id."""
        return self._state.term(term_id)

    @property
    def first_live(self) -> int:
        """The first id of the live table, whose terms are decoded one by one."""
        return self._state.live.first_id

    @property
    def seen(self) -> Mapping[int, Term]:
        """Recently decoded terms, by id."""
        return self._state.cached

    def keep(self, ids: U32, terms: Iterable[Term]) -> None:
        """Note that these ids, in increasing order, have these terms, for `seen`."""
        self._state.keep(ids, terms)

    def terms(self, ids: U32) -> list[Any]:
        """The terms of ids (`Term`), None for 0."""
        return self._state.terms(ids)

    def text(self, ids: U32) -> tuple[U8, I64, U8]:
        """The texts of ids: bytes, where each begins (and the last ends), and kinds; 0 is empty."""
        return self._state.text(ids)

    def spans(self, ids: U32) -> tuple[U8, I64, I64, U8]:
        """The texts of ids: a buffer, where each begins in it, its length, and kinds."""
        return self._state.spans(ids)

    def lengths(self, ids: U32) -> I64:
        """The bytes of the texts of ids, 0 for 0."""
        return self._state.lengths(ids)

    def kind(self, term_id: int) -> int:
        """The kind of the term of one existing id: ten times as fast as `kinds`."""
        return self._state.kind(term_id)

    def kinds(self, ids: U32) -> U8:
        """The kinds of the terms of ids, 0 for 0."""
        return self._state.kinds(ids)

    def of_kind(self, kind: int, since: int = 0) -> Iterator[U32]:
        """The ids above `since` of the terms of one kind, ascending, in blocks.

        >>> import pyoxigraph as ox
        >>> dictionary = Dictionary()
        >>> _ = dictionary.encode([ox.NamedNode("http://a"), ox.Literal("b"), ox.Literal("c")])
        >>> [block.tolist() for block in dictionary.of_kind(3)]
        [[2, 3]]
        """
        return self._state.of_kind(kind, since)

    def triple_runs(self) -> list[PartColumns]:
        """The triple terms and the ids of their parts, in runs of ascending ids."""
        state = self._state
        known = [self.know_parts(segment) for segment in state.segments]
        return [run for run in (*known, *state.live.triples(self.lookup_keys)) if len(run)]

    def know_parts(self, segment: TermSegment) -> PartColumns:
        """The parts of the triple terms of a segment, which it keeps."""
        if segment.triples is None:
            segment.triples = parts_of_segment(segment, self.find_spans)
        return segment.triples

    @property
    def stretches(self) -> Stretches:
        """The ranges of ids whose terms have one kind and compare by their ids."""
        return self._state.stretches

    @property
    def value_stack(self) -> ValueStack:
        """The values of all terms, for searches by value."""
        return self._state.values

    def values(self, ids: U32) -> ValueColumn:
        """The values of the terms of ids (numbers, dates, ...)."""
        return self._state.values.values(ids)

    def canonical(self, ids: U32) -> U32:
        """For each id the least id with the same value (XSD identity); most are their own."""
        return self._state.values.canonical(ids)

    # --- transactions and the journal -----------------------------------------------------------

    def mark(self) -> int:
        """The size, to which `truncate` can go back."""
        return self.size

    def truncate(self, mark: int) -> None:
        """Remove all terms with ids above `mark`; only those of a transaction that aborts."""
        with self._lock:
            state = self._state
            if mark >= state.live.first_id - 1:
                state.live.truncate(mark)
                return
            kept = [segment for segment in state.segments if segment.first_id <= mark]
            self._frozen &= {segment.first_id for segment in kept}
            if kept and kept[-1].last_id > mark:
                kept[-1] = self._part(kept[:-1], kept[-1], kept[-1].first_id, mark)
            self._state = DictionaryState(tuple(kept), LiveTable(mark + 1, self))

    def new_keys(self, since: int, upto: int) -> list[bytes]:
        """The keys of the ids since + 1 .. upto; both are marks."""
        state = self._state
        keys: list[bytes] = []
        for segment in state.segments:
            first, last = max(since + 1, segment.first_id), min(upto, segment.last_id)
            if first <= last:
                keys += segment.keys(first, last)
        first = state.live.first_id
        keys += state.live.keys[max(since + 1 - first, 0) : max(upto + 1 - first, 0)]
        return keys

    def copy(self, size: int | None = None) -> Dictionary:
        """Another dictionary of the first terms (all by default) with the same ids; sealed segments
        are shared.

        >>> one = Dictionary()
        >>> ids = one.encode_keys([b"\\x01http://a"])
        >>> other = one.copy()
        >>> other.encode_keys([b"\\x01http://b", b"\\x01http://a"]), one.size
        (array([2, 1], dtype=uint32), 1)
        """
        with self._lock:
            size = self.size if size is None else size
            made = Dictionary([segment for segment in self.segments if segment.last_id <= size])
            made.append_keys(made.size + 1, self.new_keys(made.size, size))
        return made

    def append_keys(self, first_id: int, keys: Sequence[bytes]) -> None:
        """Append new, distinct keys whose ids begin with `first_id`, as a journal lists them."""
        with self._lock:
            if first_id != self.size + 1:
                raise AssertionError(f"keys from id {first_id} do not follow {self.size} terms")
            self._check_room(len(keys))
            for lo in range(0, len(keys), TERMS.encoded_keys):
                self._add_all(keys[lo : lo + TERMS.encoded_keys])

    # --- segments -------------------------------------------------------------------------------

    def add_segment(self, segment: TermSegment) -> None:
        """Append a segment whose ids follow all others."""
        with self._lock:
            if segment.first_id != self.size + 1:
                raise AssertionError(f"{segment} does not follow {self.size} terms")
            self._check_room(segment.count)
            if len(self._state.live):
                self._freeze()
            live = LiveTable(segment.last_id + 1, self)
            self._state = self._state.succeeded_by((*self._state.segments, segment), live)

    def segment_of(self, first_id: int, last_id: int) -> TermSegment:
        """A segment, not added, of the terms first_id .. last_id; no segment lies across first_id.

        For checkpoints: terms of the journal become a file, and `replace` puts it in their place.
        """
        state = self._state
        before = [segment for segment in state.segments if segment.last_id < first_id]
        made: list[TermSegment] = []
        for segment in state.segments[len(before) :]:
            if segment.first_id > last_id:
                break
            if segment.last_id > last_id:
                segment = self._part([*before, *made], segment, segment.first_id, last_id)
            made.append(segment)
        first = state.live.first_id
        keys = state.live.keys[max(first_id - first, 0) : max(last_id + 1 - first, 0)]
        if keys:
            older = [segment.values for segment in (*before, *made)]
            made.append(TermSegment.from_keys(max(first, first_id), keys, older, self))
        whole = made[0] if len(made) == 1 else TermSegment.merge(made)
        if (whole.first_id, whole.last_id) != (first_id, last_id):
            raise AssertionError(f"{whole} is not {first_id}..{last_id}")
        self.know_parts(whole)
        return whole

    def replace(self, old: Sequence[TermSegment], new: TermSegment) -> None:
        """Put `new` in the place of the segments and live terms with its ids.

        `old` are segments that must be among those replaced: those that were merged.
        """
        with self._lock:
            state = self._state
            known = set(map(id, state.segments))
            if not all(id(s) in known and _covers(new, s) for s in old):
                raise AssertionError(f"{new} does not replace {list(old)}")
            if new.last_id > self.size:
                raise AssertionError(f"{new} goes beyond {self.size} terms")
            before = [s for s in state.segments if s.last_id < new.first_id]
            after = [s for s in state.segments if s.first_id > new.last_id]
            across = [s for s in state.segments if s.first_id <= new.last_id < s.last_id]
            parts = [self._part([*before, new], s, new.last_id + 1, s.last_id) for s in across]
            segments = (*before, new, *parts, *after)
            _check_dense(segments, 1)
            self._frozen &= {s.first_id for s in (*before, *after)}
            self._frozen |= {s.first_id for s in parts}
            sealed = new.last_id >= state.live.first_id
            live = state.live.after(new.last_id) if sealed else state.live
            self._state = state.succeeded_by(segments, live)

    def _part(
        self, before: Sequence[TermSegment], segment: TermSegment, first_id: int, last_id: int
    ) -> TermSegment:
        older = [other.values for other in before]
        return TermSegment.from_keys(first_id, segment.keys(first_id, last_id), older, self)

    def _freeze(self, more: Sequence[bytes] = ()) -> None:
        """Seal the live terms, and new ones after them, in memory; merge such segments while their
        sizes are similar."""
        state = self._state
        segments = list(state.segments)
        keys = [*state.live.keys, *more]
        made = TermSegment.from_keys(state.live.first_id, keys, state.values.tables, self)
        self._frozen.add(made.first_id)
        while segments and segments[-1].first_id in self._frozen:
            if segments[-1].count >= 2 * made.count:
                break
            self._frozen.discard(made.first_id)
            made = TermSegment.merge([segments.pop(), made])
        live = LiveTable(made.last_id + 1, self)
        self._state = state.succeeded_by((*segments, made), live)


def _check_dense(segments: Sequence[TermSegment], first_id: int) -> None:
    for segment in segments:
        if segment.first_id != first_id:
            raise AssertionError(f"{segment} should begin with id {first_id}")
        first_id = segment.last_id + 1


def _covers(outer: TermSegment, inner: TermSegment) -> bool:
    return outer.first_id <= inner.first_id and inner.last_id <= outer.last_id

"""The dictionary: every term has an id, dense from 1 on, and keeps it.

Start at `Dictionary`. It is a row of sealed segments and, after them, a live table. Always true:
ids are dense; the id of a term is never given to another (except after `truncate`, to which no
reader may cling); a state, once published, is only appended to, so that readers in any thread need
no lock. Whatever changes the dictionary takes its lock, and there is one writer at a time anyway.
Costs: a look-up of one term about 2 us in the live table or if it was found before, 10 us in a
segment; in batches 0.1 us a term; 20 bytes a term beside its text, values apart.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from triplestore.errors import StorageError
from triplestore.terms.hashing import hash_text
from triplestore.terms.live import LiveTable
from triplestore.terms.model import Term, key_of, term_of
from triplestore.terms.segment import TermSegment
from triplestore.terms.spans import I64, U8, U32, copy_texts, spans_of_keys
from triplestore.terms.value_stack import ValueStack
from triplestore.terms.values import Values

FIRST_QUERY_ID = 0xF0000000
"""Ids from here on are never given by a dictionary: queries number terms of their own with them."""

FREEZE_AT = 1 << 16
"""So many live terms are frozen into a segment in memory: a batch must not loop over more."""

_CHUNK = 1 << 14  # keys that are encoded at a time
_FEW = 16  # keys that are looked up, or ids that are decoded, one by one
_CACHED = 1 << 16  # terms and ids in each cache
_SHORT = 256  # bytes of a key that may be cached


class State:
    """What readers see at one time: segments, the live table after them, and caches for both."""

    __slots__ = ("bounds", "firsts", "found", "live", "segments", "terms", "values")

    def __init__(self, segments: tuple[TermSegment, ...], live: LiveTable) -> None:
        self.segments = segments
        self.live = live
        self.values = ValueStack(tuple(segment.values for segment in segments), live.values)
        self.firsts = [segment.first_id for segment in segments]
        self.bounds = np.array([*self.firsts, live.first_id], np.uint32)
        self.found: dict[bytes, int] = {}  # ids of sealed terms
        self.terms: dict[int, Term] = {}  # sealed terms

    def succeeded_by(self, segments: tuple[TermSegment, ...], live: LiveTable) -> State:
        """Another state in which all terms keep their ids, and the caches stay."""
        state = State(segments, live)
        state.found = self.found
        state.terms = self.terms
        return state

    def segment_at(self, term_id: int) -> TermSegment:
        """The segment that holds a sealed id."""
        return self.segments[bisect_right(self.firsts, term_id) - 1]

    def parts(self, ids: U32) -> list[tuple[TermSegment | LiveTable | None, Any]]:
        """Which rows of `ids` are in which segment or in the live table; None holds id 0."""
        if len(ids) == 0:
            return []
        if int(ids.max()) > self.live.last_id:
            raise IndexError(f"no term has id {int(ids.max())}; the last is {self.live.last_id}")
        homes = [None, *self.segments, self.live]
        home_of = np.searchsorted(self.bounds, ids, "right")
        first = int(home_of[0])
        if (home_of == first).all():
            return [(homes[first], slice(None))]
        return [(homes[h], np.flatnonzero(home_of == h)) for h in np.unique(home_of).tolist()]


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
        self._state = State(tuple(segments), LiveTable(after, self))

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
        """The ids of terms (of pyoxigraph or rdflib); those that have none yet get one."""
        return self.encode_keys([key_of(term) for term in terms])

    def encode_keys(self, keys: Sequence[bytes]) -> U32:
        """The ids of term keys; those that have none yet get one. All or, on an error, nothing."""
        out = np.zeros(len(keys), np.uint32)
        with self._lock:
            mark = self.mark()
            try:
                for lo in range(0, len(keys), _CHUNK):
                    self._encode_chunk(keys[lo : lo + _CHUNK], out[lo : lo + _CHUNK])
            except BaseException:
                self.truncate(mark)
                raise
        return out

    def _encode_chunk(self, keys: Sequence[bytes], out: U32) -> None:
        state = self._state
        known = state.live.ids.get
        ids = [known(key, 0) for key in keys]
        if 0 in ids:
            missing = list(dict.fromkeys(key for key, i in zip(keys, ids, strict=True) if not i))
            given = dict(zip(missing, _find_sealed(state, missing).tolist(), strict=True))
            for key in missing:
                given[key] = given[key] or self._add(key)
            ids = [i or given[key] for key, i in zip(keys, ids, strict=True)]
        out[:] = ids

    def _add(self, key: bytes) -> int:
        state = self._state
        self._check_room(1)
        if len(state.live) >= FREEZE_AT:
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
        return _lookup(self._state, key_of(term))

    def lookup_keys(self, keys: Sequence[bytes]) -> U32:
        """The ids of term keys, 0 for those that have none."""
        state = self._state
        if len(keys) <= _FEW:
            return np.array([_lookup(state, key) for key in keys], np.uint32)
        out = np.fromiter((state.live.ids.get(key, 0) for key in keys), np.uint32, len(keys))
        rows = np.flatnonzero(out == 0)
        out[rows] = _find_sealed(state, [keys[row] for row in rows.tolist()])
        return out

    # --- from ids to terms ----------------------------------------------------------------------

    def key(self, term_id: int) -> bytes:
        """The key of an id."""
        state = self._state
        row = term_id - state.live.first_id
        if row >= 0:
            if row >= len(state.live.keys):
                raise IndexError(f"no term has id {term_id}; the last is {self.size}")
            return state.live.keys[row]
        if term_id < 1:
            raise IndexError(f"no term has id {term_id}; ids begin with 1")
        return state.segment_at(term_id).key(term_id)

    def term(self, term_id: int) -> Term:
        """The term of an id."""
        state = self._state
        known = state.terms.get(term_id)
        if known is not None:
            return known
        key = self.key(term_id)
        if len(key) > _SHORT:
            return term_of(key)
        if term_id >= state.live.first_id:
            return _short_term(key)
        if len(state.terms) >= _CACHED:
            state.terms.clear()
        state.terms[term_id] = made = term_of(key)
        return made

    def terms(self, ids: U32) -> list[Any]:
        """The terms of ids (`Term`), None for 0."""
        if len(ids) <= _FEW:
            return [self.term(term_id) if term_id else None for term_id in ids.tolist()]
        distinct, places = np.unique(ids, return_inverse=True)
        buf, offsets, kinds = self.text(distinct)
        raw, ends = buf.tobytes(), offsets.tolist()
        made = [
            term_of(bytes((kind,)) + raw[ends[i] : ends[i + 1]]) if kind else None
            for i, kind in enumerate(kinds.tolist())
        ]
        return [made[place] for place in places.tolist()]

    def text(self, ids: U32) -> tuple[U8, I64, U8]:
        """The texts of ids: bytes, where each begins (and the last ends), and kinds; 0 is empty."""
        parts = self._state.parts(ids)
        lengths, kinds = np.zeros(len(ids), np.int64), np.zeros(len(ids), np.uint8)
        live: list[tuple[Any, U8, I64, I64]] = []
        for home, rows in parts:
            if isinstance(home, TermSegment):
                lengths[rows] = home.lengths_of(ids[rows])
                kinds[rows] = home.kinds_of(ids[rows])
            elif home is not None:
                distinct, places = np.unique(ids[rows], return_inverse=True)
                keys = [home.keys[i - home.first_id] for i in distinct.tolist()]
                spans = spans_of_keys(keys)
                live.append((rows, spans.buf, spans.starts[places], spans.lengths[places]))
                lengths[rows] = spans.lengths[places]
                kinds[rows] = spans.kinds[places]
        offsets = np.zeros(len(ids) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        out = np.empty(int(offsets[-1]), np.uint8)
        for home, rows in parts:
            if isinstance(home, TermSegment):
                home.copy_texts(ids[rows], out, offsets[:-1][rows])
        for rows, buf, starts, sizes in live:
            copy_texts(buf, starts, sizes, out, offsets[:-1][rows])
        return out, offsets, kinds

    def kinds(self, ids: U32) -> U8:
        """The kinds of the terms of ids, 0 for 0."""
        out = np.zeros(len(ids), np.uint8)
        for home, rows in self._state.parts(ids):
            if isinstance(home, TermSegment):
                out[rows] = home.kinds_of(ids[rows])
            elif home is not None:
                first, keys = home.first_id, home.keys
                out[rows] = [keys[term_id - first][0] for term_id in ids[rows].tolist()]
        return out

    @property
    def value_stack(self) -> ValueStack:
        """The values of all terms, for searches by value."""
        return self._state.values

    def values(self, ids: U32) -> Values:
        """What is known by value of the terms of ids (numbers, dates, ...)."""
        return self._state.values.values(ids)

    def canonical(self, ids: U32) -> U32:
        """For each id the least id with the same value (XSD identity); most are their own."""
        return self._state.values.canonical(ids)

    # --- transactions and the journal -----------------------------------------------------------

    def mark(self) -> int:
        """What `truncate` takes the dictionary back to: its size."""
        return self.size

    def truncate(self, mark: int) -> None:
        """Take back all terms with ids above `mark`; only those of a transaction that aborts."""
        with self._lock:
            state = self._state
            if mark >= state.live.first_id - 1:
                state.live.truncate(mark)
                return
            kept = [segment for segment in state.segments if segment.first_id <= mark]
            self._frozen &= {segment.first_id for segment in kept}
            if kept and kept[-1].last_id > mark:
                kept[-1] = self._part(kept[:-1], kept[-1], kept[-1].first_id, mark)
            self._state = State(tuple(kept), LiveTable(mark + 1, self))

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

    def append_keys(self, first_id: int, keys: Sequence[bytes]) -> None:
        """Append new, distinct keys whose ids begin with `first_id`, as a journal says."""
        with self._lock:
            if first_id != self.size + 1:
                raise AssertionError(f"keys from id {first_id} do not follow {self.size} terms")
            self._check_room(len(keys))
            for key in keys:
                self._add(key)

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

        For checkpoints: what the journal holds becomes a file, and `replace` puts it in place.
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

    def _freeze(self) -> None:
        """Seal the live terms in memory, and merge segments made so while they are of a size."""
        state = self._state
        segments = list(state.segments)
        made = TermSegment.from_keys(
            state.live.first_id, state.live.keys, state.values.tables, self
        )
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


def _lookup(state: State, key: bytes) -> int:
    known = state.live.ids.get(key) or state.found.get(key)
    if known or not state.segments:
        return known or 0
    kind, text = key[0], key[1:]
    hashed = hash_text(kind, text)
    for segment in state.segments:
        found = segment.find(kind, text, hashed)
        if found:
            if len(key) <= _SHORT:
                if len(state.found) >= _CACHED:
                    state.found.clear()
                state.found[key] = found
            return found
    return 0


def _find_sealed(state: State, keys: Sequence[bytes]) -> U32:
    if len(keys) <= _FEW or not state.segments:
        return np.array([_lookup(state, key) for key in keys], np.uint32)
    out = np.zeros(len(keys), np.uint32)
    spans = spans_of_keys(keys)
    for segment in state.segments:
        segment.find_many(spans, out)
    return out


@lru_cache(maxsize=_CACHED)
def _short_term(key: bytes) -> Term:
    return term_of(key)

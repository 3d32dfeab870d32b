"""A state of the dictionary: what readers see at one time, with all look-ups.

Start at `DictionaryState`. Always true: segments and, after them, the live table cover the ids from
1 on without a gap; a published state is only appended to (in its live table and its caches), so
that readers in any thread need no lock. The caches hold what cannot change while the state is in
use: ids and terms of segments, and keys that no segment has.

`LiveTable` has the newest terms, in plain Python, until they are sealed into a segment. Always
true: `keys[i]` is the key of id `first_id + i` and `ids[keys[i]]` is that id. One writer appends
while readers in other threads look: a key is in `keys` before it is in `ids`, so that an id that a
reader finds can always be decoded. Once as many texts were asked for as there are, they are also
kept in one buffer, from which many are taken at once (`texts`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from triplestore.terms.hashing import hash_text
from triplestore.terms.segment import TermSegment
from triplestore.terms.spans import I64, U8, U32, copy_texts, spans_of_keys, texts_of_keys
from triplestore.terms.stretches import Stretches
from triplestore.terms.term_keys import STRING, Term, term_of
from triplestore.terms.thresholds import TERMS
from triplestore.terms.triples.live_triples import LiveTriples
from triplestore.terms.triples.part_columns import PartColumns
from triplestore.terms.values.canonical_ids import TermSource
from triplestore.terms.values.segment_values import ValueTable
from triplestore.terms.values.value_stack import LiveValues, ValueStack

_CACHED = 1 << 16  # terms and ids in each cache


class DictionaryState:
    """Segments, the live table after them, and caches."""

    __slots__ = (
        "_stretches",
        "absent",
        "bounds",
        "cached",
        "firsts",
        "found",
        "live",
        "segments",
        "values",
    )

    def __init__(self, segments: tuple[TermSegment, ...], live: LiveTable) -> None:
        self.segments = segments
        self.live = live
        self.values = ValueStack(tuple(segment.values for segment in segments), live.values)
        self.firsts = [segment.first_id for segment in segments]
        self.bounds = np.array([*self.firsts, live.first_id], np.uint32)
        self.found: dict[bytes, int] = {}  # ids of sealed terms
        self.absent: set[bytes] = set()  # keys that none of these segments has
        self.cached: dict[int, Term] = {}  # sealed terms
        self._stretches: Stretches | None = None

    def succeeded_by(self, segments: tuple[TermSegment, ...], live: LiveTable) -> DictionaryState:
        """Another state in which all terms keep their ids, and the caches stay."""
        state = DictionaryState(segments, live)
        state.found = self.found
        state.cached = self.cached
        return state

    def segment_at(self, term_id: int) -> TermSegment:
        """The segment that holds a sealed id."""
        return self.segments[bisect_right(self.firsts, term_id) - 1]

    def parts(self, ids: U32) -> list[tuple[TermSegment | LiveTable | None, Any]]:
        """Which rows of `ids` are in which segment or in the live table; None holds id 0."""
        if len(ids) == 0:
            return []
        least, most = ids.min(), ids.max()
        if int(most) > self.live.last_id:
            raise IndexError(f"no term has id {int(most)}; the last is {self.live.last_id}")
        homes = [None, *self.segments, self.live]
        first, last = np.searchsorted(self.bounds, [least, most], "right").tolist()
        if first == last:
            return [(homes[first], slice(None))]
        home_of = np.searchsorted(self.bounds, ids, "right")
        return [(homes[h], np.flatnonzero(home_of == h)) for h in np.unique(home_of).tolist()]

    # --- from terms to ids ----------------------------------------------------------------------

    def lookup(self, key: bytes) -> int:
        """The id of a key, 0 if it has none."""
        known = self.live.ids.get(key) or self.found.get(key)
        if known or not self.segments or key in self.absent:
            return known or 0
        kind, text = key[0], key[1:]
        hashed = hash_text(kind, text)
        for segment in self.segments:
            found = segment.find(kind, text, hashed)
            if found:
                break
        else:
            found = 0
        self._remember((key,), (found,))
        return found

    def lookup_many(self, keys: Sequence[bytes]) -> U32:
        """The ids of keys, 0 for those that have none."""
        if len(keys) <= TERMS.single_look_ups:
            return np.array([self.lookup(key) for key in keys], np.uint32)
        live, found, absent = self.live.ids.get, self.found.get, self.absent
        ids = [live(key) or found(key, 0) for key in keys]
        rows = [row for row, known in enumerate(ids) if not known and keys[row] not in absent]
        if rows:
            unknown = [keys[row] for row in rows]
            sealed = self.lookup_sealed(unknown).tolist()
            for row, term_id in zip(rows, sealed, strict=True):
                ids[row] = term_id
            if len(rows) <= TERMS.remembered_keys:  # a vocabulary, which is asked for again
                self._remember(unknown, sealed)
        return np.array(ids, np.uint32)

    def _remember(self, keys: Iterable[bytes], ids: Iterable[int]) -> None:
        """Remember the ids that these keys have in segments, or that they have none. An id of the
        live table is left out: its transaction may remove it."""
        for key, term_id in zip(keys, ids, strict=True):
            if len(key) > TERMS.cached_text or term_id >= self.live.first_id:
                continue
            if term_id:
                if len(self.found) >= _CACHED:
                    self.found.clear()
                self.found[key] = term_id
            else:
                if len(self.absent) >= TERMS.absent_keys:
                    self.absent.clear()
                self.absent.add(key)

    def lookup_sealed(self, keys: Sequence[bytes]) -> U32:
        """The ids of keys that are not in the live table, 0 for those that have none."""
        if len(keys) <= TERMS.single_look_ups or not self.segments:
            return np.array([self.lookup(key) for key in keys], np.uint32)
        out = np.zeros(len(keys), np.uint32)
        spans = spans_of_keys(keys)
        for segment in self.segments:
            segment.find_many(spans, out)
        return out

    # --- from ids to terms ----------------------------------------------------------------------

    def key(self, term_id: int) -> bytes:
        """The key of an id."""
        row = term_id - self.live.first_id
        if row >= 0:
            if row >= len(self.live.keys):
                raise IndexError(f"no term has id {term_id}; the last is {self.live.last_id}")
            return self.live.keys[row]
        if term_id < 1:
            raise IndexError(f"no term has id {term_id}; ids begin with 1")
        return self.segment_at(term_id).key(term_id)

    def term(self, term_id: int) -> Term:
        """The term of an id."""
        known = self.cached.get(term_id)
        if known is not None:
            return known
        key = self.key(term_id)
        if len(key) > TERMS.cached_text:
            return term_of(key)
        if term_id >= self.live.first_id:
            return _short_term(key)
        if len(self.cached) >= _CACHED:
            self.cached.clear()
        self.cached[term_id] = made = term_of(key)
        return made

    def keep(self, ids: U32, terms: Iterable[Term]) -> None:
        """Cache the terms of ids in increasing order, those of them that are sealed."""
        sealed = ids[: int(ids.searchsorted(np.uint32(self.live.first_id)))]
        if len(self.cached) + len(sealed) > _CACHED:
            self.cached.clear()
        self.cached.update(zip(sealed.tolist(), terms, strict=False))

    def terms(self, ids: U32) -> list[Any]:
        """The terms of ids (`Term`), None for 0."""
        if len(ids) <= TERMS.single_look_ups:
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
        parts = self.parts(ids)
        lengths, kinds = np.zeros(len(ids), np.int64), np.zeros(len(ids), np.uint8)
        live: list[tuple[Any, U8, I64, I64]] = []
        for home, rows in parts:
            if isinstance(home, TermSegment):
                lengths[rows] = home.lengths_of(ids[rows])
                kinds[rows] = home.kinds_of(ids[rows])
            elif home is not None:
                buf, starts, sizes, kinds[rows] = home.texts(ids[rows])
                live.append((rows, buf, starts, sizes))
                lengths[rows] = sizes
        offsets = np.zeros(len(ids) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        out = np.empty(int(offsets[-1]), np.uint8)
        for home, rows in parts:
            if isinstance(home, TermSegment):
                home.copy_texts(ids[rows], out, offsets[:-1][rows])
        for rows, buf, starts, sizes in live:
            copy_texts(buf, starts, sizes, out, offsets[:-1][rows])
        return out, offsets, kinds

    def spans(self, ids: U32) -> tuple[U8, I64, I64, U8]:
        """The texts of ids: a buffer, where each begins in it, its length, and kinds; not copied
        if all are of one segment."""
        parts = self.parts(ids)
        if len(parts) == 1 and isinstance(parts[0][0], TermSegment):
            return parts[0][0].spans_of(ids)
        buf, offsets, kinds = self.text(ids)
        return buf, offsets[:-1], np.diff(offsets), kinds

    def lengths(self, ids: U32) -> I64:
        """The bytes of the texts of ids; 0 for 0."""
        out = np.zeros(len(ids), np.int64)
        for home, rows in self.parts(ids):
            if isinstance(home, TermSegment):
                out[rows] = home.lengths_of(ids[rows])
            elif home is not None:
                out[rows] = home.lengths(ids[rows])
        return out

    @property
    def stretches(self) -> Stretches:
        """The ranges of ids whose terms compare by their ids."""
        if self._stretches is None:
            parts = [part for segment in self.segments for part in segment.stretches()]
            self._stretches = Stretches.of([(0, 0), *parts, (self.live.first_id, 0)])
        return self._stretches

    def kind(self, term_id: int) -> int:
        """The kind of the term of one existing id."""
        row = term_id - self.live.first_id
        return self.live.keys[row][0] if row >= 0 else self.segment_at(term_id).kind(term_id)

    def kinds(self, ids: U32) -> U8:
        """The kinds of the terms of ids, 0 for 0."""
        out = np.zeros(len(ids), np.uint8)
        for home, rows in self.parts(ids):
            if isinstance(home, TermSegment):
                out[rows] = home.kinds_of(ids[rows])
            elif home is not None:
                out[rows] = home.kinds(ids[rows])
        return out

    def of_kind(self, kind: int, since: int) -> Iterator[U32]:
        """The ids above `since` of the terms of one kind, ascending, in blocks."""
        for segment in self.segments:
            if segment.last_id > since:
                yield from segment.of_kind(kind, since)
        first = max(self.live.first_id, since + 1)
        keys = self.live.keys[first - self.live.first_id :]
        found = [i for i, key in enumerate(keys, first) if key[0] == kind]
        if found:
            yield np.array(found, np.uint32)


@lru_cache(maxsize=_CACHED)
def _short_term(key: bytes) -> Term:
    return term_of(key)


class _Buffer(NamedTuple):
    """The first terms of a table in one buffer: where texts begin, their lengths, and kinds.

    version  that of the table: terms removed since then would still be in here
    """

    version: int
    buf: U8
    starts: I64
    lengths: I64
    kinds: U8


class LiveTable:
    """Terms first_id, first_id + 1, ... and their values."""

    __slots__ = ("_asked", "_buffer", "_triples", "_version", "first_id", "ids", "keys", "values")

    def __init__(self, first_id: int, source: TermSource) -> None:
        self.first_id = first_id
        self.keys: list[bytes] = []
        self.ids: dict[bytes, int] = {}
        self.values = LiveValues(source)
        self._forget()

    def __len__(self) -> int:
        return len(self.keys)

    def __repr__(self) -> str:
        return f"<live terms {self.first_id}..{self.last_id}>"

    @property
    def last_id(self) -> int:
        """The id of the newest term (first_id - 1 if there is none)."""
        return self.first_id + len(self.keys) - 1

    def add(self, key: bytes, tables: Sequence[ValueTable]) -> int:
        """Append a new term and return its id; `tables` are the values of all segments."""
        term_id = self.first_id + len(self.keys)
        self.values.add(term_id, key, tables)
        self.keys.append(key)
        self.ids[key] = term_id
        return term_id

    def add_all(self, keys: Sequence[bytes], tables: Sequence[ValueTable]) -> range:
        """The same for several."""
        first = self.first_id + len(self.keys)
        for term_id, key in enumerate(keys, first):
            if key[0] >= STRING:
                self.values.add(term_id, key, tables)
            self.keys.append(key)
            self.ids[key] = term_id
        return range(first, first + len(keys))

    def after(self, term_id: int) -> LiveTable:
        """A copy without the terms up to `term_id`, which are in a segment now."""
        rest = LiveTable.__new__(LiveTable)
        rest.first_id = term_id + 1
        rest.keys = self.keys[rest.first_id - self.first_id :]
        rest.ids = {key: i for i, key in enumerate(rest.keys, rest.first_id)}
        rest.values = self.values.after(term_id)
        rest._forget()
        return rest

    def _forget(self) -> None:
        self._buffer: _Buffer | None = None
        self._triples = LiveTriples()
        self._version = 0
        self._asked = 0  # texts since the buffer was made

    def triples(self, look_up: Callable[[Sequence[bytes]], U32]) -> tuple[PartColumns, ...]:
        """The parts of its triple terms, in runs; `look_up` finds the ids of keys."""
        version = self._version
        done = self._triples.done if self._triples.version == version else 0
        keys = self.keys[done:]
        self._triples = self._triples.followed_by(version, self.first_id + done, keys, look_up)
        return self._triples.runs

    def texts(self, ids: U32) -> tuple[U8, I64, I64, U8]:
        """Texts of some terms: a buffer, where each begins in it, its length, and its kind."""
        rows = ids - np.uint32(self.first_id)
        buffer = self._buffered(rows)
        if buffer is None:
            return texts_of_keys(list(map(self.keys.__getitem__, rows.tolist())))
        return buffer.buf, buffer.starts[rows], buffer.lengths[rows], buffer.kinds[rows]

    def lengths(self, ids: U32) -> I64:
        """The bytes of the texts of some terms."""
        rows = ids - np.uint32(self.first_id)
        buffer = self._buffered(rows)
        if buffer is None:
            sizes = map(len, map(self.keys.__getitem__, rows.tolist()))
            return np.fromiter(sizes, np.int64, len(rows)) - 1
        lengths: I64 = buffer.lengths[rows]
        return lengths

    def kinds(self, ids: U32) -> U8:
        """The kinds of some terms."""
        rows = ids - np.uint32(self.first_id)
        buffer = self._buffered(rows)
        if buffer is None:
            keys = map(self.keys.__getitem__, rows.tolist())
            return np.frombuffer(bytes([key[0] for key in keys]), np.uint8)
        kinds: U8 = buffer.kinds[rows]
        return kinds

    def _buffered(self, rows: U32) -> _Buffer | None:
        """The buffer with these rows, if it exists or is worth making now."""
        buffer, version = self._buffer, self._version
        if len(rows) == 0:
            return None
        if buffer is not None and buffer.version == version and rows.max() < len(buffer.starts):
            return buffer
        self._asked += len(rows)
        if self._asked < len(self.keys):
            return None
        self._asked = 0
        self._buffer = buffer = _Buffer(version, *texts_of_keys(self.keys[:]))
        return buffer

    def truncate(self, size: int) -> None:
        """Remove the terms with ids above `size`, also if Ctrl-C came while one was added."""
        self._version += 1
        self.values.truncate(size)
        for key in self.keys[size + 1 - self.first_id :]:
            self.ids.pop(key, None)
        del self.keys[size + 1 - self.first_id :]
        self._version += 1  # once more, for a reader that made its buffer in between
        self._buffer = None

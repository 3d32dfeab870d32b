"""Terms made by a query or a rule, with temporary ids next to those of the dictionary.

Start at `QueryTerms`. Always true: a term that the dictionary had at its first look-up has
its id from there, so that computed values join with stored ones by id; any other gets an id from
`FIRST_QUERY_ID` on, always the same one; 0 is not a term. `settle` gives such terms permanent ids
when a rule stores them. New terms are charged to the limits of the current thread
(`operators.context.current`), and stay charged. Threads may share an instance. Many strings made
at once are kept as a segment of terms, the others as keys.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Sequence
from operator import attrgetter
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplestore.expressions.shapes import Shapes
from triplestore.expressions.thresholds import EXPRESSIONS
from triplestore.operators.context import current
from triplestore.operators.row_keys import distinct_ids
from triplestore.terms.dictionary import FIRST_QUERY_ID, Dictionary
from triplestore.terms.segment import TermSegment
from triplestore.terms.spans import (
    I64,
    copy_texts,
    find_listed,
    spans_of_keys,
    texts_of_keys,
    with_hashes,
)
from triplestore.terms.term_keys import STRING, TYPED, Term, term_of
from triplestore.terms.values.encode_values import encode_texts
from triplestore.terms.values.segment_values import ValueColumn

U8: TypeAlias = NDArray[np.uint8]
U32: TypeAlias = NDArray[np.uint32]

_FIRST = np.uint32(FIRST_QUERY_ID)
_ENTRY = 150  # bytes per noted term, besides its key
_BLOCK_ENTRY = 30  # bytes per term in a block, besides its text
_BIG = 1 << 20


class QueryTerms:
    """A dictionary, and the terms that a query made.

    >>> import pyoxigraph as ox
    >>> dictionary = Dictionary()
    >>> known = dictionary.encode([ox.Literal("a")])
    >>> terms = QueryTerms(dictionary)
    >>> ids = terms.encode_keys([b"\\x03a", b"\\x03b", None])
    >>> ids.tolist() == [known[0], FIRST_QUERY_ID, 0]
    True
    >>> terms.settle(ids).tolist(), dictionary.size
    ([1, 2, 0], 2)
    """

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self.shapes = Shapes()
        """Kinds, languages and datatypes of terms that were looked at as columns of texts."""
        self._keys: list[bytes | None] = []  # None for a term that is in a block
        self._blocks: list[TermSegment] = []
        self._ids: dict[bytes, int] = {}
        self.settled_bytes = 0
        """The length of all keys that `settle` added to the dictionary."""
        self._lock = threading.Lock()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._keys)

    def detached(self) -> QueryTerms:
        """The same terms for a result that stays; those of the query are forgotten here, so that
        they are looked up again by another run.

        >>> terms = QueryTerms(Dictionary())
        >>> ids = terms.encode_keys([b"\\x03a"])
        >>> terms.detached().keys(ids), len(terms)
        ([b'\\x03a'], 0)
        """
        made = QueryTerms(self.dictionary)
        with self._lock:
            made._keys, self._keys = self._keys, []
            made._blocks, self._blocks = self._blocks, []
            made._ids, self._ids = self._ids, {}
            made._bytes, self._bytes = self._bytes, 0
        return made

    @property
    def noted(self) -> int:
        """The number of terms noted here, including terms of the dictionary."""
        return len(self._ids) + sum(block.count for block in self._blocks)

    @property
    def nbytes(self) -> int:
        """The approximate number of bytes of the terms noted here."""
        return self._bytes

    def encode_keys(self, keys: Sequence[bytes | None]) -> U32:
        """The ids of term keys; 0 for None."""
        known = self._ids.get
        found = [known(key, 0) if key is not None else 0 for key in keys]
        missing = dict.fromkeys(
            key for key, i in zip(keys, found, strict=True) if not i and key is not None
        )
        if missing:
            if len(missing) == 1 and not self._blocks:
                self._add_one(next(iter(missing)))
            else:
                self._add(list(missing))
            found = [known(key, 0) if key is not None else 0 for key in keys]
        return np.array(found, np.uint32)

    def encode_key(self, key: bytes) -> int:
        """The id of one term key."""
        found = self._ids.get(key)
        if found is None:
            if self._blocks:
                self._add([key])
            else:
                self._add_one(key)
            found = self._ids[key]
        return found

    def _charge(self, size: int) -> None:
        current().charge(size)
        self._bytes += size

    def _add(self, keys: list[bytes]) -> None:
        """Note the ids of distinct keys: those of the dictionary, if it has them."""
        self._charge(_ENTRY * len(keys) + sum(map(len, keys)))
        stored = self.dictionary.lookup_keys(keys)
        with self._lock:
            if not self._ids.keys().isdisjoint(keys):  # another thread noted some meanwhile
                rest = [row for row, key in enumerate(keys) if key not in self._ids]
                keys, stored = [keys[row] for row in rest], stored[rest]
            if self._blocks:
                in_blocks, spans = np.zeros(len(keys), np.uint32), spans_of_keys(keys)
                for block in self._blocks:
                    block.find_many(spans, in_blocks)
                stored = np.where(in_blocks > 0, in_blocks, stored)
            new = np.flatnonzero(stored == 0)
            first = FIRST_QUERY_ID + len(self._keys)
            stored[new] = np.arange(first, first + len(new))
            self._keys += [keys[row] for row in new.tolist()]
            self._ids.update(zip(keys, stored.tolist(), strict=True))

    def _add_one(self, key: bytes) -> None:
        """The same for one key, without blocks: ten times as fast."""
        self._charge(_ENTRY + len(key))
        stored = self.dictionary.lookup_key(key)
        with self._lock:
            if key not in self._ids:
                if not stored:
                    stored = FIRST_QUERY_ID + len(self._keys)
                    self._keys.append(key)
                self._ids[key] = stored

    def encode_strings(self, buf: U8, starts: I64, lengths: I64) -> U32:
        """The ids of distinct plain strings, given as spans of a buffer.

        Many new ones are kept in a block, without an object for each.

        >>> terms, text = QueryTerms(Dictionary()), np.frombuffer(b"abc", np.uint8)
        >>> ids = terms.encode_strings(text, np.array([0, 1]), np.array([1, 2]))
        >>> terms.keys(ids)
        [b'\\x03a', b'\\x03bc']
        """
        size = int(lengths.sum())
        current().need(3 * size + 40 * len(starts))
        spans = with_hashes(buf, starts, lengths, np.full(len(starts), STRING, np.uint8))
        with self._lock:
            found = np.zeros(len(starts), np.uint32)
            noted = [key for key in self._keys if key is not None]
            find_listed(spans, noted, [self._ids[key] for key in noted], found)
            for block in self._blocks:
                block.find_many(spans, found)
            self.dictionary.find_spans(spans, found)
            new = np.flatnonzero(found == 0)
            if len(new):
                current().charge(size + _BLOCK_ENTRY * len(new))
                self._bytes += size + _BLOCK_ENTRY * len(new)
                first = FIRST_QUERY_ID + len(self._keys)
                kinds, hashes = spans.kinds[new], spans.hashes[new]
                block = TermSegment.build(first, buf, starts[new], lengths[new], kinds, hashes)
                self._blocks.append(block)
                self._keys += [None] * len(new)
                found[new] = np.arange(first, first + len(new), dtype=np.uint32)
        return found

    def spans(self, ids: U32) -> tuple[U8, I64, I64, U8]:
        """Texts of terms: the buffer, where each begins, lengths, kinds; 0 is empty."""
        own = ids >= _FIRST
        if not own.any():
            return self.dictionary.spans(ids)
        parts: list[tuple[NDArray[np.int64], tuple[U8, I64, I64, U8]]] = []
        for block in self._blocks:
            rows = np.flatnonzero((ids >= block.first_id) & (ids <= block.last_id))
            if len(rows) == len(ids):
                return block.spans_of(ids)
            parts.append((rows, block.spans_of(ids[rows])))
            own[rows] = False
        rows = np.flatnonzero(own)
        parts.append((rows, texts_of_keys(self._own(ids[rows]))))
        rows = np.flatnonzero(ids < _FIRST)
        parts.append((rows, self.dictionary.spans(ids[rows])))
        return _in_one_buffer(parts, len(ids))

    def key(self, term_id: int) -> bytes:
        """The key of an id."""
        if term_id < FIRST_QUERY_ID:
            return self.dictionary.key(term_id)
        key = self._keys[term_id - FIRST_QUERY_ID]
        if key is None:
            last = bisect_right(self._blocks, term_id, key=attrgetter("first_id")) - 1
            return self._blocks[last].key(term_id)
        return key

    def term(self, term_id: int) -> Term:
        """The term of an id."""
        if term_id >= FIRST_QUERY_ID:
            return term_of(self.key(term_id))
        return self.dictionary.term(term_id)

    def keys(self, ids: U32) -> list[bytes | None]:
        """The keys of ids; None for 0. Fastest without repeated ids."""
        if len(ids) <= EXPRESSIONS.ids_one_by_one:
            return [self.key(term_id) if term_id else None for term_id in ids.tolist()]
        own = ids >= _FIRST
        stored = np.where(own, np.uint32(0), ids)
        size = int(self.dictionary.lengths(stored).sum())
        if size > _BIG:
            current().need(3 * size)
        buf, offsets, kinds = self.dictionary.text(stored)
        raw, ends = buf.tobytes(), offsets.tolist()
        found: list[bytes | None] = [
            _BYTES[kind] + raw[start:end] if kind else None
            for kind, start, end in zip(kinds.tolist(), ends, ends[1:], strict=False)
        ]
        rows = np.flatnonzero(own)
        for row, key in zip(rows.tolist(), self._own(ids[rows]), strict=True):
            found[row] = key
        return found

    def lengths(self, ids: U32) -> NDArray[np.int64]:
        """The number of bytes of the texts of terms; 0 for 0."""
        own = ids >= _FIRST
        if not own.any():
            return self.dictionary.lengths(ids)
        lengths = self.dictionary.lengths(np.where(own, np.uint32(0), ids))
        lengths[own] = [len(key) - 1 for key in self._own(ids[own])]
        return lengths

    def kinds(self, ids: U32) -> U8:
        """The kinds of terms; 0 for 0."""
        own = ids >= _FIRST
        if not own.any():
            return self.dictionary.kinds(ids)
        kinds = self.dictionary.kinds(np.where(own, np.uint32(0), ids))
        if self._blocks:
            kinds[own] = self.spans(ids[own])[3]
        else:
            kinds[own] = [key[0] for key in self._own(ids[own])]
        return kinds

    def values(self, ids: U32) -> ValueColumn:
        """The values of terms."""
        if len(ids) > EXPRESSIONS.distinct_ids:  # after a join each term occurs many times
            distinct, places = distinct_ids(ids)
            if len(distinct) * 2 < len(ids):
                marks, keys = self._values(distinct)
                return ValueColumn(marks[places], keys[places])
        return self._values(ids)

    def _values(self, ids: U32) -> ValueColumn:
        own = ids >= _FIRST
        if not own.any():
            return self.dictionary.values(ids)
        found = self.dictionary.values(np.where(own, np.uint32(0), ids))
        made = values_of_keys(self._own(ids[own]))
        marks, keys = found.marks.copy(), found.keys.copy()
        marks[own], keys[own] = made.marks, made.keys
        return ValueColumn(marks, keys)

    def settle(self, ids: U32) -> U32:
        """Permanent ids for all these ids; missing terms are added to the dictionary."""
        own = ids >= _FIRST
        if not own.any():
            return ids
        distinct, places = distinct_ids(ids[own])
        settled = ids.copy()
        keys = self._own(distinct)
        self.settled_bytes += sum(map(len, keys))
        settled[own] = self.dictionary.encode_keys(keys)[places]
        return settled

    def _own(self, ids: U32) -> list[bytes]:
        """The keys of terms that are not in the dictionary."""
        found = [self._keys[i - FIRST_QUERY_ID] or b"" for i in ids.tolist()]
        for block in self._blocks:
            rows = np.flatnonzero((ids >= block.first_id) & (ids <= block.last_id))
            if len(rows):
                buf, starts, lengths, kinds = block.spans_of(ids[rows])
                raw = buf.tobytes()
                spans = zip(rows.tolist(), starts.tolist(), lengths.tolist(), strict=True)
                for (row, start, size), kind in zip(spans, kinds.tolist(), strict=True):
                    found[row] = _BYTES[kind] + raw[start : start + size]
        return found


def _in_one_buffer(
    parts: Sequence[tuple[NDArray[np.int64], tuple[U8, I64, I64, U8]]], rows: int
) -> tuple[U8, I64, I64, U8]:
    """Texts of some rows in each of several buffers, copied to one."""
    lengths, kinds = np.zeros(rows, np.int64), np.zeros(rows, np.uint8)
    for own, (_, _, sizes, of_rows) in parts:
        lengths[own], kinds[own] = sizes, of_rows
    stops = np.cumsum(lengths)
    current().need(int(lengths.sum()))
    made = np.empty(int(lengths.sum()), np.uint8)
    for own, (buf, starts, sizes, _) in parts:
        copy_texts(buf, starts, sizes, made, (stops - lengths)[own])
    return made, stops - lengths, lengths, kinds


def values_of_keys(keys: Sequence[bytes | None]) -> ValueColumn:
    """The values of terms, given by their keys; a kernel reads many of them.

    >>> values_of_keys([b'\\x051"^^<http://www.w3.org/2001/XMLSchema#int>', None]).doubles[0]
    np.float64(1.0)
    """
    places = [i for i, key in enumerate(keys) if key is not None and key[0] == TYPED]
    encoded = encode_texts([key[1:] for i in places if (key := keys[i]) is not None])
    if len(places) == len(keys):
        return ValueColumn(encoded.marks, encoded.keys)
    marks, numbers = np.zeros(len(keys), np.uint8), np.zeros(len(keys), np.uint64)
    marks[places], numbers[places] = encoded.marks, encoded.keys
    return ValueColumn(marks, numbers)


_BYTES = [bytes([kind]) for kind in range(8)]

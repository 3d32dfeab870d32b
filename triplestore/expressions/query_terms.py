"""Terms made by a query or a rule, with temporary ids next to those of the dictionary.

Start at `QueryTerms`. Always true: a term that the dictionary had at its first look-up has
its id from there, so that computed values join with stored ones by id; any other gets an id from
`FIRST_QUERY_ID` on, always the same one; 0 is not a term. `settle` gives such terms permanent ids
when a rule stores them. New terms are charged to the limits of the current thread
(`operators.context.current`), and stay charged. Threads may share an instance.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplestore.expressions.shapes import Shapes
from triplestore.expressions.thresholds import EXPRESSIONS
from triplestore.operators.context import current
from triplestore.operators.row_keys import distinct_ids
from triplestore.terms.dictionary import FIRST_QUERY_ID, Dictionary
from triplestore.terms.term_keys import TYPED, Term, term_of
from triplestore.terms.values.encode_values import encode_texts
from triplestore.terms.values.segment_values import ValueColumn

U8: TypeAlias = NDArray[np.uint8]
U32: TypeAlias = NDArray[np.uint32]

_FIRST = np.uint32(FIRST_QUERY_ID)
_ENTRY = 150  # bytes per noted term, besides its key
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
        self._keys: list[bytes] = []
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
            made._ids, self._ids = self._ids, {}
            made._bytes, self._bytes = self._bytes, 0
        return made

    @property
    def noted(self) -> int:
        """The number of terms noted here, including terms of the dictionary."""
        return len(self._ids)

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
            self._add(list(missing))
            found = [known(key, 0) if key is not None else 0 for key in keys]
        return np.array(found, np.uint32)

    def encode_key(self, key: bytes) -> int:
        """The id of one term key."""
        found = self._ids.get(key)
        if found is None:
            self._charge(_ENTRY + len(key))
            self._note(key, self.dictionary.lookup_key(key))
            found = self._ids[key]
        return found

    def _charge(self, size: int) -> None:
        current().charge(size)
        self._bytes += size

    def _add(self, keys: list[bytes]) -> None:
        self._charge(_ENTRY * len(keys) + sum(map(len, keys)))
        stored = self.dictionary.lookup_keys(keys)
        with self._lock:
            if self._ids.keys().isdisjoint(keys):  # no other thread noted one meanwhile
                new = np.flatnonzero(stored == 0)
                first = FIRST_QUERY_ID + len(self._keys)
                stored[new] = np.arange(first, first + len(new))
                self._keys += [keys[row] for row in new.tolist()]
                self._ids.update(zip(keys, stored.tolist(), strict=True))
                return
        for key, term_id in zip(keys, stored.tolist(), strict=True):
            self._note(key, term_id)

    def _note(self, key: bytes, stored: int) -> None:
        """Note the id of a key: that of the dictionary, if it has one."""
        with self._lock:
            if key not in self._ids:
                if not stored:
                    stored = FIRST_QUERY_ID + len(self._keys)
                    self._keys.append(key)
                self._ids[key] = stored

    def key(self, term_id: int) -> bytes:
        """The key of an id."""
        if term_id >= FIRST_QUERY_ID:
            return self._keys[term_id - FIRST_QUERY_ID]
        return self.dictionary.key(term_id)

    def term(self, term_id: int) -> Term:
        """The term of an id."""
        if term_id >= FIRST_QUERY_ID:
            return term_of(self._keys[term_id - FIRST_QUERY_ID])
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
        for row in np.flatnonzero(own).tolist():
            found[row] = self._keys[int(ids[row]) - FIRST_QUERY_ID]
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
        made = values_of_keys(list(self._own(ids[own])))
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
        keys = list(self._own(distinct))
        self.settled_bytes += sum(map(len, keys))
        settled[own] = self.dictionary.encode_keys(keys)[places]
        return settled

    def _own(self, ids: U32) -> Iterable[bytes]:
        return (self._keys[i - FIRST_QUERY_ID] for i in ids.tolist())


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

"""All values of a dictionary: the tables of its segments, and its live terms.

The dictionary keeps one `LiveValues` beside the live table (`add` for each new term, in order of
ids; `truncate` when a transaction removes its terms; `after` when some are frozen into a segment).
It makes a new `ValueStack` of the tables of all segments and the live values whenever the segments
change, which costs nothing.

Always true: tables are in order of ids and do not overlap; live ids are above all of them. A reader
may use a stack while the writer adds live terms: it sees each of them or not.

    >>> from triplestore.terms.values.value_keys import double_of
    >>> class Terms:  # stands for the dictionary
    ...     keys = [b'', b'\\x05' + b'1"^^<http://www.w3.org/2001/XMLSchema#int>',
    ...             b'\\x05' + b'1.0"^^<http://www.w3.org/2001/XMLSchema#decimal>']
    ...     def key(self, id): return self.keys[id]
    ...     def lookup_keys(self, keys): return np.zeros(len(keys), np.uint32)
    >>> live = LiveValues(Terms())
    >>> stack = ValueStack((), live)
    >>> for id in (1, 2): live.add(id, Terms.keys[id], ())
    >>> ids = np.array([1, 2], dtype=np.uint32)
    >>> stack.values(ids).doubles.tolist(), stack.canonical(ids).tolist()
    ([1.0, 1.0], [1, 1])
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from triplestore.data_classes import data_class
from triplestore.terms.values.canonical_ids import TermSource
from triplestore.terms.values.encode_values import I64, U32
from triplestore.terms.values.segment_values import ValueColumn, ValueTable
from triplestore.terms.values.value_keys import (
    CLASS_OF,
    LANG,
    NOTHING,
    STRING,
    TYPED,
    Class,
    Entry,
    entry_of,
    entry_of_value,
    plain_key_of,
    same_value,
    value_of,
)
from triplestore.terms.values.xsd import RDF, XSD

_TEXTS = (Class.TEXT, Class.LANG_TEXT)


class LiveValues:
    """Values and canonical ids of the terms that are in no segment yet, in plain Python."""

    def __init__(self, source: TermSource) -> None:
        self._source = source
        self._entries: dict[int, Entry] = {}
        self._canonical: dict[int, int] = {}
        self._by_key: dict[tuple[Class, int], list[int]] = {}
        self._counted: tuple[Sequence[ValueTable], list[bool]] = (), [False, False]
        self._texts: set[int] = set()  # the typed literals here that have a text for a value

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, id: int, key: bytes, tables: Sequence[ValueTable]) -> None:
        """A new term with an id above all others; `tables` are those of all segments."""
        kind = key[0]
        if kind == TYPED:
            entry = entry_of(key[1:])
        elif kind in (STRING, LANG) and self._has_texts(kind, tables):
            entry = _plain_entry(key)
        else:
            return
        if entry.mark == 0:
            return
        canonical = self._canonical_of(id, key, entry, tables)
        if kind != TYPED and canonical == id:
            return  # plain strings have entries only where they are variants
        self._entries[id] = entry
        if canonical != id:
            self._canonical[id] = canonical
        group = Class(int(CLASS_OF[entry.mark]))
        if group in _TEXTS and kind == TYPED:
            self._texts.add(id)
        self._by_key.setdefault((group, entry.key), []).append(id)

    def truncate(self, size: int) -> None:
        """Remove the terms with ids above `size`, also if Ctrl-C came while one was added or
        removed: what `add` does first is undone last."""
        while self._entries and (id := next(reversed(self._entries))) > size:
            entry = self._entries[id]
            place = Class(int(CLASS_OF[entry.mark])), entry.key
            ids = self._by_key.get(place, [])
            if ids and ids[-1] == id:
                ids.pop()
            if not ids:
                self._by_key.pop(place, None)
            self._canonical.pop(id, None)
            self._texts.discard(id)
            del self._entries[id]

    def after(self, id: int) -> LiveValues:
        """A copy without the terms up to `id`, which are in a segment now."""
        rest = LiveValues(self._source)
        rest._entries = {i: entry for i, entry in self._entries.items() if i > id}
        rest._canonical = {i: other for i, other in self._canonical.items() if i > id}
        rest._texts = {i for i in self._texts if i > id}
        for i, entry in rest._entries.items():
            rest._by_key.setdefault((Class(int(CLASS_OF[entry.mark])), entry.key), []).append(i)
        return rest

    def entry(self, id: int) -> Entry:
        """The entry of a term; NOTHING where it has none."""
        return self._entries.get(id, NOTHING)

    def canonical(self, id: int) -> int:
        """The least id of the same value, or the id itself."""
        return self._canonical.get(id, id)

    def candidates(self, kind: Class, key: int) -> list[int]:
        """Ids of the live terms of a class that have this key, ascending."""
        return list(self._by_key.get((kind, key), ()))

    def between(self, kind: Class, low: int, high: int) -> list[int]:
        """Ids of the live terms of a class with low <= key <= high, by key, then by id."""
        found = [
            (key, ids)
            for (group, key), ids in list(self._by_key.items())
            if group == kind and low <= key <= high
        ]
        return [id for _, ids in sorted(found) for id in ids]

    def _has_texts(self, kind: int, tables: Sequence[ValueTable]) -> bool:
        if self._texts:
            return True
        if tables is not self._counted[0]:
            groups = Class.TEXT, Class.LANG_TEXT
            some = [any(table.count(group) for table in tables) for group in groups]
            self._counted = tables, some
        return self._counted[1][kind != STRING]

    def _canonical_of(self, id: int, key: bytes, entry: Entry, tables: Sequence[ValueTable]) -> int:
        group = Class(int(CLASS_OF[entry.mark]))
        for table in tables:  # the oldest first, and in each the least id first
            for other in table.candidates(group, entry.key).tolist():
                if same_value(key, self._source.key(other)):
                    return self._or_plain(key, group, int(_canonical_in(table, other)))
        for other in self.candidates(group, entry.key):
            if same_value(key, self._source.key(other)):
                return self._or_plain(key, group, self.canonical(other))
        return self._or_plain(key, group, id)

    def _or_plain(self, key: bytes, group: Class, canonical: int) -> int:
        """The id of the plain literal of the same text, if that is older than `canonical`."""
        if group not in _TEXTS or key[0] != TYPED:
            return canonical
        value = value_of(key)
        plain = None if value is None else plain_key_of(value)
        assert plain is not None
        return min(canonical, int(self._source.lookup_keys([plain])[0]) or canonical)


@data_class
class ValueStack:
    """The values of all terms of a dictionary at one time."""

    tables: tuple[ValueTable, ...]
    live: LiveValues

    def values(self, ids: U32) -> ValueColumn:
        """Marks and keys of any ids, in any order; 0 where a term has no value."""
        marks = np.zeros(len(ids), dtype=np.uint8)
        keys = np.zeros(len(ids), dtype=np.uint64)
        for table, rows in self._parts(ids):
            if table is None:
                entries = list(map(self.live.entry, ids[rows].tolist()))
                marks[rows] = [entry.mark for entry in entries]
                keys[rows] = np.array([entry.key for entry in entries], np.uint64)
            elif len(rows) == len(ids):
                return table.values(ids)
            else:
                marks[rows], keys[rows] = table.values(ids[rows])
        return ValueColumn(marks, keys)

    def canonical(self, ids: U32) -> U32:
        """For each id the least id of the same value; the id itself for all other terms."""
        result = ids.copy()
        for table, rows in self._parts(ids):
            if table is not None:
                result[rows] = table.canonical(ids[rows])
            else:
                for row in rows.tolist():
                    result[row] = self.live.canonical(int(ids[row]))
        return result

    def between(self, kind: Class, low: int, high: int) -> U32:
        """Ids of all terms of a class with low <= key <= high (by key inside each table)."""
        parts = [table.between(kind, low, high) for table in self.tables]
        parts.append(np.array(self.live.between(kind, low, high), dtype=np.uint32))
        return np.concatenate(parts)

    def candidates(self, kind: Class, key: int) -> U32:
        """Ids of all terms of a class that have this key, ascending."""
        return self.between(kind, key, key)

    def _parts(self, ids: U32) -> list[tuple[ValueTable | None, I64]]:
        """Which rows of `ids` lie in which table; None stands for the live terms."""
        firsts = np.array([table.first_id for table in self.tables], dtype=np.uint32)
        number = np.searchsorted(firsts, ids, "right") - 1
        parts: list[tuple[ValueTable | None, I64]] = []
        for i, table in enumerate(self.tables):
            rows = np.flatnonzero((number == i) & (ids - firsts[i] < table.size))
            if len(rows):
                parts.append((table, rows))
        if len(self.live):
            stop = self.tables[-1].stop_id if self.tables else 1
            parts.append((None, np.flatnonzero(ids >= stop)))
        return parts


def _canonical_in(table: ValueTable, id: int) -> int:
    return int(table.canonical(np.array([id], dtype=np.uint32))[0])


def _plain_entry(key: bytes) -> Entry:
    value = value_of(key)
    if value is None:
        return NOTHING
    return entry_of_value(value, XSD + "string" if key[0] == STRING else RDF + "langString")

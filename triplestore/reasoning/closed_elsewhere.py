"""A closure that was computed elsewhere and becomes the closure of a transaction.

Start reading at `ClosedElsewhere.changes`. A cluster gets the asserted facts in the ids of the
store, and returns all facts that hold, with statuses and counters. Only the differences from the
store are written, so the commit is like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from triplestore.data_classes import data_class
from triplestore.relations import ChangedRows, Changes, Layer, Tables
from triplestore.relations.changes import GRAPHS, TupleName
from triplestore.relations.packed_keys import Columns, key_of
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.spans import copy_texts


@data_class
class ClosedElsewhere:
    """All that holds in the default graph, and how it was inferred.

    facts   p, s, o with statuses and counters
    tuples  the same of relations of rules
    meta    the rules in force and their settings, under the names in `storage.metadata`
    hidden  how many facts are not RDF triples
    """

    facts: ChangedRows
    tuples: Mapping[TupleName, ChangedRows]
    meta: Mapping[str, bytes]
    hidden: int = 0

    def changes(self, stored: Tables) -> Changes:
        """The changes after which exactly this holds in tables without schemes.

        >>> closed = ClosedElsewhere(ChangedRows.of(([1, 1], [2, 3], [3, 2]), [1, 2]), {}, {})
        >>> changes = closed.changes(Tables())
        >>> changes.facts.columns[1].tolist(), changes.facts.status.tolist()
        ([2, 3], [1, 2])
        """
        wanted = Tables().push(Layer.build(Changes(self.facts, tuples=self.tuples)))
        facts = [ChangedRows.of(((), (), ()))]
        for name in np.union1d(stored.names(), wanted.names()).tolist():
            rows = _differing(stored.relation(name), wanted.relation(name), 2)
            p = np.full(len(rows), name, np.uint32)
            facts.append(ChangedRows.of((p, *rows.columns), rows.status, rows.previous, rows.count))
        tuples = {}
        for name, arity in {*stored.tuple_names(), *wanted.tuple_names()} - {GRAPHS}:
            rows = _differing(stored.tuples(name, arity), wanted.tuples(name, arity), arity)
            if len(rows):
                tuples[name, arity] = rows
        return Changes(ChangedRows.concat(facts), tuples=tuples)


def stated_rows(tables: Tables, where: int) -> Iterator[tuple[int, Columns]]:
    """The facts of the default graph with a status, by predicate, in blocks."""
    for name in tables.names().tolist():
        for columns in tables.relation(name).scan(where):
            yield name, columns


def keys_of_terms(dictionary: Dictionary, ids: Any) -> tuple[Any, Any]:
    """The keys of ids: bytes, and where each begins (and the last ends).

    >>> dictionary = Dictionary()
    >>> data, offsets = keys_of_terms(dictionary, dictionary.encode_keys([b"\\x01http://a"]))
    >>> data.tobytes(), offsets.tolist()
    (b'\\x01http://a', [0, 9])
    """
    data, starts, kinds = dictionary.text(ids)
    lengths = np.diff(starts)
    offsets = np.concatenate(([0], np.cumsum(lengths + 1)))
    made = np.empty(int(offsets[-1]), np.uint8)
    made[offsets[:-1]] = kinds
    copy_texts(data, starts[:-1], lengths, made, offsets[:-1] + 1)
    return made, offsets


def _differing(stored: Any, wanted: Any, arity: int) -> ChangedRows:
    """The rows of two relations with other statuses or counters, as they are wanted."""
    parts = [columns for each in (stored, wanted) for columns in each.scan()]
    if not parts:
        return ChangedRows.of(((),) * arity)
    columns = tuple(np.concatenate(column) for column in zip(*parts, strict=True))
    _, first = np.unique(key_of(columns), return_index=True)
    columns = tuple(column[first] for column in columns)
    before, after = stored.status_of(columns), wanted.status_of(columns)
    counts = wanted.count_of(columns)
    chosen = (before != after) | (stored.count_of(columns) != counts)
    rows = tuple(column[chosen] for column in columns)
    return ChangedRows.of(rows, after[chosen], before[chosen], counts[chosen])

"""Rows of terms in parts whose terms compare by one number each, without their texts.

Start at `by_value` (SPARQL's order, see `expressions.aggregates.order_key`) and `by_key` (the order
of term keys). Ids compare within a stretch of the dictionary (`terms.stretches`), numbers and times
by their value keys. Always true: parts come in the order of their places, and a row of a lower
place is less than all rows of higher ones; rows of one place but different parts, and of parts
without words, are compared otherwise (`ranks`, or their keys).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from triplestore.data_classes import data_class
from triplestore.expressions.query_terms import U32, QueryTerms
from triplestore.operators.frame import Array
from triplestore.sparql.thresholds import SPARQL
from triplestore.terms.term_keys import BLANK, IRI, LANG, STRING, TRIPLE, TYPED
from triplestore.terms.values.value_keys import Class


@data_class
class ComparableRows:
    """Some rows, and what compares them.

    place  that of their kind of value in the order
    kind   the kind of the terms
    rows   their positions; None for all rows
    words  unsigned; a lesser one comes first, and different terms may share one; None if terms
           must be looked at
    exact  equal words are equal in the order
    """

    place: int
    kind: int
    rows: Array | None
    words: Array | None
    exact: bool = False

    def of(self, column: Array) -> Array:
        """The values of these rows in a column."""
        return column if self.rows is None else column[self.rows]


_NUMBERS, _TIMES, _DURATIONS, _TEXTS, _REST = 3, 5, 20, 21, 22
_VALUE_PLACES = {0: 0, BLANK: 1, IRI: 2, STRING: _TEXTS, LANG: _REST, TRIPLE: 23}
BY_BYTES = (IRI, BLANK, STRING, TRIPLE)
"""Kinds of terms that SPARQL orders by their bytes."""


def _place_of(kind: int) -> int:
    """The place of typed literals of a class of values."""
    if kind in (Class.NUMERIC, Class.BOOLEAN):
        return _NUMBERS + kind - Class.NUMERIC
    if kind == Class.NONE:
        return _REST
    if kind <= Class.G_DAY_LOCAL:  # with and without zone, by their instants
        return _TIMES + (kind - Class.DATETIME_ZONED) // 2
    if kind <= Class.DURATION:
        return _DURATIONS
    return _TEXTS if kind in (Class.ANY_URI, Class.TEXT) else _REST


_PLACE_OF_CLASS = np.array([_place_of(kind) for kind in range(Class.LANG_TEXT + 1)], np.uint8)


def by_value(ids: U32, terms: QueryTerms) -> list[ComparableRows]:
    """The parts in SPARQL's order.

    >>> from triplestore.terms.dictionary import Dictionary
    >>> terms = QueryTerms(Dictionary())
    >>> typed = b'\\x05%d"^^<http://www.w3.org/2001/XMLSchema#integer>'
    >>> ids = terms.dictionary.encode_keys([typed % 10, b"\\x03a", typed % 9])
    >>> [(part.rows.tolist(), part.words is None) for part in by_value(ids, terms)]
    [([0, 2], False), ([1], True)]
    """
    parts: list[ComparableRows] = []
    for kind, is_ordered, rows in _stretches(ids, terms):
        if kind == TYPED:
            parts += _typed(ids, rows, terms)
        else:
            words = _ids(ids, rows) if is_ordered and kind in BY_BYTES else None
            place = _VALUE_PLACES[kind]
            parts.append(ComparableRows(place, kind, rows, words, words is not None))
    return sorted(parts, key=_by_place)


def by_key(ids: U32, terms: QueryTerms) -> list[ComparableRows]:
    """The parts in the order of term keys."""
    parts = []
    for kind, is_ordered, rows in _stretches(ids, terms):
        words = _ids(ids, rows) if is_ordered else None
        parts.append(ComparableRows(kind, kind, rows, words, is_ordered))
    return sorted(parts, key=_by_place)


_by_place: Callable[[ComparableRows], int] = lambda part: part.place  # noqa: E731


def _ids(ids: U32, rows: Array | None) -> U32:
    return ids if rows is None else ids[rows]


def _stretches(ids: U32, terms: QueryTerms) -> list[tuple[int, bool, Array | None]]:
    """The rows of each stretch: the kind of their terms, and whether they compare by their ids."""
    stretches = terms.dictionary.stretches
    whole = stretches.whole(ids)
    if whole is not None and stretches.kinds[whole]:
        return [(stretches.kinds[whole], True, None)]
    if len(ids) == 0:
        return []
    numbers = stretches.numbers(ids)
    present = np.flatnonzero(np.bincount(numbers)).tolist()
    found: list[tuple[int, bool, Array | None]] = []
    if len(present) > SPARQL.compared_stretches:
        return _kinds(ids, None, terms)
    for number in present:
        rows = np.flatnonzero(numbers == number)
        kind = stretches.kinds[number]
        if kind:
            found.append((kind, True, rows))
        else:
            found += _kinds(ids, rows, terms)
    return found


def _kinds(ids: U32, rows: Array | None, terms: QueryTerms) -> list[tuple[int, bool, Array | None]]:
    """The rows of each kind, of terms that do not compare by their ids."""
    kinds = terms.kinds(_ids(ids, rows))
    found: list[tuple[int, bool, Array | None]] = []
    for kind in np.flatnonzero(np.bincount(kinds)).tolist():
        own = np.flatnonzero(kinds == kind)
        found.append((kind, False, own if rows is None else rows[own]))
    return found


def _typed(ids: U32, rows: Array | None, terms: QueryTerms) -> list[ComparableRows]:
    """The parts of typed literals."""
    values = terms.values(_ids(ids, rows))
    marks = np.flatnonzero(np.bincount(values.marks))
    if len(marks) == 1:
        places = None
        present = [int(_PLACE_OF_CLASS[values.classes[0]])]
    else:
        places = _PLACE_OF_CLASS[values.classes]
        present = np.flatnonzero(np.bincount(places)).tolist()
    found = []
    for place in present:
        own = None if len(present) == 1 else np.flatnonzero(places == place)
        here = rows if own is None else (own if rows is None else rows[own])
        if _NUMBERS <= place < _DURATIONS:
            words, exact = values.keys, values.exact
            if own is not None:
                words, exact = words[own], exact[own]
            found.append(ComparableRows(place, TYPED, here, words, bool(exact.all())))
        else:
            found.append(ComparableRows(place, TYPED, here, None))
    return found

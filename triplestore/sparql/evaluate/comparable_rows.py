"""Rows of terms in parts whose terms compare by one number each, without their texts.

Start at `by_value` (SPARQL's order, see `compare_terms.order_key`) and `by_key` (the order
of term keys). Ids compare within a stretch of the dictionary (`terms.stretches`), numbers and times
by their value keys. Always true: parts come in the order of their places, and a row of a lower
place is less than all rows of higher ones; rows of one place but different parts, and of parts
without words, are compared otherwise (`ranks`, or their keys).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplestore.data_classes import data_class
from triplestore.expressions.query_terms import U32, QueryTerms
from triplestore.expressions.text_columns import Texts, texts_of_ids, worth_texts
from triplestore.operators.frame import Array
from triplestore.sparql.thresholds import SPARQL
from triplestore.terms.term_keys import BLANK, IRI, LANG, STRING, TRIPLE, TYPED
from triplestore.terms.values.value_keys import Class

Place: TypeAlias = tuple[int, str]
"""A kind of values, and the language of those that are ordered by it first."""


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

    place: Place
    kind: int
    rows: Array | None
    words: Array | None
    exact: bool = False

    def of(self, column: Array) -> Array:
        """The values of these rows in a column."""
        return column if self.rows is None else column[self.rows]


_NUMBERS, _TIMES, _DURATIONS, _TEXTS, _TAGGED, _REST = 3, 5, 20, 21, 22, 23
_VALUE_PLACES = {0: 0, BLANK: 1, IRI: 2, STRING: _TEXTS, TRIPLE: 24}
BY_BYTES = frozenset((IRI, BLANK, STRING))
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
    if kind in (Class.ANY_URI, Class.TEXT):
        return _TEXTS
    return _TAGGED if kind == Class.LANG_TEXT else _REST


_PLACE_OF_CLASS = np.array([_place_of(kind) for kind in range(Class.LANG_TEXT + 1)], np.uint8)


def by_value(
    ids: U32, terms: QueryTerms, limit: int | None = None, descending: bool = False
) -> list[ComparableRows]:
    """The parts in SPARQL's order.

    limit       rows that are not among the first ones, of this number, may be left out
    descending  the first ones are those at the end

    >>> from triplestore.terms.dictionary import Dictionary
    >>> terms = QueryTerms(Dictionary())
    >>> typed = b'\\x05%d"^^<http://www.w3.org/2001/XMLSchema#integer>'
    >>> ids = terms.dictionary.encode_keys([typed % 10, b"\\x03a", typed % 9])
    >>> [(part.rows.tolist(), part.words is None) for part in by_value(ids, terms)]
    [([0, 2], False), ([1], True)]
    """
    parts: list[ComparableRows] = []
    stretches = _stretches(ids, terms)
    if limit is not None and len(stretches) > 1:
        stretches = _needed(stretches, limit, descending, len(ids))
    for kind, is_ordered, rows in stretches:
        if kind == TYPED:
            parts += _typed(ids, rows, terms)
        elif kind == LANG:
            parts += _tagged(ids, rows, terms)
        else:
            place = _VALUE_PLACES[kind], ""
            is_ordered = is_ordered and kind in BY_BYTES
            if is_ordered:
                words: Array | None = _ids(ids, rows)
            else:
                words = _beginnings(ids, rows, terms) if kind == STRING else None
            parts.append(ComparableRows(place, kind, rows, words, is_ordered))
    if any(part.place == (_TAGGED, "") for part in parts):
        rest = (_TAGGED, _REST)
        parts = [_in_one_place(part) if part.place[0] in rest else part for part in parts]
    return sorted(parts, key=_by_place)


def _in_one_place(part: ComparableRows) -> ComparableRows:
    """The same rows in the place shared by all tagged strings and other literals."""
    return ComparableRows((_TAGGED, ""), part.kind, part.rows, None)


_RANGES = {kind: (place, place) for kind, place in _VALUE_PLACES.items()}
_RANGES |= {TYPED: (_NUMBERS, _REST), LANG: (_TAGGED, _REST)}
"""The least and the greatest place of terms of a kind."""


def _needed(found: list[Stretch], limit: int, descending: bool, rows: int) -> list[Stretch]:
    """The stretches that may have some of the first `limit` rows."""

    def comes_before(one: Stretch, other: Stretch) -> bool:
        if descending:
            one, other = other, one
        return _RANGES[one[0]][1] < _RANGES[other[0]][0]

    sizes = [rows if own is None else len(own) for _, _, own in found]
    return [
        one
        for one in found
        if sum(n for n, other in zip(sizes, found, strict=True) if comes_before(other, one)) < limit
    ]


def by_key(ids: U32, terms: QueryTerms) -> list[ComparableRows]:
    """The parts in the order of term keys."""
    parts = []
    for kind, is_ordered, rows in _stretches(ids, terms):
        words = _ids(ids, rows) if is_ordered else None
        parts.append(ComparableRows((kind, ""), kind, rows, words, is_ordered))
    return sorted(parts, key=_by_place)


def _by_place(part: ComparableRows) -> Place:
    return part.place


def _ids(ids: U32, rows: Array | None) -> U32:
    return ids if rows is None else ids[rows]


Stretch: TypeAlias = tuple[int, bool, "Array | None"]
"""The kind of some terms, whether they compare by their ids, and their rows."""


def _stretches(ids: U32, terms: QueryTerms) -> list[Stretch]:
    """The rows of each stretch: the kind of their terms, and whether they compare by their ids."""
    stretches = terms.dictionary.stretches
    whole = stretches.whole(ids)
    if whole is not None and stretches.kinds[whole]:
        return [(stretches.kinds[whole], True, None)]
    if len(ids) == 0:
        return []
    numbers = stretches.numbers(ids)
    present = np.flatnonzero(np.bincount(numbers)).tolist()
    found: list[Stretch] = []
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


def _kinds(ids: U32, rows: Array | None, terms: QueryTerms) -> list[Stretch]:
    """The rows of each kind, of terms that do not compare by their ids."""
    kinds = terms.kinds(_ids(ids, rows))
    found: list[Stretch] = []
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
            found.append(ComparableRows((place, ""), TYPED, here, words, bool(exact.all())))
        else:
            found.append(ComparableRows((place, ""), TYPED, here, None))
    return found


def _tagged(ids: U32, rows: Array | None, terms: QueryTerms) -> list[ComparableRows]:
    """The parts of strings with a language, by which they are ordered first."""
    own = _ids(ids, rows)
    texts = texts_of_ids(own, terms) if worth_texts(len(own)) else None
    if texts is None:
        return [ComparableRows((_TAGGED, ""), LANG, rows, None)]
    words = _first_bytes(texts)
    shapes = texts.shapes[texts.codes]
    places = terms.shapes.mapped("place of language", _place_of_language, np.object_)
    found: list[ComparableRows] = []
    for shape in np.flatnonzero(np.bincount(shapes)).tolist():
        chosen = np.flatnonzero(shapes == shape)
        here = chosen if rows is None else rows[chosen]
        place = places[shape]
        own_words = None if place[0] == _REST else words[texts.codes[chosen]]
        found.append(ComparableRows(place, LANG, here, own_words))
    return found


def _place_of_language(key: bytes) -> Place:
    """The place of strings with the end of this key; with a direction they have no value."""
    tag = key.rpartition(b"@")[2]
    return (_REST, "") if b"--" in tag else (_TAGGED, tag.decode())


def _beginnings(ids: U32, rows: Array | None, terms: QueryTerms) -> Array | None:
    """The first bytes of strings that do not compare by their ids."""
    own = _ids(ids, rows)
    texts = texts_of_ids(own, terms) if worth_texts(len(own)) else None
    return None if texts is None else _first_bytes(texts)[texts.codes]


def _first_bytes(texts: Texts) -> NDArray[np.uint64]:
    """The first eight bytes of each text as a number, zeros behind its end."""
    found = np.zeros((texts.size, 8), np.uint8)
    for place in range(8):
        longer = texts.lengths > place
        found[longer, place] = texts.buf[texts.starts[longer] + place]
    return found.view(">u8").ravel().astype(np.uint64)

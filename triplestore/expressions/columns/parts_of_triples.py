"""SUBJECT, PREDICATE and OBJECT of columns of ids, from the dictionary's columns of parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from triplestore.expressions.vectors import Ids, Vector
from triplestore.terms.dictionary import FIRST_QUERY_ID

if TYPE_CHECKING:
    from triplestore.expressions.query_terms import QueryTerms

PART_PLACES = {"SUBJECT": 1, "PREDICATE": 2, "OBJECT": 3}


def part_of_triples(function: str, vector: Vector, terms: QueryTerms) -> Ids | None:
    """The parts of stored triple terms, 0 for other terms; None if a term must be looked at.

    >>> from triplestore.expressions.query_terms import QueryTerms
    >>> from triplestore.terms.dictionary import Dictionary
    >>> dictionary = Dictionary()
    >>> ids = dictionary.encode_keys([b"\\x06<<( <http://a> <http://p> <http://o> )>>"])
    >>> found = part_of_triples("OBJECT", Ids(ids), QueryTerms(dictionary))
    >>> [dictionary.key(i) for i in found.ids.tolist()]
    [b'\\x01http://o']
    """
    if not isinstance(vector, Ids) or bool((vector.ids >= FIRST_QUERY_ID).any()):
        return None
    found = np.zeros(len(vector.ids), np.uint32)
    for run in terms.dictionary.triple_runs():
        if not run.is_whole:
            return None
        rows = run.rows_of(vector.ids)
        there = np.flatnonzero(rows >= 0)
        found[there] = run.column(PART_PLACES[function])[rows[there]]
    return Ids(found)

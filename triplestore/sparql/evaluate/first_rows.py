"""The rows that may be the first ones by one key of ORDER BY, found without sorting.

Start at `first_rows`. Always true: rows that it leaves out come after at least as many others as
are wanted, by this key alone; so further keys and the order of equal rows do not matter.
"""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter

import numpy as np

from triplestore.expressions.query_terms import QueryTerms
from triplestore.expressions.vectors import Ids, Numbers, Vector
from triplestore.operators.frame import Array
from triplestore.sparql.evaluate.comparable_rows import ComparableRows, by_value


def first_rows(values: Vector, limit: int, descending: bool, terms: QueryTerms) -> Array | None:
    """Positions, increasing, of rows that include the first `limit` ones; None for all rows.

    >>> from triplestore.terms.dictionary import Dictionary
    >>> numbers = Numbers(1, np.array([5, 3, 4, 3]))
    >>> first_rows(numbers, 1, False, QueryTerms(Dictionary())).tolist()
    [1, 3]
    """
    if isinstance(values, Numbers):
        has_nan = values.values.dtype.kind == "f" and bool(np.isnan(values.values).any())
        if values.valid is not None or has_nan:
            return None
        return _first_words(values.values, limit, descending)
    if not isinstance(values, Ids):
        return None
    kept: list[Array] = []
    parts = by_value(values.ids, terms)
    every = np.arange(len(values))
    for _, members in groupby(parts[::-1] if descending else parts, attrgetter("place")):
        alike = list(members)
        kept += [_first_of(part, every, limit, descending) for part in alike]
        limit -= sum(len(part.of(every)) for part in alike)
        if limit <= 0:
            break
    return np.sort(np.concatenate(kept)) if len(kept) > 1 else kept[0]


def _first_of(part: ComparableRows, every: Array, limit: int, descending: bool) -> Array:
    rows = part.of(every)
    if part.words is None or len(rows) <= limit:
        return rows
    return rows[_first_words(part.words, limit, descending)]


def _first_words(words: Array, limit: int, descending: bool) -> Array:
    """The positions of the first words and of those equal to the last of these."""
    if limit >= len(words):
        return np.arange(len(words))
    if descending:
        last = words.max() if limit == 1 else np.partition(words, len(words) - limit)[-limit]
        return np.flatnonzero(words >= last)
    last = words.min() if limit == 1 else np.partition(words, limit - 1)[limit - 1]
    return np.flatnonzero(words <= last)

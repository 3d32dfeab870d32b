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


def first_rows(
    values: Vector, limit: int, descending: bool, terms: QueryTerms, is_only: bool
) -> Array | None:
    """Positions, increasing, of rows that include the first `limit` ones; None for all rows.

    is_only  there are no further keys: of equal rows the earlier ones are first

    >>> from triplestore.terms.dictionary import Dictionary
    >>> numbers, terms = Numbers(1, np.array([5, 3, 4, 3])), QueryTerms(Dictionary())
    >>> [first_rows(numbers, 1, False, terms, only).tolist() for only in (False, True)]
    [[1, 3], [1]]
    """
    if isinstance(values, Numbers):
        has_nan = values.values.dtype.kind == "f" and bool(np.isnan(values.values).any())
        if values.valid is not None or has_nan:
            return None
        return _first_words(values.values, limit, descending, is_only)
    if not isinstance(values, Ids):
        return None
    kept: list[Array] = []
    parts = by_value(values.ids, terms, limit, descending)
    every = np.arange(len(values))
    for _, members in groupby(parts[::-1] if descending else parts, attrgetter("place")):
        alike = list(members)
        only = is_only and len(alike) == 1 and alike[0].exact
        kept += [_first_of(part, every, limit, descending, only) for part in alike]
        limit -= sum(len(part.of(every)) for part in alike)
        if limit <= 0:
            break
    return np.sort(np.concatenate(kept)) if len(kept) > 1 else kept[0]


def _first_of(
    part: ComparableRows, every: Array, limit: int, descending: bool, is_only: bool
) -> Array:
    rows = part.of(every)
    if part.words is None or len(rows) <= limit:
        return rows
    return rows[_first_words(part.words, limit, descending, is_only)]


def _first_words(words: Array, limit: int, descending: bool, is_only: bool) -> Array:
    """The positions of the first words, and if not `is_only` of all that are equal to the last."""
    if limit >= len(words):
        return np.arange(len(words))
    if descending:
        last = words.max() if limit == 1 else np.partition(words, len(words) - limit)[-limit]
    else:
        last = words.min() if limit == 1 else np.partition(words, limit - 1)[limit - 1]
    if not is_only:
        return np.flatnonzero(words >= last if descending else words <= last)
    before = np.flatnonzero(words > last if descending else words < last)
    equal = np.flatnonzero(words == last)[: limit - len(before)]
    return np.sort(np.concatenate([before, equal]))

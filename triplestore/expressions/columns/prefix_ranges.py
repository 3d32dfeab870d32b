"""Texts that begin with a given one, as ranges of ids.

Start at `starting_with`. Bulk loads number terms in the order of their bytes, so within a stretch
(see `terms.stretches`) the terms with a prefix are a range of ids, found by two binary searches.
Always true: the answers are those of STRSTARTS. Costs some 50 us per stretch, then 1 ns a row.
"""

from __future__ import annotations

import numpy as np

from triplestore.expressions.query_terms import U32, QueryTerms
from triplestore.expressions.vectors import Booleans, Mask
from triplestore.terms.term_keys import IRI, LANG, STRING, TYPED

_MOST = 6
"""Maximum number of stretches for which ranges are faster than a look at each text."""


def starting_with(ids: U32, prefix: bytes, of_any_term: bool, terms: QueryTerms) -> Booleans | None:
    """Which strings begin with a prefix; None if the ids do not tell.

    of_any_term  also the texts of IRIs and of literals with a datatype, as by STR
    """
    stretches = terms.dictionary.stretches
    if len(ids) == 0 or b'"' in prefix:  # a literal's text has a quotation mark behind the string
        return None
    first, stop = stretches.firsts.searchsorted([ids.min(), ids.max()], "right").tolist()
    kinds = stretches.kinds[first - 1 : stop]
    if len(kinds) > _MOST or 0 in kinds:
        return None
    fitting = (STRING, LANG, IRI, TYPED) if of_any_term else (STRING, LANG)
    values = np.zeros(len(ids), np.bool_)
    valid = np.zeros(len(ids), np.bool_)
    bounds = [*stretches.firsts[first - 1 : stop].tolist(), int(ids.max()) + 1]
    for kind, begin, end in zip(kinds, bounds, bounds[1:], strict=False):
        if kind in fitting:
            valid |= _between(ids, begin, end)
            low = _place(terms, begin, end, prefix, False)
            values |= _between(ids, low, _place(terms, low, end, prefix, True))
    return Booleans(values, None if valid.all() else valid)


def _between(ids: U32, begin: int, end: int) -> Mask:
    found: Mask = (ids >= np.uint32(begin)) & (ids < np.uint32(end))
    return found


def _place(terms: QueryTerms, begin: int, end: int, prefix: bytes, behind: bool) -> int:
    """The first id from `begin` on whose text is not less than the prefix, or (behind) greater
    than all texts with it."""
    size, key = len(prefix) + 1, terms.dictionary.key
    while begin < end:
        middle = (begin + end) >> 1
        text = key(middle)[1:size]
        if text < prefix or (behind and text == prefix):
            begin = middle + 1
        else:
            end = middle
    return begin

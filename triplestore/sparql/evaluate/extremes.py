"""The least and the greatest term of each group, for MIN, MAX and SAMPLE.

Start at `extreme_of_groups` and `least_keys`. Words decide first (`comparable_rows`): of a group
and a part only the rows with the best word remain, usually one. Only where several terms remain,
these are compared as terms. Always true: of terms that are equal in the order, the one with the
least key is found; so results depend neither on ids nor on the order of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter

import numpy as np

from triplestore.expressions.query_terms import U32, QueryTerms
from triplestore.expressions.vectors import Ids
from triplestore.operators.context import Budget
from triplestore.operators.frame import ID, Array
from triplestore.sparql.evaluate.comparable_rows import ComparableRows, by_key, by_value
from triplestore.sparql.evaluate.ranks import ranks_of


def extreme_of_groups(
    ids: U32, groups: Array, count: int, terms: QueryTerms, greatest: bool, budget: Budget
) -> U32:
    """The least or greatest term of each group in SPARQL's order; 0 for groups without rows.

    ids  of the rows: none is 0

    >>> from triplestore.operators.context import Context
    >>> from triplestore.terms.dictionary import Dictionary
    >>> terms = QueryTerms(Dictionary())
    >>> ids = terms.encode_keys([b"\\x03b", b"\\x03a", b"\\x01http://c"])
    >>> found = extreme_of_groups(ids, np.array([0, 0, 1]), 3, terms, False, Context())
    >>> terms.keys(found)
    [b'\\x03a', b'\\x01http://c', None]
    """
    parts = by_value(ids, terms, 1 if count == 1 else None, greatest)
    rows, is_exact = _best_rows(parts, groups, count, greatest)
    ids, groups = ids[rows], groups[rows]
    found, open_ = _only(ids, groups, count)
    if len(open_):
        rest = np.isin(groups, open_)
        ids, places = ids[rest], np.searchsorted(open_, groups[rest])
        if is_exact:
            ranks: Array = np.zeros(len(ids), np.int64)
        else:
            budget.charge(16 * len(ids))
            ranks = ranks_of(Ids(ids), terms, budget)
        found[open_] = firsts(ids, ~ranks if greatest else ranks, places, len(open_), terms)
    return found


def least_keys(ids: U32, groups: Array, count: int, terms: QueryTerms) -> U32:
    """The term with the least key of each group; 0 for groups without rows, and none of `ids`."""
    rows, _ = _best_rows(by_key(ids, terms), groups, count, False)
    ids, groups = ids[rows], groups[rows]
    found, open_ = _only(ids, groups, count)
    if len(open_):
        rest = np.isin(groups, open_)
        ids, places = ids[rest], np.searchsorted(open_, groups[rest])
        found[open_] = firsts(ids, _ranks_of_keys(ids, terms), places, len(open_), terms)
    return found


def _best_rows(
    parts: Sequence[ComparableRows], groups: Array, count: int, greatest: bool
) -> tuple[Array, bool]:
    """The rows among which the extremes of all groups are; and if those of a group are equal."""
    kept = [np.zeros(0, np.int64)]
    is_exact = True
    decided: Array | None = None
    by_place = groupby(parts[::-1] if greatest else parts, attrgetter("place"))
    for number, (_, members) in enumerate(by_place):
        alike = list(members)
        is_exact &= len(alike) == 1 and alike[0].exact
        if number == 1:
            decided = np.zeros(count, np.bool_)
        if decided is not None:
            decided[groups[kept[-1]]] = True
            alike = [_undecided(part, groups, decided) for part in alike]
        found = [_best(part, groups, count, greatest) for part in alike]
        kept.append(np.concatenate(found))
        if count == 1 and len(kept[-1]):
            break
    return np.concatenate(kept), is_exact


def _undecided(part: ComparableRows, groups: Array, decided: Array) -> ComparableRows:
    """The rows whose group has no row in a better place."""
    chosen = np.flatnonzero(~decided[part.of(groups)])
    rows = chosen if part.rows is None else part.rows[chosen]
    words = None if part.words is None else part.words[chosen]
    return ComparableRows(part.place, part.kind, rows, words, part.exact)


def _best(part: ComparableRows, groups: Array, count: int, greatest: bool) -> Array:
    """The rows of a part with the best word of their group; all rows if it has no words."""
    words = part.words
    if words is None:
        return np.arange(len(groups)) if part.rows is None else part.rows
    if len(words) == 0:
        return np.zeros(0, np.int64)
    if count == 1:
        chosen = np.flatnonzero(words == (words.max() if greatest else words.min()))
    else:
        own = part.of(groups)
        if greatest:
            best = np.zeros(count, words.dtype)
            np.maximum.at(best, own, words)
        else:
            best = np.full(count, np.iinfo(words.dtype).max, words.dtype)  # others are slow
            np.minimum.at(best, own, words)
        chosen = np.flatnonzero(words == best[own])
    return chosen if part.rows is None else part.rows[chosen]


def _only(ids: U32, groups: Array, count: int) -> tuple[U32, Array]:
    """An id of each group, and the groups that have several, increasing."""
    found = np.zeros(count, ID)
    found[groups] = ids
    return found, np.unique(groups[found[groups] != ids])


def firsts(ids: U32, ranks: Array, groups: Array, size: int, terms: QueryTerms) -> U32:
    """The id with the least rank in each group, the least key if several; 0 for empty groups.

    >>> from triplestore.terms.dictionary import Dictionary
    >>> ids, groups = np.array([4, 5, 6], np.uint32), np.array([0, 0, 2])
    >>> firsts(ids, np.array([9, 7, 8]), groups, 3, QueryTerms(Dictionary())).tolist()
    [5, 0, 6]
    """
    best = np.full(size, np.iinfo(ranks.dtype).max, ranks.dtype)
    np.minimum.at(best, groups, ranks)
    rows = np.flatnonzero(ranks == best[groups])
    ids, groups = ids[rows], groups[rows]
    found, several = _only(ids, groups, size)
    if len(several):
        rest = np.isin(groups, several)
        ids, places = ids[rest], np.searchsorted(several, groups[rest])
        found[several] = firsts(ids, _ranks_of_keys(ids, terms), places, len(several), terms)
    return found


def _ranks_of_keys(ids: U32, terms: QueryTerms) -> Array:
    """Numbers that compare as the keys of terms do; each term is looked at once."""
    distinct, codes = np.unique(ids, return_inverse=True)
    keys = terms.keys(distinct)
    order = sorted(range(len(distinct)), key=lambda place: keys[place] or b"")
    ranks = np.empty(len(distinct), np.int64)
    ranks[order] = np.arange(len(distinct))
    return ranks[codes]

"""Numbers that compare as terms do in SPARQL's order.

Start at `ranks_of`. Unbound comes first, then blank nodes, IRIs, and literals: numbers, booleans,
times, durations, strings, strings with a language, others (see `compare_terms.order_key`).
Where one number per term compares all of them (`comparable_rows`), that is the rank. Otherwise
blank nodes, IRIs and strings are sorted by their bytes, numbers and times by their value keys and,
if one key stands for several values, exactly; only other terms are compared as Python values, once
per distinct term. Always true: terms that are equal by that order have the same rank, except
numbers of different datatypes that are equal as SPARQL compares them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np

from triplestore.expressions.compare_terms import order_key
from triplestore.expressions.query_terms import U32, QueryTerms
from triplestore.expressions.text_columns import texts_of_ids
from triplestore.expressions.vectors import Booleans, Coded, Ids, Numbers, Vector, coded
from triplestore.operators.context import Budget
from triplestore.operators.frame import ID, INTEGER, Array
from triplestore.operators.group_table import use_kernels
from triplestore.operators.row_keys import distinct_ids
from triplestore.operators.sort_positions import sorted_in_steps
from triplestore.sparql.evaluate.comparable_rows import BY_BYTES, ComparableRows, by_value
from triplestore.sparql.thresholds import SPARQL
from triplestore.terms.dictionary import FIRST_QUERY_ID
from triplestore.terms.sort_terms import sorted_terms
from triplestore.terms.spans import copy_texts, offsets_of
from triplestore.terms.term_keys import BLANK, IRI, LANG, STRING, TYPED

_PIECE = 1 << 13
_EVERY = 1024
_SHORT = 256  # maximum number of bytes of a term whose sort key is cached
_SIGN = np.uint64(1 << 63)
_BY_BYTES = ({BLANK}, {IRI}, {STRING})


_order_key = lru_cache(1 << 14)(order_key)


def ranks_of(vector: Vector, terms: QueryTerms, budget: Budget) -> Array:
    """Numbers (u32, i64 or f64) that compare as the values do; the least where there is none."""
    if isinstance(vector, Booleans):
        ranks = vector.values.astype(np.int64) + 1
        return ranks if vector.valid is None else np.where(vector.valid, ranks, 0)
    if isinstance(vector, Numbers) and vector.valid is None:
        values = vector.values
        if values.dtype == INTEGER or not np.isnan(values).any():
            return values
    if isinstance(vector, Ids):
        if len(vector.ids) <= SPARQL.ranked_one_by_one:
            return _ranks_of_few(vector.ids, terms)
        parts = by_value(vector.ids, terms)
        if len(parts) == 1 and parts[0].words is not None and parts[0].exact:
            words = parts[0].words
            return words if words.dtype == ID else (words ^ _SIGN).view(np.int64)
        distinct, places = distinct_ids(vector.ids)
        return _ranks_of_ids(distinct, terms, budget)[places]
    made = coded(vector, terms)
    return _ranks_of_keys(made, budget)


def _ranks_of_ids(ids: U32, terms: QueryTerms, budget: Budget) -> Array:
    """The ranks of distinct ids, increasing."""
    if len(ids) <= SPARQL.ranked_one_by_one:
        return _ranks_of_few(ids, terms)
    budget.charge(40 * len(ids))
    ranks = np.zeros(len(ids), np.int64)
    top = 0
    for _, members in groupby(by_value(ids, terms), attrgetter("place")):
        alike = list(members)
        rows = alike[0].of(np.arange(len(ids)))
        if len(alike) > 1:
            rows = np.sort(np.concatenate([rows, *(part.rows for part in alike[1:])]))
        top = _rank_alike(ranks, rows, alike, ids, top, terms, budget)
    budget.release(40 * len(ids))
    return ranks


def _rank_alike(
    ranks: Array,
    rows: Array,
    alike: list[ComparableRows],
    ids: U32,
    top: int,
    terms: QueryTerms,
    budget: Budget,
) -> int:
    """Set ranks above `top` for the rows of one place in the order, and return the new top."""
    kinds = {part.kind for part in alike}
    if kinds == {0}:  # unbound
        return top
    one = alike[0]
    if len(alike) == 1 and one.words is not None:
        if one.kind == TYPED:
            return _number_words(ranks, rows, one.words, one.exact, ids, top, terms, budget)
        if one.exact:
            return _number(ranks, rows, np.arange(len(rows)), top)  # increasing ids
    if kinds <= BY_BYTES:
        return _number(ranks, rows, _by_bytes(ids[rows], terms, budget), top)
    if kinds == {LANG} and all(part.words is not None for part in alike):
        order = _by_lexical_form(ids[rows], terms, budget)
        if order is not None:
            return _number(ranks, rows, order, top)
    keys = _order_keys(_keys(ids[rows], terms, budget), budget)
    return _number_python(ranks, rows, _order_of(keys, budget), keys, top)


def _ranks_of_few(ids: U32, terms: QueryTerms) -> Array:
    """The ranks of few terms."""
    listed = ids.tolist()
    keys = {term_id: terms.key(term_id) for term_id in listed if term_id}
    by: list[tuple[Any, int]]
    if {key[0] for key in keys.values()} in _BY_BYTES:
        by = [(key, term_id) for term_id, key in keys.items()]
    else:
        by = [
            (_order_key(key) if len(key) <= _SHORT else order_key(key), term_id)
            for term_id, key in keys.items()
        ]
    by.sort(key=itemgetter(0))
    ranks, rank, last = {0: 0}, 0, None
    for value, term_id in by:
        rank += value != last
        ranks[term_id], last = rank, value
    return np.array([ranks[term_id] for term_id in listed], np.int64)


def _number(ranks: Array, rows: Array, order: Array, top: int) -> int:
    """Set distinct ranks above `top` for rows in an order, and return the new top."""
    ranks[rows[order]] = np.arange(top + 1, top + 1 + len(rows))
    return top + len(rows)


def _number_words(
    ranks: Array,
    rows: Array,
    words: Array,
    is_exact: bool,
    ids: U32,
    top: int,
    terms: QueryTerms,
    budget: Budget,
) -> int:
    """Ranks above `top` for numbers or times by their value keys.

    Values with different keys have the order of the keys. Those with equal keys are compared
    exactly, unless all keys are exact.
    """
    distinct, places, counts = np.unique(words, return_inverse=True, return_counts=True)
    within = np.zeros(len(rows), np.int64)
    more = np.zeros(len(distinct), np.int64)  # number of ranks of a key beyond its first
    if not is_exact and len(distinct) < len(rows):
        doubtful = np.flatnonzero(counts[places] > 1)
        listed = _keys(ids[rows[doubtful]], terms, budget)
        by_place: dict[int, list[tuple[tuple[Any, ...], int]]] = {}
        pairs = zip(doubtful.tolist(), places[doubtful].tolist(), listed, strict=True)
        for row, place, key in pairs:
            by_place.setdefault(place, []).append((order_key(key or b""), row))
        for place, members in by_place.items():
            budget.check()
            order = {value: i for i, value in enumerate(sorted({value for value, _ in members}))}
            for value, row in members:
                within[row] = order[value]
            more[place] = len(order) - 1
    ranks[rows] = top + 1 + places + (np.cumsum(more) - more)[places] + within
    return top + len(distinct) + int(more.sum())


def _number_python(
    ranks: Array, rows: Array, order: list[int], keys: list[tuple[object, ...]], top: int
) -> int:
    last = None
    for place in order:
        top += keys[place] != last
        last = keys[place]
        ranks[rows[place]] = top
    return top


def _by_bytes(ids: U32, terms: QueryTerms, budget: Budget) -> Array:
    """The order of terms of one kind by their texts."""
    stored = len(ids) == 0 or int(ids[-1]) < FIRST_QUERY_ID
    if stored and use_kernels(len(ids)):
        budget.check()
        buf, offsets, kinds = terms.dictionary.text(ids)
        budget.charge(buf.nbytes)
        numbers = np.arange(len(ids), dtype=np.uint32)
        order = sorted_terms(buf, offsets.astype(np.uint64), kinds, numbers)
        budget.release(buf.nbytes)
        return order
    keys = [key or b"" for key in _keys(ids, terms, budget)]
    return np.array(_order_of(keys, budget), np.int64)


def _by_lexical_form(ids: U32, terms: QueryTerms, budget: Budget) -> Array | None:
    """The order of strings of one language by their texts without the language."""
    texts = texts_of_ids(ids, terms)
    if texts is None:
        return None
    budget.check()
    offsets = offsets_of(texts.lengths)
    buf = np.empty(int(offsets[-1]), np.uint8)
    budget.charge(buf.nbytes)
    copy_texts(texts.buf, texts.starts, texts.lengths, buf, offsets[:-1].astype(np.int64))
    kinds, numbers = np.ones(len(ids), np.uint8), np.arange(len(ids), dtype=np.uint32)
    order = sorted_terms(buf, offsets, kinds, numbers)
    budget.release(buf.nbytes)
    return order


def _order_keys(keys: list[bytes | None], budget: Budget) -> list[tuple[Any, ...]]:
    """The sort keys of terms."""
    found = []
    for at, key in enumerate(keys):
        if at % _EVERY == 0:
            budget.check()
        if key is not None:
            found.append(order_key(key))
    return found


def _order_of(keys: Sequence[Any], budget: Budget) -> list[int]:
    """The places of values in sorted order."""
    return [at for _, at in sorted_in_steps([(key, at) for at, key in enumerate(keys)], budget)]


def _keys(ids: U32, terms: QueryTerms, budget: Budget) -> list[bytes | None]:
    """The keys of terms, charged to the budget; the caller releases them."""
    keys: list[bytes | None] = []
    for start in range(0, len(ids), _PIECE):
        budget.check()
        part = ids[start : start + _PIECE]
        budget.charge(int(terms.lengths(part).sum()) + 60 * len(part))
        keys.extend(terms.keys(part))
    return keys


def _ranks_of_keys(made: Coded, budget: Budget) -> Array:
    """The ranks of computed terms."""
    budget.charge(100 * len(made.keys))
    named = [(key, code) for code, key in enumerate(made.keys) if key is not None]
    by: Callable[[bytes], Any] = order_key  # its results can be compared with each other
    if {key[0] for key, _ in named} in ({IRI}, {STRING}):
        by = bytes
    keyed = []
    for at, (key, code) in enumerate(named):
        if at % _EVERY == 0:
            budget.check()
        keyed.append((by(key), code))
    keyed = sorted_in_steps(keyed, budget)
    ranks = np.zeros(len(made.keys), np.int64)
    rank, last = 0, None
    for key_, code in keyed:
        rank += key_ != last
        ranks[code], last = rank, key_
    budget.release(100 * len(made.keys))
    return ranks[made.codes]

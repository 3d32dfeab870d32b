"""Ids to terms of pyoxigraph, many at a time.

Start at `terms_of`. Each distinct id is decoded once; texts of one kind are cut from one string and
go through pyoxigraph's constructor in one `map`. Always true: the terms are those of
`QueryTerms.term`. Costs 0.5 us for each distinct IRI, 0.3 us of it in pyoxigraph's check of the
IRI.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pyoxigraph as ox

from triplestore.expressions.query_terms import U32, QueryTerms
from triplestore.operators.frame import Array
from triplestore.operators.row_keys import distinct_ids
from triplestore.sparql.thresholds import SPARQL
from triplestore.terms.dictionary import FIRST_QUERY_ID
from triplestore.terms.term_keys import BLANK, IRI, STRING, term_of

_SHORT = 256  # maximum average number of bytes of terms that are cached
_PLAIN: dict[int, Callable[[str], Any]] = {
    IRI: ox.NamedNode,
    BLANK: ox.BlankNode,
    STRING: ox.Literal,
}


def terms_of(ids: U32, terms: QueryTerms) -> list[Any]:
    """The terms of ids; None for 0.

    >>> from triplestore.terms.dictionary import Dictionary
    >>> dictionary = Dictionary()
    >>> ids = dictionary.encode([ox.Literal(str(i)) for i in range(250)])
    >>> made = terms_of(np.append(ids, np.uint32(0)), QueryTerms(dictionary))
    >>> made[49].value, made[250]
    ('49', None)
    """
    if len(ids) <= SPARQL.cached_terms:
        return _some_terms(ids, terms)
    if (ids[1:] > ids[:-1]).all():
        return _distinct_terms(ids, terms)
    distinct, places = distinct_ids(ids)
    if len(distinct) * 4 < len(ids):
        made = np.empty(len(distinct), object)
        made[:] = _distinct_terms(distinct, terms)
        listed: list[Any] = made[places].tolist()
        return listed
    found = _distinct_terms(distinct, terms)
    return [found[place] for place in places.tolist()]


def _some_terms(ids: U32, terms: QueryTerms) -> list[Any]:
    """Terms from the cache of recent terms; missing ones are made, and cached."""
    listed = ids.tolist()
    found = list(map(terms.dictionary.seen.get, listed))
    if None not in found:
        return found
    live = terms.dictionary.first_live
    missing = [i for i, term in zip(listed, found, strict=True) if term is None and i < live]
    if len(missing) <= SPARQL.terms_one_by_one:
        one = terms.term
        return [
            term or (one(term_id) if term_id else None)
            for term_id, term in zip(listed, found, strict=True)
        ]
    distinct = distinct_ids(np.array(missing, np.uint32))[0]
    made = _distinct_terms(distinct, terms)
    by_id = dict(zip(distinct.tolist(), made, strict=True))
    return [
        term or (by_id[term_id] if term_id < live else terms.term(term_id))
        for term_id, term in zip(listed, found, strict=True)
    ]


def _distinct_terms(ids: U32, terms: QueryTerms) -> list[Any]:
    # Terms are never in cycles, but making many triggers the garbage collector again and again,
    # which visits all objects of the process: half of the time, if there are many.
    was_on = gc.isenabled()
    gc.disable()
    try:
        return _made(ids, terms)
    finally:
        if was_on:
            gc.enable()


def _made(ids: U32, terms: QueryTerms) -> list[Any]:
    own = int(ids.searchsorted(np.uint32(FIRST_QUERY_ID)))
    made = _stored_terms(ids[:own], terms)
    made += [None if key is None else term_of(key) for key in terms.keys(ids[own:])]
    return made


def _stored_terms(ids: U32, terms: QueryTerms) -> list[Any]:
    buf, offsets, kinds = terms.dictionary.text(ids)
    made = _of_texts(buf, offsets, kinds)
    if len(ids) <= SPARQL.cached_terms and len(buf) <= _SHORT * len(ids):
        first = 0 if len(ids) == 0 or ids[0] else 1  # 0 is unbound
        terms.dictionary.keep(ids[first:], made[first:])
    return made


def _of_texts(buf: Array, offsets: Array, kinds: Array) -> list[Any]:
    raw = buf.tobytes()
    if not raw.isascii():
        return _one_by_one(raw, offsets.tolist(), kinds.tolist())
    text = raw.decode("ascii")
    texts = [text[start:end] for start, end in pairwise(offsets.tolist())]
    first = int(kinds[0]) if len(kinds) else 0
    make = _PLAIN.get(first)
    if make is not None and (kinds == first).all():
        try:
            return list(map(make, texts))
        except ValueError:  # invalid terms from a lenient parser
            return [term_of(bytes((first,)) + one.encode()) for one in texts]
    return [
        term_of(bytes((kind,)) + one.encode()) if kind else None
        for kind, one in zip(kinds.tolist(), texts, strict=True)
    ]


def _one_by_one(raw: bytes, offsets: list[int], kinds: list[int]) -> list[Any]:
    return [
        term_of(bytes((kind,)) + raw[start:end]) if kind else None
        for kind, (start, end) in zip(kinds, pairwise(offsets), strict=True)
    ]

"""Aggregates of SPARQL over groups of rows: COUNT SUM MIN MAX AVG SAMPLE GROUP_CONCAT.

Start at `aggregate`. Always true: a result depends only on the values of a group, not on
the order of its rows, so it is the same if computed at once or maintained. Sums of integers and
decimals are exact; sums of floats and doubles are rounded once. If several terms qualify, MIN, MAX
and SAMPLE return the least one, and GROUP_CONCAT uses the same order. A row without a value makes
SUM, AVG, MIN and MAX of its group an error; the other aggregates ignore it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial
from itertools import pairwise, repeat
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplestore.errors import UsageError
from triplestore.expressions.compare_terms import order_key
from triplestore.expressions.library.numbers import (
    DECIMAL,
    FLOAT,
    INTEGER,
    ExpressionError,
    Number,
    divide,
    exact_decimal,
    key_of_number,
    key_of_quotient,
    maybe_number,
    number_of,
)
from triplestore.expressions.library.strings import lexical_form, string
from triplestore.expressions.query_terms import QueryTerms
from triplestore.expressions.shapes import TEXT
from triplestore.expressions.text_columns import (
    Texts,
    joined,
    listed_texts,
    ranks_of_texts,
    worth_texts,
)
from triplestore.expressions.thresholds import EXPRESSIONS
from triplestore.expressions.vectors import (
    Coded,
    Ids,
    Keys,
    Mask,
    Numbers,
    Vector,
    coded,
    known,
    listed_once,
    numbers_of,
    take,
)
from triplestore.operators.context import current
from triplestore.operators.row_keys import distinct_ids
from triplestore.operators.sort_positions import sorted_in_steps
from triplestore.terms.term_keys import IRI, LANG, STRING, TYPED

Groups: TypeAlias = NDArray[np.int64]
Times: TypeAlias = NDArray[np.int64] | None


def aggregate(
    function: str,
    vector: Vector | None,
    groups: Groups,
    count: int,
    terms: QueryTerms,
    *,
    distinct: bool = False,
    separator: str | None = None,
    times: Times = None,
) -> Vector:
    """One result for each of the groups 0 .. count-1.

    function  count sum min max avg sample group_concat
    vector    the values of the rows; None for count(*)
    groups    the group of each row
    times     how often each row counts in the sum or mean of the only group; None for once

    >>> from triplestore.terms.dictionary import Dictionary
    >>> prices = Numbers(INTEGER, np.array([3, 5, 7]))
    >>> total = aggregate("sum", prices, np.array([0, 1, 1]), 2, QueryTerms(Dictionary()))
    >>> total.values.tolist()
    [3, 12]
    """
    if vector is None:
        return Numbers(INTEGER, np.bincount(groups, minlength=count))
    has = known(vector)
    if function in ("sum", "avg", "min", "max") and not has.all():
        bad = np.unique(groups[~has])
    else:
        bad = np.zeros(0, np.int64)
    if not has.all():
        vector, groups = take(vector, has), groups[has]
        times = None if times is None else times[has]
    if distinct:
        vector, groups = _distinct(vector, groups, terms)
    if function == "count":
        return Numbers(INTEGER, np.bincount(groups, minlength=count))
    if function == "sum":
        return _without(_sums(vector, groups, count, terms, times), bad, count, terms)
    if function == "avg":
        return _without(_means(vector, groups, count, terms, times), bad, count, terms)
    if function in ("min", "max"):
        found = _extremes(vector, groups, count, terms, function == "max")
        return _without(found, bad, count, terms)
    if function == "sample":
        return _first(coded(vector, terms), groups, count, _same, False)
    if function == "group_concat":
        between = " " if separator is None else separator
        by_columns = _joined(vector, groups, count, terms, between)
        if by_columns is not None:
            return by_columns
        return _concatenated(vector, groups, count, terms, between)
    raise UsageError(f"unknown aggregate {function}")


_EVERY = 1024
"""Number of values between two checks of the limits."""


def _distinct(vector: Vector, groups: Groups, terms: QueryTerms) -> tuple[Vector, Groups]:
    """Each distinct term of a group once."""
    if isinstance(vector, Ids):
        ids, codes = distinct_ids(vector.ids)
        groups, codes = np.divmod(np.unique(groups * len(ids) + codes), max(len(ids), 1))
        return Ids(ids[codes]), groups
    made = listed_once(coded(vector, terms))
    pairs = np.unique(groups * len(made.keys) + made.codes)
    groups, codes = np.divmod(pairs, len(made.keys))
    return Coded(made.keys, codes), groups


def _without(vector: Vector, bad: Groups, count: int, terms: QueryTerms) -> Vector:
    """The results with errors in these groups."""
    if len(bad) == 0:
        return vector
    valid = known(vector).copy()
    valid[bad] = False
    made = coded(vector, terms)
    return Coded([*made.keys, None], np.where(valid, made.codes, len(made.keys)))


# --- sums ----------------------------------------------------------------------------------------

_SAFE = float(1 << 62)


def _sums(
    vector: Vector, groups: Groups, count: int, terms: QueryTerms, times: Times = None
) -> Vector:
    numbers = numbers_of(vector, terms)
    if numbers is not None and numbers.valid is None:
        if numbers.rank <= DECIMAL:
            sums = _exact_sums(numbers, groups, count, times)
            if sums is not None:
                return sums
        elif times is None and np.isfinite(numbers.values).all():
            return _float_sums(numbers, groups, count)
    found = _numbers_of_groups(vector, groups, count, terms)
    if times is None:
        return _each(found, total)
    if count != 1:
        raise AssertionError("rows count several times only in the group of all rows")
    return _each(found, partial(total, times=times.tolist()))


def _exact_sums(numbers: Numbers, groups: Groups, count: int, times: Times) -> Numbers | None:
    """Sums of integers or decimals; None if they may not fit in 64 bits, or are of two types."""
    values = numbers.values
    size = len(values) if times is None else int(times.sum())
    if float(np.abs(values).max(initial=0)) * size >= _SAFE:
        return None
    if times is not None:
        values = values * times
    if count == 1:
        sums = np.array([values.sum()])
    else:
        sums = np.zeros(count, np.int64)
        np.add.at(sums, groups, values)
    if numbers.rank == DECIMAL and not np.bincount(groups, minlength=count).all():
        return None  # the sum of no values is an integer
    return Numbers(numbers.rank, sums, None, numbers.scale)


def _float_sums(numbers: Numbers, groups: Groups, count: int) -> Coded:
    """Sums of finite floats or doubles: the exact sums, rounded once."""
    rank = numbers.rank
    keys: Keys = []
    for values in _by_group(numbers.values, groups, count):
        if len(values) == 0:
            keys.append(_ZERO)
            continue
        try:
            number = math.fsum(_listed(values))
            if rank == FLOAT:
                with np.errstate(over="ignore"):
                    number = float(np.float32(number))
            keys.append(key_of_number(Number(rank, number or 0.0)))
        except OverflowError:  # perhaps only on the way
            keys.append(key_of_number(total(Number(rank, value) for value in _listed(values))))
    return Coded(keys, np.arange(count))


def _listed(values: NDArray[Any]) -> Iterator[Any]:
    """The values as Python's numbers, with checks of the limits."""
    for start in range(0, len(values), _LISTED):
        current().check()
        yield from values[start : start + _LISTED].tolist()


_LISTED = 1 << 14


def _means(
    vector: Vector, groups: Groups, count: int, terms: QueryTerms, times: Times = None
) -> Vector:
    sums = _sums(vector, groups, count, terms, times)
    sizes = np.bincount(groups, times, minlength=count).astype(np.int64).tolist()
    keys: Keys = []
    if isinstance(sums, Numbers):  # exact, and no group has an error
        unit = 10**sums.scale
        for at, (value, size) in enumerate(zip(sums.values.tolist(), sizes, strict=True)):
            if at % _EVERY == 0:
                current().check()
            keys.append(key_of_quotient(value, size * unit) if size else _ZERO)
        return Coded(keys, np.arange(count))
    totals = coded(sums, terms)
    for at, (code, size) in enumerate(zip(totals.codes.tolist(), sizes, strict=True)):
        if at % _EVERY == 0:
            current().check()
        key = totals.keys[code]
        keys.append(_mean(key, size) if size and key is not None else key)
    return Coded(keys, np.arange(count))


def _mean(sum_key: bytes, size: int) -> bytes | None:
    try:
        return key_of_number(divide(number_of(sum_key), Number(INTEGER, size)))
    except ExpressionError:
        return None


_ZERO = key_of_number(Number(INTEGER, 0))


def total(numbers: Iterable[Number], times: Iterable[int] | None = None) -> Number:
    """The sum, in the greatest type that occurs; it does not depend on the order.

    times  how often each number counts; None for once

    >>> total([Number(4, 1e100), Number(INTEGER, 1), Number(4, -1e100)])
    Number(rank=4, value=1.0)
    """
    rank = INTEGER
    exact = Fraction(0)
    special = 0.0
    check = current().check
    weights = repeat(1) if times is None else times
    for at, (number, weight) in enumerate(zip(numbers, weights, strict=False)):
        if at % _EVERY == 0:
            check()
        rank = max(rank, number.rank)
        if number.rank >= FLOAT and not math.isfinite(number.value):
            special += number.value
        else:
            exact += Fraction(number.value) * weight
    if rank == INTEGER:
        return Number(rank, int(exact))
    if rank == DECIMAL:
        return Number(rank, exact_decimal(exact))
    if special != 0:  # an infinity, or NaN
        return Number(rank, special)
    return Number(rank, _rounded(exact, rank))


def _rounded(exact: Fraction, rank: int) -> float:
    try:
        value = float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
    with np.errstate(over="ignore"):
        return float(np.float32(value)) if rank == FLOAT else value


def _each(
    groups: Iterator[list[Number] | None], compute: Callable[[list[Number]], Number]
) -> Coded:
    keys: Keys = []
    check = current().check
    for at, numbers in enumerate(groups):
        if at % _EVERY == 0:
            check()
        try:
            keys.append(None if numbers is None else key_of_number(compute(numbers)))
        except ExpressionError:
            keys.append(None)
    return Coded(keys, np.arange(len(keys)))


def _numbers_of_groups(
    vector: Vector, groups: Groups, count: int, terms: QueryTerms
) -> Iterator[list[Number] | None]:
    """The numbers of each group; None where a value is not a number."""
    made = coded(vector, terms)
    numbers: list[Number | None] = []
    for at, key in enumerate(made.keys):
        if at % _EVERY == 0:
            current().check()
        numbers.append(None if key is None else maybe_number(key))
    for codes in _by_group(made.codes, groups, count):
        found = [numbers[code] for code in codes.tolist()]
        proper = [number for number in found if number is not None]
        yield proper if len(proper) == len(found) else None


def _by_group(values: NDArray[Any], groups: Groups, count: int) -> Iterator[NDArray[Any]]:
    order = np.argsort(groups, kind="stable")
    stops = np.cumsum(np.bincount(groups, minlength=count)).tolist()
    ordered = values[order]
    start = 0
    for stop in stops:
        yield ordered[start:stop]
        start = stop


# --- the least, the greatest, any ----------------------------------------------------------------


def _extremes(
    vector: Vector, groups: Groups, count: int, terms: QueryTerms, greatest: bool
) -> Vector:
    if isinstance(vector, Numbers) and not (vector.values != vector.values).any():
        return _extreme_numbers(vector, groups, count, greatest)
    if isinstance(vector, Ids):
        numbers = numbers_of(vector, terms)
        if numbers is not None and numbers.valid is None and numbers.rank <= DECIMAL:
            return _extreme_terms(vector, numbers, groups, count, terms, greatest)
    return _first(coded(vector, terms), groups, count, order_key, greatest)


def _extreme_terms(
    vector: Ids, numbers: Numbers, groups: Groups, count: int, terms: QueryTerms, greatest: bool
) -> Vector:
    """The terms of the least or greatest numbers, for exact numbers, without sorting them. Of
    several terms of the same number (1 and 01) the least."""
    values = -numbers.values if greatest else numbers.values
    best = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(best, groups, values)
    is_best = values == best[groups]
    found = np.zeros(count, np.uint32)
    found[groups[is_best]] = vector.ids[is_best]
    others = is_best & (vector.ids != found[groups])
    if not others.any():
        return Ids(found)
    several = np.unique(groups[others])
    rows = np.isin(groups, several) & is_best
    places = np.searchsorted(several, groups[rows])
    among = coded(Ids(vector.ids[rows]), terms)
    found[several] = terms.encode_keys(_keys_of(_first(among, places, len(several), _same, False)))
    return Ids(found)


def _keys_of(made: Coded) -> Keys:
    return [made.keys[code] for code in made.codes.tolist()]


def _extreme_numbers(vector: Numbers, groups: Groups, count: int, greatest: bool) -> Numbers:
    values = vector.values
    worst: float
    if values.dtype.kind == "f":
        worst = -np.inf if greatest else np.inf
    else:
        limits = np.iinfo(values.dtype)
        worst = limits.min if greatest else limits.max
    found = np.full(count, worst, values.dtype)
    (np.maximum if greatest else np.minimum).at(found, groups, values)
    valid: Mask = np.bincount(groups, minlength=count) > 0
    return Numbers(vector.rank, found, None if valid.all() else valid, vector.scale)


def _first(
    made: Coded, groups: Groups, count: int, rank_by: Callable[[bytes], Any], greatest: bool
) -> Coded:
    """The first (or last) term of each group; of equal ones the least."""
    used = np.unique(made.codes).tolist()
    named = sorted((key, code) for code in used if (key := made.keys[code]) is not None)
    named.sort(key=lambda pair: rank_by(pair[0]), reverse=greatest)
    rank = np.zeros(len(made.keys), np.int64)
    rank[[code for _, code in named]] = np.arange(len(named))
    best = np.full(count, len(named), np.int64)
    np.minimum.at(best, groups, rank[made.codes])
    keys: Keys = [key for key, _ in named]
    return Coded([*keys, None], best)


def _same(key: bytes) -> bytes:
    return key


# --- texts ---------------------------------------------------------------------------------------


def _joined(
    vector: Vector, groups: Groups, count: int, terms: QueryTerms, separator: str
) -> Vector | None:
    """GROUP_CONCAT by columns of texts; None for few rows, and for computed terms of many kinds."""
    if not worth_texts(len(groups)):
        return None
    made: Texts | None = None
    ranks: NDArray[np.int64] | None = None
    if isinstance(vector, Ids):
        made = vector.texts(terms)
        kinds = terms.dictionary.stretches.between(vector.ids)
        if made is not None and all(kinds) and all(a < b for a, b in pairwise(kinds)):
            ranks = np.arange(made.size)  # ids are in the order of keys
        elif made is not None:
            ranks = ranks_of_texts(*terms.spans(distinct_ids(vector.ids)[0]))
    elif isinstance(vector, Texts) and (vector.shapes == TEXT).all():
        made = listed_texts(vector)
        kinds_of = made.shapes.astype(np.uint8)
        ranks = ranks_of_texts(made.buf, made.starts, made.lengths, kinds_of)
    if made is None or ranks is None:
        return None
    has_text = terms.shapes.mapped("lexical form", _has_lexical_form, np.bool_)
    return joined(made, ranks, groups, count, separator.encode(), has_text)


def _has_lexical_form(key: bytes) -> bool:
    return key[0] in (IRI, STRING, LANG, TYPED)


def _concatenated(
    vector: Vector, groups: Groups, count: int, terms: QueryTerms, separator: str
) -> Coded:
    made = coded(vector, terms)
    keys: Keys = []
    limits, size = current(), 0
    for codes in _by_group(made.codes, groups, count):
        # In a group of more rows than keys, keys repeat: each is sorted and made a text once.
        numbers = None
        if len(codes) > max(EXPRESSIONS.counted_rows, len(made.keys)):
            numbers = _occurrences(codes, made.keys)
            members = list(numbers)
            size += sum((len(key) + len(separator)) * many for key, many in numbers.items())
        else:
            members = [key for code in codes.tolist() if (key := made.keys[code]) is not None]
            size += sum(map(len, members)) + len(separator) * len(members)
        limits.need(4 * size)  # the text, its bytes, and a copy of each
        members = sorted_in_steps(members, limits)
        try:
            texts = map(lexical_form, members)
            if numbers is not None:
                texts = map(separator.join, map(repeat, texts, map(numbers.__getitem__, members)))
            keys.append(string(separator.join(texts)))
        except ExpressionError:
            keys.append(None)
    return Coded(keys, np.arange(count))


def _occurrences(codes: NDArray[Any], keys: Keys) -> dict[bytes, int]:
    """How often each key occurs."""
    counts = np.bincount(codes, minlength=len(keys))
    found: dict[bytes, int] = {}
    for code in counts.nonzero()[0].tolist():
        key = keys[code]
        if key is not None:
            found[key] = found.get(key, 0) + int(counts[code])
    return found

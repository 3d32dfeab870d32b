"""The comparisons of SPARQL on two terms: `=`, `<` and the truth of a term.

Start at `equal`. Always true: a term equals itself (except NaN); numbers compare by value
after promotion, other literals within one value space; literals of different known value spaces are
unequal. If a datatype is unknown, or a literal ill-typed, comparing two distinct terms is an error
(unless one has a language tag). This module compares one pair at a time; `evaluate_columns` decides
most pairs by columns of values first.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

from triplestore.expressions.library.numbers import ExpressionError, maybe_number
from triplestore.terms.term_keys import (
    BLANK,
    IRI,
    LANG,
    STRING,
    TRIPLE,
    TYPED,
    cache_of_short,
)
from triplestore.terms.triples.split_triples import parts_of
from triplestore.terms.values import xsd
from triplestore.terms.values.value_keys import value_of
from triplestore.terms.values.xsd import Space, Value
from triplestore.terms.values.xsd_temporal import Duration, Moment

TRUE = b'\x05true"^^<http://www.w3.org/2001/XMLSchema#boolean>'
FALSE = b'\x05false"^^<http://www.w3.org/2001/XMLSchema#boolean>'


def key_of_boolean(value: bool) -> bytes:
    """The term key of a boolean."""
    return TRUE if value else FALSE


@cache_of_short(1 << 16)
def value_of_term(key: bytes) -> Value | None:
    """The value of a literal, or None."""
    return value_of(key)


def equal(left: bytes, right: bytes) -> bool:
    """left = right; ExpressionError if that is not known.

    >>> number = b'\\x05%s"^^<http://www.w3.org/2001/XMLSchema#%s>'
    >>> equal(number % (b"1", b"int"), number % (b"1e0", b"double"))
    True
    """
    if left == right:
        return not _is_nan(left)
    kinds = (left[0], right[0])
    if kinds == (TRIPLE, TRIPLE):
        return _equal_triples(left, right)
    if IRI in kinds or BLANK in kinds or TRIPLE in kinds:
        return False
    if TYPED not in kinds:
        return False
    a, b = value_of_term(left), value_of_term(right)
    if a is None or b is None:
        if LANG in kinds:
            return False  # the other is not known, but has no language tag
        raise ExpressionError
    return _equal_values(a, b)


def _equal_values(a: Value, b: Value) -> bool:
    if a.space == b.space == Space.DURATION:
        return a.data == b.data
    return xsd.compare(a, b) == 0


def _equal_triples(left: bytes, right: bytes) -> bool:
    unknown = False
    for one, other in zip(parts_of_triple(left), parts_of_triple(right), strict=True):
        try:
            if not equal(one, other):
                return False
        except ExpressionError:
            unknown = True
    if unknown:
        raise ExpressionError
    return True


def parts_of_triple(key: bytes) -> tuple[bytes, bytes, bytes]:
    """The keys of subject, predicate and object of a triple term."""
    if key[0] != TRIPLE:
        raise ExpressionError
    return parts_of(key)


def _is_nan(key: bytes) -> bool:
    number = maybe_number(key)
    return number is not None and number.value != number.value


def order(left: bytes, right: bytes) -> int | None:
    """-1, 0 or 1; None if one is NaN; ExpressionError if there is no order."""
    a, b = value_of_term(left), value_of_term(right)
    if a is None or b is None:
        raise ExpressionError
    if a.space <= Space.DOUBLE and b.space <= Space.DOUBLE:
        return xsd.compare(a, b)
    if a.space in _NO_ORDER:
        raise ExpressionError
    found = xsd.compare(a, b)
    if found is None:
        raise ExpressionError
    return found


_NO_ORDER = (Space.HEX_BINARY, Space.BASE64_BINARY, Space.ANY_URI)


def less(left: bytes, right: bytes) -> bool:
    """left < right."""
    return order(left, right) == -1


def greater(left: bytes, right: bytes) -> bool:
    """left > right."""
    return order(left, right) == 1


def less_or_equal(left: bytes, right: bytes) -> bool:
    """left <= right."""
    return order(left, right) in (-1, 0)


def greater_or_equal(left: bytes, right: bytes) -> bool:
    """left >= right."""
    return order(left, right) in (0, 1)


def truth(key: bytes) -> bool:
    """The effective boolean value of a boolean, a number or a string without a language."""
    if key in (TRUE, FALSE):
        return key == TRUE
    kind = key[0]
    if kind == STRING:
        return len(key) > 1
    if kind != TYPED:
        raise ExpressionError
    value = value_of_term(key)
    if value is None:
        raise ExpressionError
    if value.space > Space.BOOLEAN and value.space != Space.TEXT:
        raise ExpressionError
    data = value.data
    return bool(data) and data == data


def order_key(key: bytes) -> tuple[Any, ...]:
    """The sort key of a term: blank nodes come first, then IRIs, then literals by kind of value and
    value, then triple terms by subject, predicate and object.

    >>> from triplestore.expressions.library.strings import string
    >>> sorted([string("b"), b"\\x01http://a", string("a")], key=order_key)
    [b'\\x01http://a', b'\\x03a', b'\\x03b']
    """
    kind = key[0]
    if kind in (BLANK, IRI):
        return ({BLANK: 0, IRI: 1}[kind], key)
    if kind == TRIPLE:
        return (9, *map(order_key, parts_of(key)))
    value = value_of_term(key)
    if value is None:
        return (8, key)
    data = value.data
    if isinstance(data, Decimal | float):
        if data != data:
            return (2, 2, 0)
        if data in (math.inf, -math.inf):
            return (2, 1 if data > 0 else -1, 0)
        return (2, 0, Fraction(data))
    if isinstance(data, Moment):
        return (4, value.space, data.instant)
    if isinstance(data, Duration):
        return (5, Fraction(data.months * 2629746) + data.seconds)  # a month of mean length
    if isinstance(data, tuple):
        return (6, 1, data[1], data[0])
    if isinstance(data, str):
        return (6, 0, data)
    return (3, data) if isinstance(data, bool) else (7, value.space, data)

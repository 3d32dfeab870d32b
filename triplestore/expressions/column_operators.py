"""Operators on whole vectors: comparisons, arithmetic and logic.

Start at `compare`. Each function returns the results of `evaluate_scalar` row by row, or None if
these need the terms themselves. Always true: values decide a row only if
`terms.values.value_keys` guarantees that they do; for other rows each distinct pair of terms is
compared once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplestore.expressions.columns.text_comparisons import compare_resources, compare_texts
from triplestore.expressions.compare_terms import TRUE
from triplestore.expressions.library.builtins import STRICT
from triplestore.expressions.library.numbers import DECIMAL, FLOAT, INTEGER, ExpressionError
from triplestore.expressions.query_terms import QueryTerms, values_of_keys
from triplestore.expressions.thresholds import EXPRESSIONS
from triplestore.expressions.vectors import (
    Booleans,
    Coded,
    Ids,
    Mask,
    Numbers,
    Vector,
    both,
    coded,
    ids_of,
    is_float_mark,
    known,
    numbers_of,
    take,
    truths,
    values_of,
)
from triplestore.operators.context import current
from triplestore.operators.frame import Array
from triplestore.terms.term_keys import BLANK, IRI, LANG, STRING, TYPED
from triplestore.terms.values.compare_values import (
    ASK,
    EQUAL,
    GREATER,
    LESS,
    UNORDERED,
    compare_values,
)
from triplestore.terms.values.segment_values import ValueColumn
from triplestore.terms.values.value_keys import CLASS_OF, EXACT, NAN_KEY, Class

# --- comparisons ---------------------------------------------------------------------------------

_DIRECT: dict[str, Callable[[Array, Array], Any]] = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    ">": np.greater,
    "<=": np.less_equal,
    ">=": np.greater_equal,
}
_NAN = np.uint64(NAN_KEY)
_TRUE_FOR = {
    "<": (LESS,),
    ">": (GREATER,),
    "<=": (LESS, EQUAL),
    ">=": (GREATER, EQUAL),
}


def compare(sign: str, left: Vector, right: Vector, terms: QueryTerms) -> Booleans:
    """left = right, left < right, ..."""
    if isinstance(left, Numbers) and isinstance(right, Numbers) and _alike(left, right):
        values = _DIRECT[sign](left.values, right.values)
        return Booleans(values, both(left.valid, right.valid))
    if isinstance(left, Coded) and isinstance(right, Coded) and _are_few(left, right):
        return _of_pairs(sign, left, right)
    if sign in ("=", "!="):
        same = _with_name(left, right, terms) or compare_resources(left, right, terms)
        if same is not None:
            return same if sign == "=" else Booleans(~same.values, same.valid)
    by_text = compare_texts(sign, left, right, terms)
    if by_text is not None:
        return by_text
    a, b = values_of(left, terms), values_of(right, terms)
    direct = _by_keys(sign, a, b)
    if direct is not None:
        return Booleans(direct, None)
    if sign in ("=", "!="):
        found = _equal(left, right, a, b, terms)
        return found if sign == "=" else Booleans(~found.values, found.valid)
    return _ordered(sign, left, right, a, b, terms)


_MARKS = range(256)
_NUMBER = np.array(
    [
        CLASS_OF[mark] == Class.NUMERIC and mark & EXACT and not is_float_mark(mark)
        for mark in _MARKS
    ],
    np.bool_,
)
"""Marks of numbers that compare by their keys, regardless of their datatypes."""

_TIME = np.array(
    [
        Class.DATETIME_ZONED <= CLASS_OF[mark] <= Class.G_DAY_LOCAL and bool(mark & EXACT)
        for mark in _MARKS
    ],
    np.bool_,
)
"""Marks of times that compare by their keys with times of the same mark."""


def _by_keys(sign: str, a: ValueColumn, b: ValueColumn) -> Mask | None:
    """The answers, if keys decide all rows; else None."""
    if len(a.marks) == 0:
        return None
    if _NUMBER[a.marks].all() and _NUMBER[b.marks].all():
        if (a.keys == _NAN).any() or (b.keys == _NAN).any():
            return None
    else:
        mark = a.marks[0]
        if not (_TIME[mark] and (a.marks == mark).all() and (b.marks == mark).all()):
            return None
    found: Mask = _DIRECT[sign](a.keys, b.keys)
    return found


def _alike(left: Numbers, right: Numbers) -> bool:
    """True if the arrays of two vectors compare as their numbers do."""
    return left.rank == right.rank and left.scale == right.scale


def _equal(
    left: Vector, right: Vector, a: ValueColumn, b: ValueColumn, terms: QueryTerms
) -> Booleans:
    order = compare_values(a, b)
    values = order == EQUAL
    valid = known(left) & known(right)
    ask = np.flatnonzero((order == ASK) & valid)
    if len(ask) == 0:
        return Booleans(values, valid)
    one, other = ids_of(take(left, ask), terms), ids_of(take(right, ask), terms)
    same = one == other
    values[ask] = same
    kinds, other_kinds = terms.kinds(one), terms.kinds(other)
    # Distinct terms are unequal if one is not a literal, or if both are plain strings.
    decided = same | _is_resource(kinds) | _is_resource(other_kinds)
    decided |= _is_plain(kinds) & _is_plain(other_kinds)
    rest = np.flatnonzero(~decided)
    if len(rest):
        _ask("=", Ids(one[rest]), Ids(other[rest]), terms, ask[rest], values, valid)
    return Booleans(values, valid)


def _is_resource(kinds: Array) -> Mask:
    found: Mask = (kinds == IRI) | (kinds == BLANK)
    return found


def _is_plain(kinds: Array) -> Mask:
    found: Mask = (kinds == STRING) | (kinds == LANG)
    return found


def _ordered(
    sign: str, left: Vector, right: Vector, a: ValueColumn, b: ValueColumn, terms: QueryTerms
) -> Booleans:
    order = compare_values(a, b)
    values = np.isin(order, _TRUE_FOR[sign])
    valid = known(left) & known(right)
    numbers = (a.classes == Class.NUMERIC) & (b.classes == Class.NUMERIC)
    valid &= (order != UNORDERED) | numbers  # every comparison with NaN is false
    valid &= (a.classes < Class.HEX_BINARY) | (a.classes > Class.ANY_URI)
    ask = np.flatnonzero((order == ASK) & valid)
    if len(ask):
        _ask(sign, take(left, ask), take(right, ask), terms, ask, values, valid)
    return Booleans(values, valid)


def _ask(
    sign: str,
    left: Vector,
    right: Vector,
    terms: QueryTerms,
    rows: Array,
    values: Mask,
    valid: Mask,
) -> None:
    """Compare terms, each distinct pair once, and write the answers for these rows."""
    test = STRICT[sign]
    one, other = coded(left, terms), coded(right, terms)
    if all(key is not None and key[0] == STRING for key in (*one.keys, *other.keys)):
        values[rows] = _compare_strings(sign, one, other)
        return
    pairs, places = np.unique(one.codes * len(other.keys) + other.codes, return_inverse=True)
    answers = np.zeros(len(pairs), np.bool_)
    failed = np.zeros(len(pairs), np.bool_)
    for i, pair in enumerate(pairs.tolist()):
        x, y = divmod(pair, len(other.keys))
        try:
            answers[i] = test(one.keys[x], other.keys[y]) == TRUE
        except ExpressionError:
            failed[i] = True
    values[rows] = answers[places]
    valid[rows[failed[places]]] = False


def _compare_strings(sign: str, one: Coded, other: Coded) -> Mask:
    """Compare plain strings, by their bytes."""
    ordered = sorted({key or b"" for key in (*one.keys, *other.keys)})
    ranks = {key: rank for rank, key in enumerate(ordered)}

    def of(made: Coded) -> Array:
        return np.array([ranks[key or b""] for key in made.keys], np.int64)[made.codes]

    found: Mask = _DIRECT[sign](of(one), of(other))
    return found


def same_term(left: Vector, right: Vector, terms: QueryTerms) -> Booleans:
    """sameTerm."""
    valid = known(left) & known(right)
    return Booleans(ids_of(left, terms) == ids_of(right, terms), valid)


def is_kind(vector: Vector, kinds: tuple[int, ...], terms: QueryTerms) -> Booleans:
    """isIRI, isBLANK, isLITERAL, isTRIPLE."""
    if isinstance(vector, Ids):
        return Booleans(np.isin(terms.kinds(vector.ids), kinds), known(vector))
    made = coded(vector, terms)
    answers = np.array([key is not None and key[0] in kinds for key in made.keys], np.bool_)
    return Booleans(answers[made.codes], known(made))


def _with_name(left: Vector, right: Vector, terms: QueryTerms) -> Booleans | None:
    """Equality if one side has the same IRI or string in all rows, and the other has stored terms
    that are equal to it only if they are it; else None."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Coded) and one.is_constant and isinstance(other, Ids):
            key = one.keys[0]
            if key is not None and key[0] in (IRI, STRING, LANG):
                return among(other, [key], terms)
    return None


def _are_few(left: Coded, right: Coded) -> bool:
    """True if there are far fewer pairs of terms than rows."""
    return len(left.keys) * len(right.keys) <= min(EXPRESSIONS.few_pairs, len(left) // 4)


def _of_pairs(sign: str, left: Coded, right: Coded) -> Booleans:
    """The comparison of each pair of terms, for all rows."""
    test = STRICT[sign]
    values, failed = [], []
    for one in left.keys:
        for other in right.keys:
            try:
                values.append(one is not None and other is not None and test(one, other) == TRUE)
                failed.append(one is None or other is None)
            except ExpressionError:
                values.append(False)
                failed.append(True)
    codes = left.codes if len(right.keys) == 1 else left.codes * len(right.keys) + right.codes
    found = np.array(values, np.bool_)[codes]  # also without a pair: of no rows
    return Booleans(found, ~np.array(failed, np.bool_)[codes] if any(failed) else None)


def among(vector: Vector, keys: list[bytes], terms: QueryTerms) -> Booleans | None:
    """IN a list of IRIs and strings; None if a value may equal a string of another kind.

    An IRI equals only itself; a string may also equal literals with a datatype (`"a"^^xsd:token`),
    or the comparison is an error.
    """
    strings = any(key[0] != IRI for key in keys)
    if isinstance(vector, Ids):
        if strings and (terms.kinds(vector.ids) == TYPED).any():
            return None
        wanted = terms.encode_keys(keys)
        return Booleans(np.isin(vector.ids, wanted), known(vector))
    made, set_ = coded(vector, terms), frozenset(keys)
    if strings and any(key is not None and key[0] == TYPED for key in made.keys):
        return None
    answers = np.array([key in set_ for key in made.keys], np.bool_)
    return Booleans(answers[made.codes], known(made))


NumberSet: TypeAlias = NDArray[np.uint64]
"""The value keys of numbers, increasing, if these decide whether other numbers are equal."""


def number_set(keys: list[bytes]) -> NumberSet | None:
    """The set for `among_numbers`; None if values do not decide."""
    current().need(_SET_BYTES * len(keys))
    found = values_of_keys(keys)
    if not _NUMBER[found.marks].all() or (found.keys == _NAN).any():
        return None
    return np.unique(found.keys)


_SET_BYTES = 120  # per number while its value is read


def among_numbers(vector: Vector, wanted: NumberSet | None, terms: QueryTerms) -> Booleans | None:
    """IN a list of numbers; None if their values do not decide."""
    if wanted is None:
        return None
    values = values_of(vector, terms)
    if not _NUMBER[values.marks].all() or (values.keys == _NAN).any():
        return None
    if len(wanted) == 0:
        return Booleans(np.zeros(len(vector), np.bool_))
    places = np.minimum(wanted.searchsorted(values.keys), len(wanted) - 1)
    return Booleans(wanted[places] == values.keys)


# --- logic ---------------------------------------------------------------------------------------


def any_of(parts: list[Booleans], wanted: bool) -> Booleans:
    """`||` (wanted True) or `&&` (False): one part decides it; else an error if a part is one."""
    rows = len(parts[0])
    decided = np.zeros(rows, np.bool_)
    valid: Mask | None = None
    for part in parts:
        hit = part.values if wanted else ~part.values
        decided |= hit if part.valid is None else hit & part.valid
        valid = both(valid, part.valid)
    values = decided if wanted else ~decided
    return Booleans(values, None if valid is None else valid | decided)


def negated(vector: Vector, terms: QueryTerms) -> Booleans:
    """`!`."""
    found = truths(vector, terms)
    return Booleans(~found.values, found.valid)


# --- arithmetic ----------------------------------------------------------------------------------

_SAFE = float(1 << 62)
_MOST_SCALE = 15


def calculate(sign: str, left: Vector, right: Vector, terms: QueryTerms) -> Numbers | None:
    """left + - * / right for numbers of one rank on each side; None if it needs the terms."""
    a, b = numbers_of(left, terms), numbers_of(right, terms)
    if a is None or b is None:
        return None
    rank = max(a.rank, b.rank)
    if rank <= DECIMAL:
        return _divide_exactly(a, b) if sign == "/" else _calculate_exactly(sign, a, b, rank)
    kind = np.float32 if rank == FLOAT else np.float64
    x, y = _floating(a, kind), _floating(b, kind)
    if x is None or y is None:
        return None
    with np.errstate(all="ignore"):
        values = _FLOATING[sign](x, y)
    return Numbers(rank, values.astype(np.float64), both(a.valid, b.valid))


_FLOATING = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}


def _floating(numbers: Numbers, kind: type[np.floating[Any]]) -> Array | None:
    """The numbers promoted to float or double, rounded once."""
    if numbers.rank != DECIMAL:
        with np.errstate(over="ignore"):
            return numbers.values.astype(kind)
    if kind is np.float32 or not _within(numbers.values, 2.0**53):
        return None
    return numbers.values / 10.0**numbers.scale


def _calculate_exactly(sign: str, a: Numbers, b: Numbers, rank: int) -> Numbers | None:
    x, y = a.values, b.values
    if sign == "*":
        if _size(x) * _size(y) >= _SAFE or a.scale + b.scale > _MOST_SCALE:
            return None
        return Numbers(rank, x * y, both(a.valid, b.valid), a.scale + b.scale)
    scale = max(a.scale, b.scale)
    if (_size(x) * 10.0 ** (scale - a.scale) + _size(y) * 10.0 ** (scale - b.scale)) >= _SAFE:
        return None
    x, y = x * 10 ** (scale - a.scale), y * 10 ** (scale - b.scale)
    return Numbers(rank, x + y if sign == "+" else x - y, both(a.valid, b.valid), scale)


_MOST_NEW_DIGITS = 6


def _divide_exactly(a: Numbers, b: Numbers) -> Numbers | None:
    """The quotients, if all end after a few digits; else None."""
    zero = b.values == 0
    valid = both(both(a.valid, b.valid), ~zero if zero.any() else None)
    divisor = np.where(zero, 1, b.values)
    if _size(divisor) * 10.0**a.scale >= _SAFE:
        return None
    divisor = divisor * 10**a.scale
    for digits in range(_MOST_NEW_DIGITS + 1):
        if _size(a.values) * 10.0 ** (b.scale + digits) >= _SAFE:
            return None
        dividend = a.values * 10 ** (b.scale + digits)
        quotient = dividend // divisor
        if (quotient * divisor == dividend).all():
            return Numbers(DECIMAL, quotient, valid, digits)
    return None


def _size(values: Array) -> float:
    """The greatest absolute value."""
    return max(float(values.max()), -float(values.min()), 0.0) if len(values) else 0.0


def _within(values: Array, limit: float) -> bool:
    return _size(values) < limit


def on_numbers(name: str, vector: Vector, terms: QueryTerms) -> Numbers | None:
    """NEG POS ABS CEIL FLOOR ROUND; None if it needs the terms."""
    numbers = numbers_of(vector, terms)
    if numbers is None or not (numbers.rank > DECIMAL or _within(numbers.values, _SAFE)):
        return None
    if name == "POS":
        return numbers
    if name in ("NEG", "ABS"):
        values = -numbers.values if name == "NEG" else np.abs(numbers.values)
        return Numbers(numbers.rank, values, numbers.valid, numbers.scale)
    if numbers.rank == INTEGER:
        return numbers
    if numbers.rank == DECIMAL:
        return Numbers(DECIMAL, _whole(name, numbers), numbers.valid)
    return Numbers(numbers.rank, _whole_floats(name, numbers.values), numbers.valid)


def _whole(name: str, numbers: Numbers) -> Array:
    power = 10**numbers.scale
    whole: Array = numbers.values // power
    if name == "CEIL":
        whole = -(-numbers.values // power)
    elif name == "ROUND":
        whole = (2 * numbers.values + power) // (2 * power)
    return whole


def _whole_floats(name: str, values: Array) -> Array:
    if name == "CEIL":
        return np.ceil(values)
    below = np.floor(values)
    if name == "FLOOR":
        return below
    with np.errstate(invalid="ignore"):
        return np.copysign(np.where(values - below < 0.5, below, below + 1), values)


# --- choosing ------------------------------------------------------------------------------------


def choose(condition: Mask, left: Vector, right: Vector, terms: QueryTerms) -> Vector:
    """The left value where the condition holds, else the right one."""
    if isinstance(left, Booleans) and isinstance(right, Booleans):
        valid = np.where(condition, known(left), known(right))
        return Booleans(np.where(condition, left.values, right.values), valid)
    if isinstance(left, Numbers) and isinstance(right, Numbers) and _alike(left, right):
        valid = np.where(condition, known(left), known(right))
        values = np.where(condition, left.values, right.values)
        return Numbers(left.rank, values, valid, left.scale)
    if isinstance(left, Coded) and isinstance(right, Coded):
        codes = np.where(condition, left.codes, right.codes + len(left.keys))
        return Coded(left.keys + right.keys, codes)
    return Ids(np.where(condition, ids_of(left, terms), ids_of(right, terms)))

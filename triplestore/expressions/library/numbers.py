"""Numbers of expressions: exact integers and decimals, floats and doubles, and how they mix.

Start at `Number`. Always true: an operation is computed in the greater type of its operands
(integer < decimal < float < double). Integers and decimals are never rounded, except by division,
which is cut off after 18 digits behind the point and 18 significant digits; numbers that are too
large are errors, never approximations. Results are in canonical form (`3` for a decimal, `3.0E0`
for a double).
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from triplestore.terms.term_keys import TYPED, cache_of_short
from triplestore.terms.values import xsd
from triplestore.terms.values.value_keys import split_typed
from triplestore.terms.vocabulary import XSD, XSD_DECIMAL, XSD_DOUBLE, XSD_FLOAT, XSD_INTEGER


class ExpressionError(Exception):
    """An expression has no value here; a FILTER does not let the row pass."""


class Number(NamedTuple):
    """A number: rank 1 integer (int), 2 decimal (Decimal), 3 float and 4 double (float)."""

    rank: int
    value: Any


INTEGER, DECIMAL, FLOAT, DOUBLE = 1, 2, 3, 4
DATATYPE_OF_RANK = ("", XSD_INTEGER, XSD_DECIMAL, XSD_FLOAT, XSD_DOUBLE)
RANKS: dict[str, int] = {
    **{XSD + name: INTEGER for name in xsd.INTEGER_RANGES},
    XSD_DECIMAL: DECIMAL,
    XSD_FLOAT: FLOAT,
    XSD_DOUBLE: DOUBLE,
}
"""Numeric datatype -> rank."""

MOST_DIGITS = 2000
"""Maximum number of digits of a decimal; longer ones are errors."""

_EXACT = decimal.Context(
    prec=MOST_DIGITS,
    Emax=10**6,
    Emin=-(10**6),
    traps=[decimal.Inexact, decimal.Overflow, decimal.InvalidOperation, decimal.DivisionByZero],
)
_DIVISION_DIGITS = 18


def number_of(key: bytes) -> Number:
    """The number of a term; ExpressionError if the term is not a number."""
    found = maybe_number(key)
    if found is None:
        raise ExpressionError
    return found


@cache_of_short(1 << 16)
def maybe_number(key: bytes) -> Number | None:
    """The number of a term; None if the term is not a number.

    >>> maybe_number(b'\\x051.50"^^<http://www.w3.org/2001/XMLSchema#decimal>')
    Number(rank=2, value=Decimal('1.50'))
    """
    if key[0] != TYPED:
        return None
    lexical, datatype = split_typed(key[1:])
    rank = RANKS.get(datatype)
    if rank is None:
        return None
    value = xsd.parse(lexical, datatype)
    if value is None:
        return None
    return Number(rank, int(value.data) if rank == INTEGER else value.data)  # type: ignore[arg-type]


def key_of_number(number: Number) -> bytes:
    """The term key of a number, in canonical form.

    >>> key_of_number(Number(DOUBLE, 1234.5))
    b'\\x051.2345E3"^^<http://www.w3.org/2001/XMLSchema#double>'
    """
    return b"\x05" + text_of(number).encode() + _ENDINGS[number.rank]


def keys_of_integers(values: Iterable[int]) -> list[bytes]:
    """The term keys of integers.

    >>> keys_of_integers([7])
    [b'\\x057"^^<http://www.w3.org/2001/XMLSchema#integer>']
    """
    form = b"\x05%d" + _ENDINGS[INTEGER]
    return [form % value for value in values]


def key_of_quotient(numerator: int, denominator: int) -> bytes:
    """The term key of `quotient`, of which neither is huge; the denominator is positive.

    >>> key_of_quotient(-10, 4)
    b'\\x05-2.5"^^<http://www.w3.org/2001/XMLSchema#decimal>'
    """
    top, digits = abs(numerator), _DIVISION_DIGITS
    if 0 < top < denominator:
        digits += len(str(denominator // top)) - 1
    text = str(top * 10**digits // denominator).rjust(digits + 1, "0")
    behind = text[-digits:].rstrip("0")
    text = f"{text[:-digits]}.{behind}" if behind else text[:-digits]
    sign = "-" if numerator < 0 and text != "0" else ""
    return b"\x05" + f"{sign}{text}".encode() + _ENDINGS[DECIMAL]


_ENDINGS = tuple(f'"^^<{datatype}>'.encode() for datatype in DATATYPE_OF_RANK)


def text_of(number: Number) -> str:
    """The canonical lexical form."""
    if number.rank == INTEGER:
        return f"{Decimal(number.value):f}"
    if number.rank == DECIMAL:
        return decimal_text(number.value)
    return _floating_text(number)


def decimal_text(value: Decimal) -> str:
    """A decimal without redundant zeros: `1.5`, `3`, `-0.25`."""
    text = f"{value:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _floating_text(number: Number) -> str:
    value = number.value
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "INF" if value > 0 else "-INF"
    sign = "-" if math.copysign(1, value) < 0 else ""
    if value == 0:
        return f"{sign}0.0E0"
    digits, exponent = _shortest(number)
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent}"


def _shortest(number: Number) -> tuple[str, int]:
    """The fewest digits that are read as the same number, and the exponent of the first."""
    value = abs(number.value)
    text = str(np.float32(value)) if number.rank == FLOAT else repr(value)
    shortest = Decimal(text)
    return "".join(map(str, shortest.as_tuple().digits)).rstrip("0"), shortest.adjusted()


def plain_text(number: Number) -> str:
    """The result of a cast to xsd:string: doubles of common size have no exponent.

    >>> plain_text(Number(DOUBLE, 15.0)), plain_text(Number(DOUBLE, 1e9))
    ('15', '1.0E9')
    """
    value = number.value
    if number.rank >= FLOAT and math.isfinite(value) and 1e-6 <= abs(value) < 1e6:
        digits, exponent = _shortest(number)
        scaled = Decimal(int(digits)).scaleb(exponent - len(digits) + 1)
        return decimal_text(scaled.copy_sign(Decimal(1) if value > 0 else Decimal(-1)))
    if number.rank >= FLOAT and value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    return text_of(number)


# --- arithmetic ----------------------------------------------------------------------------------


def promoted(number: Number, rank: int) -> Any:
    """The value in a greater type."""
    value = number.value
    if number.rank == rank or number.rank >= FLOAT:
        return value
    if rank == DECIMAL:
        return Decimal(value)
    try:
        double = float(value)
    except OverflowError:
        double = math.inf if value > 0 else -math.inf
    if rank == DOUBLE or not math.isfinite(double):
        return double
    return xsd.round_to_float(Fraction(value))


def add(left: Number, right: Number) -> Number:
    """left + right."""
    return _calculate(left, right, lambda a, b: a + b, _EXACT.add)


def subtract(left: Number, right: Number) -> Number:
    """left - right."""
    return _calculate(left, right, lambda a, b: a - b, _EXACT.subtract)


def multiply(left: Number, right: Number) -> Number:
    """left * right."""
    return _calculate(left, right, lambda a, b: a * b, _EXACT.multiply)


def divide(left: Number, right: Number) -> Number:
    """left / right: of two integers a decimal; by zero an error, except for floats and doubles.

    >>> divide(Number(INTEGER, 1), Number(INTEGER, 3)).value
    Decimal('0.333333333333333333')
    """
    rank = max(left.rank, right.rank, DECIMAL)
    a, b = promoted(left, rank), promoted(right, rank)
    if rank == DECIMAL:
        return Number(rank, _divide_decimals(a, b))
    with np.errstate(all="ignore"):
        if rank == FLOAT:
            return Number(rank, float(np.float32(a) / np.float32(b)))
        return Number(rank, float(np.float64(a) / np.float64(b)))


def exact_decimal(value: Fraction) -> Decimal:
    """A fraction as a decimal; ExpressionError if it has too many digits."""
    try:
        return _EXACT.divide(Decimal(value.numerator), Decimal(value.denominator))
    except decimal.DecimalException:
        raise ExpressionError from None


def _divide_decimals(a: Decimal, b: Decimal) -> Decimal:
    if b == 0:
        raise ExpressionError
    top, under = a.as_integer_ratio(), b.as_integer_ratio()
    return quotient(top[0] * under[1], top[1] * under[0])


def quotient(numerator: int, denominator: int) -> Decimal:
    """A fraction as a decimal, with the number of digits of divisions.

    >>> quotient(-10, 3), quotient(1, 4)
    (Decimal('-3.333333333333333333'), Decimal('0.250000000000000000'))
    """
    if numerator == 0:
        return Decimal(0)
    minus = (numerator < 0) != (denominator < 0)
    top, under = abs(numerator), abs(denominator)
    digits = _DIVISION_DIGITS
    if top < under:
        digits += len(str(under // top)) - 1
    whole = top * 10**digits // under
    try:
        return Decimal(-whole if minus else whole).scaleb(-digits, _EXACT)
    except decimal.DecimalException:
        raise ExpressionError from None


def _calculate(
    left: Number,
    right: Number,
    plain: Callable[[Any, Any], Any],
    exact: Callable[[Decimal, Decimal], Decimal],
) -> Number:
    rank = max(left.rank, right.rank)
    a, b = promoted(left, rank), promoted(right, rank)
    if rank == DECIMAL:
        try:
            return Number(rank, exact(a, b))
        except decimal.DecimalException:
            raise ExpressionError from None
    if rank == FLOAT:
        with np.errstate(all="ignore"):
            return Number(rank, float(plain(np.float32(a), np.float32(b))))
    if rank == INTEGER and max(a.bit_length(), b.bit_length()) > 20000:
        raise ExpressionError
    return Number(rank, plain(a, b))


def negate(number: Number) -> Number:
    """-number, with all digits: operators of `Decimal` would round to the context's digits."""
    value = number.value
    return Number(number.rank, value.copy_negate() if number.rank == DECIMAL else -value)


def absolute(number: Number) -> Number:
    """ABS, with all digits."""
    value = number.value
    return Number(number.rank, value.copy_abs() if number.rank == DECIMAL else abs(value))


def ceiling(number: Number) -> Number:
    """CEIL."""
    return _rounded(number, decimal.ROUND_CEILING, math.ceil)


def floor(number: Number) -> Number:
    """FLOOR."""
    return _rounded(number, decimal.ROUND_FLOOR, math.floor)


def round_(number: Number) -> Number:
    """ROUND: to the nearest whole number; a half is rounded up.

    >>> round_(Number(DECIMAL, Decimal("-2.5"))).value
    Decimal('-2')
    """
    if number.rank != DECIMAL:
        return _rounded(number, "", _nearest)
    value = number.value
    way = decimal.ROUND_HALF_DOWN if value < 0 else decimal.ROUND_HALF_UP
    return Number(DECIMAL, value.to_integral_value(way))


def _nearest(value: float) -> float:
    below = math.floor(value)
    return below if value - below < 0.5 else below + 1


def _rounded(number: Number, way: str, whole: Callable[[float], float]) -> Number:
    rank, value = number
    if rank == INTEGER:
        return number
    if rank == DECIMAL:
        return Number(rank, value.to_integral_value(way))
    if not math.isfinite(value):
        return number
    return Number(rank, math.copysign(float(whole(value)), value))

"""The values of literals, exactly as XSD 1.1 and RDF 1.1 define them, in plain Python.

Start reading at `parse`: it maps a lexical form and a datatype to a `Value`, or to None if the
literal is ill-typed or the datatype opaque. `Value.identity` tells whether values are the same
(translated OWL rules); `compare` orders them (FILTER and ORDER BY).

Always true: nothing is rounded that the datatype does not round; values of different primitive
datatypes are never the same (`1.0` is not `1e0`); values of derived datatypes are those of their
primitive datatype (`"1"^^xsd:int` is `1.0`). This module is slow and obvious on purpose: the kernel
is tested against it and leaves uncommon literals to it. Decisions are in `terms/DESIGN.md`.

    >>> one = parse("01", XSD + "integer")
    >>> one is not None and one.identity == parse("1.0", XSD + "decimal").identity
    True
    >>> parse("300", XSD + "byte") is None                     # out of range: ill-typed
    True
"""

from __future__ import annotations

import base64
import math
import re
import struct
from collections.abc import Callable
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from functools import cache, partial
from typing import TypeAlias

from triplestore.data_classes import data_class
from triplestore.terms.values import xsd_temporal as temporal
from triplestore.terms.values.xsd_temporal import Duration, Moment

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


class Space(IntEnum):
    """The primitive value spaces; they are pairwise disjoint."""

    DECIMAL = 1
    FLOAT = 2
    DOUBLE = 3
    BOOLEAN = 4
    DATETIME = 5
    DATE = 6
    TIME = 7
    G_YEAR = 8
    G_YEAR_MONTH = 9
    G_MONTH = 10
    G_MONTH_DAY = 11
    G_DAY = 12
    DURATION = 13
    HEX_BINARY = 14
    BASE64_BINARY = 15
    ANY_URI = 16
    TEXT = 17


Data: TypeAlias = Decimal | float | bool | Moment | Duration | bytes | str | tuple[str, str]


@data_class
class Value:
    """A data value: its primitive value space, and its content.

    data    Decimal for DECIMAL; float for FLOAT (already rounded to 32 bits) and DOUBLE; bool;
            Moment for dates and times; Duration; bytes for the binaries; str for ANY_URI; for
            TEXT a str, or a pair (string, language tag in lower case)
    """

    space: Space
    data: Data

    @property
    def identity(self) -> tuple[int, object]:
        """Equal for two values if and only if they are the same value (XSD 1.1 identity).

        NaN is itself, +0 is not -0, and instants with different time zone offsets differ.
        """
        if isinstance(self.data, float):
            return (int(self.space), _float_bits(self.data))
        return (int(self.space), self.data)


def parse(lexical: str, datatype: str) -> Value | None:
    """The value of a literal; None if it is ill-typed or the datatype is unknown.

    White space of the lexical form is kept: in RDF 1.1 (and its approved tests
    `xmlsch-02-whitespace-facet-*`) `" 3 "^^xsd:int` is ill-typed.
    """
    mapping = MAPPINGS.get(datatype)
    if mapping is None or (len(lexical) > LONGEST and datatype not in _OF_ANY_LENGTH):
        return None
    return mapping(lexical)


def is_known(datatype: str) -> bool:
    """True if literals of this datatype have values, so that one without a value is ill-typed."""
    return datatype in MAPPINGS


def compare(left: Value, right: Value) -> int | None:
    """-1, 0 or 1 by value; None where the two are not ordered.

    Numbers are compared as SPARQL does, after promotion: decimals among each other exactly, with
    a float as floats, with a double as doubles. NaN is not ordered, not even beside itself;
    neither are a zoned and an unzoned time less than 14 hours apart, nor `P1M` and `P30D`.
    """
    if left.space <= Space.DOUBLE and right.space <= Space.DOUBLE:
        return _compare_numbers(left, right)
    if left.space != right.space:
        return None
    a, b = left.data, right.data
    if isinstance(a, Moment) and isinstance(b, Moment):
        return temporal.compare_moments(a, b)
    if isinstance(a, Duration) and isinstance(b, Duration):
        return temporal.compare_durations(a, b)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return sign(a[0], b[0]) if a[1] == b[1] else None
    if isinstance(a, str) and isinstance(b, str):
        return sign(a, b)
    if isinstance(a, bytes) and isinstance(b, bytes):
        return sign(a, b)
    if isinstance(a, bool) and isinstance(b, bool):
        return sign(a, b)
    return None


def sign(a: object, b: object) -> int:
    """-1, 0 or 1 for two values that Python can order exactly."""
    return int(a > b) - int(a < b)  # type: ignore[operator]


# ---------------------------------------------------------------------------------- numbers


def round_to_float(exact: Fraction) -> float:
    """The 32-bit float nearest to a rational number, ties to even, as a Python float.

    >>> round_to_float(Fraction(16777217)), round_to_float(Fraction(1, 10))
    (16777216.0, 0.10000000149011612)
    """
    if exact == 0:
        return 0.0
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    if exponent > 127:
        return math.copysign(math.inf, exact)
    step = Fraction(2) ** (max(exponent, -126) - 23)
    rounded = round(size / step) * step  # Python rounds fractions half to even
    return math.copysign(math.inf if rounded >= 2**128 else float(rounded), exact)


def _compare_numbers(left: Value, right: Value) -> int | None:
    a, b = left.data, right.data
    space = max(left.space, right.space)  # DECIMAL < FLOAT < DOUBLE: the one promoted to
    if space != Space.DECIMAL:
        a, b = _promoted(left, space), _promoted(right, space)
        if math.isnan(a) or math.isnan(b):
            return None
    return sign(a, b)


def _promoted(value: Value, space: Space) -> float:
    if isinstance(value.data, float):
        return value.data
    assert isinstance(value.data, Decimal)
    if space == Space.DOUBLE or not math.isfinite(float(value.data)):
        return float(value.data)  # by way of its digits, correctly rounded; may be infinite
    return round_to_float(Fraction(value.data))


def _float_bits(value: float) -> bytes:
    return b"NaN" if value != value else struct.pack(">d", value)


_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SPECIAL = {"INF": math.inf, "+INF": math.inf, "-INF": -math.inf, "NaN": math.nan}


def _integer(least: int | None, most: int | None, lexical: str) -> Value | None:
    if not _INTEGER.fullmatch(lexical):
        return None
    number = Decimal(lexical)  # not int(): that refuses more than 4300 digits
    if (least is not None and number < least) or (most is not None and number > most):
        return None
    return Value(Space.DECIMAL, number)


def _decimal(lexical: str) -> Value | None:
    return Value(Space.DECIMAL, Decimal(lexical)) if _DECIMAL.fullmatch(lexical) else None


def _double(lexical: str) -> Value | None:
    if lexical in _SPECIAL:
        return Value(Space.DOUBLE, _SPECIAL[lexical])
    return Value(Space.DOUBLE, float(lexical)) if _DOUBLE.fullmatch(lexical) else None


def _float(lexical: str) -> Value | None:
    double = _double(lexical)
    if double is None:
        return None
    assert isinstance(double.data, float)
    if double.data == 0 or not math.isfinite(double.data):
        return Value(Space.FLOAT, double.data)  # too small or too large for a double even
    rounded = round_to_float(Fraction(Decimal(lexical)))
    return Value(Space.FLOAT, math.copysign(rounded, double.data))  # tiny negatives are -0


def _boolean(lexical: str) -> Value | None:
    if lexical in ("true", "1"):
        return Value(Space.BOOLEAN, True)
    return Value(Space.BOOLEAN, False) if lexical in ("false", "0") else None


# ------------------------------------------------------------------------- times, binaries


def _moment(space: Space, read: Callable[[str], Moment | None], lexical: str) -> Value | None:
    moment = read(lexical)
    return None if moment is None else Value(space, moment)


def _stamp(lexical: str) -> Value | None:
    moment = temporal.read_datetime(lexical)
    if moment is None or moment.offset is None:
        return None
    return Value(Space.DATETIME, moment)


def _duration(parts: str, lexical: str) -> Value | None:
    duration = temporal.read_duration(lexical, parts)
    return None if duration is None else Value(Space.DURATION, duration)


_HEX = re.compile(r"(?:[0-9a-fA-F]{2})*")
# Four characters of six bits each, one space allowed between any two (XSD 1.1, 3.3.16.2); the
# last group may be short, and then its unused bits must be zero.
_B64 = "[A-Za-z0-9+/] ?"
_BASE64 = re.compile(
    rf"(?:(?:{_B64}){{4}})*"
    r"(?:(?:[A-Za-z0-9+/] ?){3}[A-Za-z0-9+/]"
    r"|(?:[A-Za-z0-9+/] ?){2}[AEIMQUYcgkosw048] ?="
    r"|[A-Za-z0-9+/] ?[AQgw] ?= ?=)?"
)


def _hex_binary(lexical: str) -> Value | None:
    if not _HEX.fullmatch(lexical):
        return None
    return Value(Space.HEX_BINARY, bytes.fromhex(lexical))


def _base64_binary(lexical: str) -> Value | None:
    if not _BASE64.fullmatch(lexical) or lexical.endswith(" "):
        return None
    return Value(Space.BASE64_BINARY, base64.b64decode(lexical.replace(" ", "")))


# ------------------------------------------------------------------------------------- text

_NAME_START = (
    ":A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_NAME_REST = _NAME_START + "0-9.\u00b7\u0300-\u036f\u203f-\u2040\\-"
_NORMALIZED = re.compile("[^\t\n\r]*")
_TOKEN = re.compile("(?:[^\t\n\r ]+(?: [^\t\n\r ]+)*)?")
_LANGUAGE = re.compile("[a-zA-Z]{1,8}(?:-[a-zA-Z0-9]{1,8})*")
_NAME = f"[{_NAME_START}][{_NAME_REST}]*"
_NC_NAME = f"[{_NAME_START[1:]}][{_NAME_REST[1:]}]*"
_NMTOKEN = f"[{_NAME_REST}]+"
_NOT_XML = re.compile("[\0\ufffe\uffff]")  # not characters of XML 1.1


def _text(pattern: re.Pattern[str], lexical: str) -> Value | None:
    if not pattern.fullmatch(lexical) or _NOT_XML.search(lexical):
        return None
    return Value(Space.TEXT, lexical)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """An expression that takes milliseconds to compile and is rarely needed."""
    return re.compile(pattern)


def _named(pattern: str, lexical: str) -> Value | None:
    return _text(_compiled(pattern), lexical)


def _plain_literal(lexical: str) -> Value | None:
    text, at, tag = lexical.rpartition("@")
    if not at or (tag and not _LANGUAGE.fullmatch(tag)):
        return None
    return Value(Space.TEXT, (text, tag.lower()) if tag else text)


# The integer types below xsd:integer: least and greatest value.
INTEGER_RANGES: dict[str, tuple[int | None, int | None]] = {
    "integer": (None, None),
    "long": (-(2**63), 2**63 - 1),
    "int": (-(2**31), 2**31 - 1),
    "short": (-(2**15), 2**15 - 1),
    "byte": (-(2**7), 2**7 - 1),
    "nonNegativeInteger": (0, None),
    "positiveInteger": (1, None),
    "unsignedLong": (0, 2**64 - 1),
    "unsignedInt": (0, 2**32 - 1),
    "unsignedShort": (0, 2**16 - 1),
    "unsignedByte": (0, 2**8 - 1),
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
}

Mapping: TypeAlias = Callable[[str], Value | None]

_XSD_MAPPINGS: dict[str, Mapping] = {
    **{name: partial(_integer, *ends) for name, ends in INTEGER_RANGES.items()},
    "decimal": _decimal,
    "float": _float,
    "double": _double,
    "boolean": _boolean,
    "dateTime": partial(_moment, Space.DATETIME, temporal.read_datetime),
    "dateTimeStamp": _stamp,
    "date": partial(_moment, Space.DATE, temporal.read_date),
    "time": partial(_moment, Space.TIME, temporal.read_time),
    "gYear": partial(_moment, Space.G_YEAR, temporal.read_year),
    "gYearMonth": partial(_moment, Space.G_YEAR_MONTH, temporal.read_year_month),
    "gMonth": partial(_moment, Space.G_MONTH, temporal.read_month),
    "gMonthDay": partial(_moment, Space.G_MONTH_DAY, temporal.read_month_day),
    "gDay": partial(_moment, Space.G_DAY, temporal.read_day),
    "duration": partial(_duration, "YMDT"),
    "yearMonthDuration": partial(_duration, "YM"),
    "dayTimeDuration": partial(_duration, "DT"),
    "hexBinary": _hex_binary,
    "base64Binary": _base64_binary,
    "anyURI": partial(Value, Space.ANY_URI),
    "string": partial(Value, Space.TEXT),
    "normalizedString": partial(_text, _NORMALIZED),
    "token": partial(_text, _TOKEN),
    "language": partial(_text, _LANGUAGE),
    "Name": partial(_named, _NAME),
    "NCName": partial(_named, _NC_NAME),
    "NMTOKEN": partial(_named, _NMTOKEN),
}

LONGEST = 20_000
"""Maximum number of characters of a number, a time or a duration that has a value: work on longer
ones takes the square of their length."""

_TEXTS = ("string", "normalizedString", "token", "language", "Name", "NCName", "NMTOKEN", "anyURI")
_OF_ANY_LENGTH = frozenset(
    [XSD + name for name in (*_TEXTS, "hexBinary", "base64Binary")] + [RDF + "PlainLiteral"]
)

MAPPINGS: dict[str, Mapping] = {
    **{XSD + name: mapping for name, mapping in _XSD_MAPPINGS.items()},
    RDF + "PlainLiteral": _plain_literal,
    RDF + "langString": lambda _lexical: None,  # has values only with a tag, as its own kind
}
"""Datatype IRI -> what maps its lexical forms to values (None: ill-typed)."""

"""A 64-bit key for every literal value, and the exact relations on literals it stands for.

Start reading at `entry_of`: it returns what is stored for a literal that has a value, a *mark* (one
byte) and a *key* (u64). The low six bits of a mark are the *form* of the literal: its datatype and
the class in which its key is comparable. `same_value` and `compare` decide exactly, on terms.

Always true of two literals a, b with values in one `Class`
    value(a) < value(b)  implies  key(a) <= key(b)                 (DURATION excepted: see there)
    both marks EXACT and keys equal  implies  values equal, and vice versa  (in one `Space`)
    and, if neither mark is ZONED_OR_MINUS, the values are identical
Otherwise the terms decide between equal keys. Numbers of all datatypes are one class: the key is
that of the nearest double, by which SPARQL compares decimals with doubles.

    >>> mark, key, _ = entry_of(b'05"^^<http://www.w3.org/2001/XMLSchema#byte>')
    >>> class_of(mark).name, double_of(key), bool(mark & EXACT)
    ('NUMERIC', 5.0, True)
"""

from __future__ import annotations

import math
import struct
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from triplestore.terms.values import xsd
from triplestore.terms.values.xsd import RDF, XSD, Space, Value
from triplestore.terms.values.xsd_temporal import Duration, Moment

STRING, LANG, TYPED = 3, 4, 5  # kinds of terms, as in triplestore.terms.term_keys

FORM_BITS = 0x3F
EXACT = 0x40
"""Bit of a mark: the key determines the value within class and space."""
ZONED_OR_MINUS = 0x80
"""Bit of a mark: the same key may belong to another value that is equal but not identical (a time
with an offset other than Z, the float -0)."""


class Class(IntEnum):
    """What keys are comparable with: keys of different classes say nothing about each other."""

    NONE = 0
    NUMERIC = 1
    BOOLEAN = 2
    DATETIME_ZONED = 3
    DATETIME_LOCAL = 4
    DATE_ZONED = 5
    DATE_LOCAL = 6
    TIME_ZONED = 7
    TIME_LOCAL = 8
    G_YEAR_ZONED = 9
    G_YEAR_LOCAL = 10
    G_YEAR_MONTH_ZONED = 11
    G_YEAR_MONTH_LOCAL = 12
    G_MONTH_ZONED = 13
    G_MONTH_LOCAL = 14
    G_MONTH_DAY_ZONED = 15
    G_MONTH_DAY_LOCAL = 16
    G_DAY_ZONED = 17
    G_DAY_LOCAL = 18
    MONTHS = 19  # durations of months only
    SECONDS = 20  # durations without months, the zero duration too
    DURATION = 21  # durations of both: the key only finds candidates, it has no order
    HEX_BINARY = 22
    BASE64_BINARY = 23
    ANY_URI = 24
    TEXT = 25
    LANG_TEXT = 26


# Form number - 1 -> datatype and class. Forms are stored on disk: append, never reorder.
_TIMES = ["dateTime", "date", "time", "gYear", "gYearMonth", "gMonth", "gMonthDay", "gDay"]
_FORMS: list[tuple[str, Class]] = [
    *((XSD + name, Class.NUMERIC) for name in xsd.INTEGER_RANGES),
    (XSD + "decimal", Class.NUMERIC),
    (XSD + "float", Class.NUMERIC),
    (XSD + "double", Class.NUMERIC),
    (XSD + "boolean", Class.BOOLEAN),
    *((XSD + name, Class(3 + 2 * i + local)) for i, name in enumerate(_TIMES) for local in (0, 1)),
    (XSD + "dateTimeStamp", Class.DATETIME_ZONED),
    *((XSD + "duration", kind) for kind in (Class.MONTHS, Class.SECONDS, Class.DURATION)),
    (XSD + "yearMonthDuration", Class.MONTHS),
    (XSD + "yearMonthDuration", Class.SECONDS),  # P0M
    (XSD + "dayTimeDuration", Class.SECONDS),
    (XSD + "hexBinary", Class.HEX_BINARY),
    (XSD + "base64Binary", Class.BASE64_BINARY),
    (XSD + "anyURI", Class.ANY_URI),
    *(
        (XSD + name, Class.TEXT)
        for name in (
            "string normalizedString token language Name NCName NMTOKEN".split()  # noqa: SIM905
        )
    ),
    (RDF + "langString", Class.LANG_TEXT),
    (RDF + "PlainLiteral", Class.TEXT),
    (RDF + "PlainLiteral", Class.LANG_TEXT),
]
_FORM_OF = {pair: form for form, pair in enumerate(_FORMS, 1)}

STRING_MARK = _FORM_OF[XSD + "string", Class.TEXT]
LANG_MARK = _FORM_OF[RDF + "langString", Class.LANG_TEXT]

DATATYPES: tuple[str, ...] = ("", *(datatype for datatype, _ in _FORMS))
"""Form -> datatype IRI."""


def _space_of(datatype: str, kind: Class) -> Space:
    if kind == Class.NUMERIC:
        name = datatype.removeprefix(XSD)
        return {"float": Space.FLOAT, "double": Space.DOUBLE}.get(name, Space.DECIMAL)
    if kind == Class.BOOLEAN:
        return Space.BOOLEAN
    if kind <= Class.G_DAY_LOCAL:
        return Space(Space.DATETIME + (kind - Class.DATETIME_ZONED) // 2)
    if kind <= Class.DURATION:
        return Space.DURATION
    return Space(min(Space.TEXT, Space.HEX_BINARY + kind - Class.HEX_BINARY))


def _by_mark(values: list[int]) -> NDArray[np.uint8]:
    table = np.zeros(256, dtype=np.uint8)
    for mark in range(256):
        table[mark] = values[mark & FORM_BITS] if mark & FORM_BITS < len(values) else 0
    table.flags.writeable = False
    return table


CLASS_OF = _by_mark([0, *(int(kind) for _, kind in _FORMS)])
"""Mark -> Class, for whole arrays of marks."""
SPACE_OF = _by_mark([0, *(int(_space_of(*pair)) for pair in _FORMS)])
"""Mark -> Space, for whole arrays of marks."""


def class_of(mark: int) -> Class:
    """The class of one mark."""
    return Class(int(CLASS_OF[mark]))


def datatype_of(mark: int) -> str:
    """The datatype IRI of one mark."""
    return DATATYPES[mark & FORM_BITS]


class Entry(NamedTuple):
    """What is stored for one literal.

    mark    form | EXACT | ZONED_OR_MINUS
    key     u64, comparable within the class of the mark
    detail  (class, space, key, detail) is the identity of the value if this is not negative: 0 if
            the key says all, the offset of a zone, the difference of an integer of at most 19
            digits to the double of its key, ...; -1: the term itself must be read
    """

    mark: int
    key: int
    detail: int


NOTHING = Entry(0, 0, 0)
"""The entry of a term that has no value: not a literal, ill-typed, or of an unknown datatype."""

ONLY_TERM = -1


# ------------------------------------------------------------------------------ the entries


def entry_of(text: bytes) -> Entry:
    """The entry of a TYPED literal (its lexical form, `"^^<`, datatype, `>`)."""
    lexical, datatype = split_typed(text)
    value = xsd.parse(lexical, datatype)
    return NOTHING if value is None else entry_of_value(value, datatype)


def entry_of_value(value: Value, datatype: str) -> Entry:
    """The entry of a value in a literal of this datatype."""
    data = value.data
    if isinstance(data, Moment):
        kind = Class(3 + 2 * (value.space - Space.DATETIME) + (data.offset is None))
        return _moment_entry(_FORM_OF[datatype, kind], data)
    if isinstance(data, Duration):
        return _duration_entry(datatype, data)
    if isinstance(data, Decimal):
        return _decimal_entry(_FORM_OF[datatype, Class.NUMERIC], data)
    if isinstance(data, float):
        minus = data == 0 and math.copysign(1, data) < 0
        mark = _FORM_OF[datatype, Class.NUMERIC] | EXACT | (ZONED_OR_MINUS if minus else 0)
        return Entry(mark, key_of_double(data), int(minus))
    if isinstance(data, bool):
        return Entry(_FORM_OF[datatype, Class.BOOLEAN] | EXACT, int(data), 0)
    if isinstance(data, tuple):
        return Entry(_FORM_OF[datatype, Class.LANG_TEXT], prefix_key(data[0].encode()), ONLY_TERM)
    kind = Class(Class.HEX_BINARY + value.space - Space.HEX_BINARY)
    raw = data if isinstance(data, bytes) else data.encode()
    exact = len(raw) < 8
    mark = _FORM_OF[datatype, kind] | (EXACT if exact else 0)
    return Entry(mark, prefix_key(raw), 0 if exact else ONLY_TERM)


_2_63 = 2**63
_TOP = np.uint64(_2_63)
_MICROSECONDS = 10**6


def _decimal_entry(form: int, number: Decimal) -> Entry:
    nearest = float(number)
    key = key_of_double(0.0 if nearest == 0 else nearest)  # decimals have no -0
    if _is_short(number):
        return Entry(form | EXACT, key, 0)
    if _is_whole(number) and number.copy_abs() < 10**19:
        # Less than half the distance of two doubles there, 1024 at most.
        return Entry(form, key, 2048 + int(number) - int(nearest))
    return Entry(form, key, ONLY_TERM)


def _is_short(number: Decimal) -> bool:
    """True if no other short decimal has the same nearest double.

    Up to 15 significant digits always survive a double, and so do integers up to 2**53; and an
    integer of 16 digits never shares its double with a different decimal of 15.
    """
    significant = "".join(map(str, number.as_tuple().digits)).strip("0")
    if len(significant) <= 15:
        return not significant or -290 < number.adjusted() < 290
    return _is_whole(number) and number.copy_abs() <= 2**53


def _is_whole(number: Decimal) -> bool:
    return number == number.to_integral_value()


def _moment_entry(form: int, moment: Moment) -> Entry:
    key, exact = _fixed_point(moment.instant * _MICROSECONDS)
    offset = moment.offset or 0
    mark = form | (EXACT if exact else 0) | (ZONED_OR_MINUS if offset else 0)
    return Entry(mark, key, (1000 + offset if offset else 0) if exact else ONLY_TERM)


def _duration_entry(datatype: str, duration: Duration) -> Entry:
    if duration.months == 0:
        key, exact = _fixed_point(duration.seconds * _MICROSECONDS)
        form = _FORM_OF[datatype, Class.SECONDS]
    else:
        key, exact = _fixed_point(Fraction(duration.months))
        kind = Class.DURATION if duration.seconds else Class.MONTHS
        exact = exact and kind == Class.MONTHS
        form = _FORM_OF[datatype, kind]
    return Entry(form | (EXACT if exact else 0), key, 0 if exact else ONLY_TERM)


def _fixed_point(number: Fraction) -> tuple[int, bool]:
    """The key of a whole number, and whether it is exact: fractions and huge numbers are not."""
    whole = number.numerator // number.denominator
    inside = -_2_63 <= whole < _2_63
    return min(max(whole + _2_63, 0), 2**64 - 1), inside and whole == number


NAN_KEY = 2**64 - 1
"""The key of NaN, above that of INF: NaN is not ordered, but stands somewhere when sorted."""


def key_of_double(number: float) -> int:
    """The key of a double: ordered as numbers are, -0 as 0, NaN above everything.

    >>> key_of_double(-1.5) < key_of_double(0.0) == key_of_double(-0.0) < key_of_double(math.inf)
    True
    """
    if number != number:
        return NAN_KEY
    bits = int.from_bytes(struct.pack(">d", number or 0.0), "big")
    return bits ^ (_2_63 if bits < _2_63 else 2**64 - 1)


def double_of(key: int) -> float:
    """The double of a NUMERIC key (for a decimal: the nearest one)."""
    return float(doubles_of(np.array([key], dtype=np.uint64))[0])


def doubles_of(keys: NDArray[np.uint64]) -> NDArray[np.float64]:
    """The doubles of NUMERIC keys; -0 comes back as 0."""
    bits = np.where(keys >= _TOP, keys ^ _TOP, ~keys)
    bits[keys == np.uint64(NAN_KEY)] = np.uint64(0x7FF8 << 48)
    return bits.view(np.float64)


def keys_of_doubles(doubles: NDArray[np.float64]) -> NDArray[np.uint64]:
    """`key_of_double` of each."""
    bits = doubles.view(np.uint64)
    keys: NDArray[np.uint64] = np.where(bits < _TOP, bits | _TOP, ~bits)
    keys[np.isnan(doubles)] = np.uint64(NAN_KEY)
    keys[doubles == 0] = _TOP
    return keys


def round_to_floats(
    doubles: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Numbers, given by their nearest doubles, as 32-bit floats; False where these are not known.

    The nearest double lies on the same side of each midpoint between two floats as the number
    itself, or on the midpoint; only then may a second rounding not be that of the number.
    """
    size = np.abs(doubles)
    midpoint = (doubles.view(np.uint64) & np.uint64(0x1FFFFFFF)) == np.uint64(0x10000000)
    extreme = ((size < 2e-38) & (size > 0)) | ((size > 3e38) & (size < np.inf))
    known = ~(extreme | (midpoint & (size < np.inf)))
    return np.where(known, doubles, 0).astype(np.float32).astype(np.float64), known


def prefix_key(raw: bytes) -> int:
    """The key of a sequence of bytes: the first seven, and whether there are more.

    >>> prefix_key(b"") < prefix_key(b"a") < prefix_key(b"a" + bytes(1)) < prefix_key(b"b")
    True
    """
    return int.from_bytes(raw[:7].ljust(7, b"\0"), "big") << 8 | min(len(raw), 8)


# ---------------------------------------------------------------------- exact, on two terms


def split_typed(text: bytes) -> tuple[str, str]:
    """Lexical form and datatype IRI of the text of a TYPED term."""
    lexical, _, datatype = text.rpartition(b'"')
    return lexical.decode("utf-8", "surrogatepass"), datatype[3:-1].decode()


def value_of(key: bytes) -> Value | None:
    """The value of a literal given as a term key (kind, then text); None if it has none.

    >>> value_of(bytes([STRING]) + b"a") == value_of(
    ...     bytes([TYPED]) + b'a"^^<http://www.w3.org/2001/XMLSchema#token>')
    True
    """
    kind, text = key[0], key[1:]
    if kind == TYPED:
        return xsd.parse(*split_typed(text))
    if kind == STRING:
        return Value(Space.TEXT, text.decode("utf-8", "surrogatepass"))
    if kind == LANG:
        lexical, _, tag = text.rpartition(b'"@')
        if b"--" not in tag:  # with a direction it is an rdf:dirLangString, which is only itself
            return Value(Space.TEXT, (lexical.decode("utf-8", "surrogatepass"), tag.decode()))
    return None


def same_value(left: bytes, right: bytes) -> bool:
    """True if two term keys denote the same thing, as far as values tell (XSD identity).

    Terms without a value are the same only if they are the same term.
    """
    if left == right:
        return True
    if not {left[0], right[0]} <= {STRING, LANG, TYPED} or TYPED not in (left[0], right[0]):
        return False
    a, b = value_of(left), value_of(right)
    return a is not None and b is not None and a.identity == b.identity


def compare(left: bytes, right: bytes) -> int | None:
    """-1, 0 or 1 by value; None where two terms are not ordered by value (see xsd.compare).

    >>> d, i = b'^^<http://www.w3.org/2001/XMLSchema#double>', b'^^<http://www.w3.org/2001/XMLSchema#int>'
    >>> compare(bytes([TYPED]) + b'1e0"' + d, bytes([TYPED]) + b'2"' + i)
    -1
    """
    a, b = value_of(left), value_of(right)
    return None if a is None or b is None else xsd.compare(a, b)


def plain_key_of(value: Value) -> bytes | None:
    """The term key of the STRING or LANG literal that has this value, if there is one."""
    if isinstance(value.data, tuple):
        text, tag = value.data
        return bytes([LANG]) + text.encode("utf-8", "surrogatepass") + b'"@' + tag.encode()
    if value.space == Space.TEXT and isinstance(value.data, str):
        return bytes([STRING]) + value.data.encode("utf-8", "surrogatepass")
    return None

"""Built-ins of SWRL without a function of SPARQL: sines, powers, calendars, URIs.

Start at `SWRL`. They are defined in section 8 of the SWRL submission. Here they return the result
instead of having it as first argument, and are named by their IRIs, so that rules and queries can
call them. They take and return term keys, with the meaning of XPath's operators of the same kind,
and raise ExpressionError if these have no value. The other built-ins are SPARQL's functions
(`ontologies/translate/swrl_rules`).
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import partial
from urllib.parse import urljoin, urlunsplit

from triplestore.expressions.compare_terms import key_of_boolean, truth
from triplestore.expressions.functions import SWRLB
from triplestore.expressions.library import numbers, strings, times
from triplestore.expressions.library.numbers import (
    DECIMAL,
    DOUBLE,
    FLOAT,
    INTEGER,
    ExpressionError,
    Number,
    key_of_number,
    number_of,
    promoted,
)
from triplestore.expressions.library.strings import datatype_iri, lexical_form, string
from triplestore.expressions.library.times import (
    duration_of,
    fields_of,
    key_of_duration,
    moment_of,
    typed_key,
)
from triplestore.terms.term_keys import IRI, STRING
from triplestore.terms.values import xsd
from triplestore.terms.values.xsd_temporal import Duration, Moment
from triplestore.terms.vocabulary import (
    XSD,
    XSD_BOOLEAN,
    XSD_DATE,
    XSD_DATE_TIME,
    XSD_DAY_TIME_DURATION,
    XSD_TIME,
    XSD_YEAR_MONTH_DURATION,
)

MOST_BITS = 20_000
"""Maximum number of bits of a power; larger ones are errors, like products."""

# --- numbers -------------------------------------------------------------------------------------


def _both(left: bytes, right: bytes) -> tuple[int, Number, Number]:
    """Two numbers, and the greater type."""
    one, other = number_of(left), number_of(right)
    return max(one.rank, other.rank), one, other


def integer_divide(left: bytes, right: bytes) -> bytes:
    """The quotient without its fraction: XPath's idiv."""
    _, one, other = _both(left, right)
    a, b = _fraction(one), _fraction(other)
    if b == 0:
        raise ExpressionError
    return key_of_number(Number(INTEGER, math.trunc(a / b)))


def modulo(left: bytes, right: bytes) -> bytes:
    """The remainder of the integer division, with the sign of the first: XPath's mod."""
    rank, one, other = _both(left, right)
    if rank >= FLOAT:
        a, b = promoted(one, rank), promoted(other, rank)
        found = math.nan if b == 0 or math.isinf(a) else math.fmod(a, b)
        return key_of_number(Number(rank, found))
    a, b = _fraction(one), _fraction(other)
    if b == 0:
        raise ExpressionError
    return _exact(rank, a - b * math.trunc(a / b))


def power(left: bytes, right: bytes) -> bytes:
    """A power: exact for nonnegative integer exponents, otherwise a double."""
    rank, one, other = _both(left, right)
    if rank < FLOAT and other.value >= 0 and other.value == int(other.value):
        base, exponent = _fraction(one), int(other.value)
        bits = base.numerator.bit_length() + base.denominator.bit_length()
        if bits * exponent > MOST_BITS:
            raise ExpressionError
        return _exact(one.rank, base**exponent)
    try:
        found = math.pow(promoted(one, DOUBLE), promoted(other, DOUBLE))
    except (OverflowError, ValueError):
        raise ExpressionError from None
    return key_of_number(Number(DOUBLE, found))


def round_half_to_even(key: bytes, digits: bytes | None = None) -> bytes:
    """Rounded to a number of digits after the point; a half is rounded to the even digit."""
    number = number_of(key)
    places = 0 if digits is None else _whole(digits)
    if abs(places) > 1000:
        raise ExpressionError
    if number.rank >= FLOAT and not math.isfinite(number.value):
        return key_of_number(number)
    context = decimal.Context(prec=numbers.MOST_DIGITS, Emax=10**6, Emin=-(10**6))
    try:
        value = Decimal(number.value).quantize(
            Decimal(1).scaleb(-places), decimal.ROUND_HALF_EVEN, context
        )
    except decimal.DecimalException:
        raise ExpressionError from None
    if number.rank >= FLOAT:
        return key_of_number(Number(number.rank, float(value)))
    return key_of_number(Number(number.rank, int(value) if number.rank == INTEGER else value))


def _of_angle(function: Callable[[float], float], key: bytes) -> bytes:
    value = promoted(number_of(key), DOUBLE)
    return key_of_number(Number(DOUBLE, function(value) if math.isfinite(value) else math.nan))


def _fraction(number: Number) -> Fraction:
    if number.rank >= FLOAT and not math.isfinite(number.value):
        raise ExpressionError
    return Fraction(number.value)


def _exact(rank: int, value: Fraction) -> bytes:
    made = int(value) if rank == INTEGER else numbers.exact_decimal(value)
    return key_of_number(Number(rank, made))


def _whole(key: bytes) -> int:
    number = number_of(key)
    if number.rank > DECIMAL or number.value != int(number.value):
        raise ExpressionError
    return int(number.value)


# --- booleans and strings ------------------------------------------------------------------------


def negation(key: bytes) -> bytes:
    """The other boolean; an error for other terms."""
    if datatype_iri(key) != XSD_BOOLEAN:
        raise ExpressionError
    return key_of_boolean(not truth(key))


def normalized(key: bytes) -> bytes:
    """Without white space at the ends, and with single spaces inside."""
    text, tag = strings.split_string(key)
    parts = text.replace("\t", " ").replace("\r", " ").replace("\n", " ").split(" ")
    return string(" ".join(filter(None, parts)), tag)


def translated(key: bytes, letters: bytes, others: bytes) -> bytes:
    """Each letter of the second replaced by the letter at its place in the third, or dropped."""
    text, tag = strings.split_string(key)
    wanted, instead = strings.split_string(letters)[0], strings.split_string(others)[0]
    table: dict[int, str] = {}
    for place, letter in enumerate(wanted):
        table.setdefault(ord(letter), instead[place : place + 1])
    return string(text.translate(table), tag)


# --- dates, times and durations ------------------------------------------------------------------


def _made(datatype: str, *parts: bytes) -> bytes:
    """A date or time made of its parts; the last one may be its zone."""
    clock, calendar = datatype != XSD_DATE, datatype != XSD_TIME
    count = 3 * (clock + calendar)
    zone = _zone(parts[count]) if len(parts) > count else ""
    text = ""
    if calendar:
        year, month, day = map(_whole, parts[:3])
        text = f"{'-' * (year < 0)}{abs(year):04}-{month:02}-{day:02}"
    if clock:
        hour, minute = map(_whole, parts[count - 3 : count - 1])
        second = numbers.decimal_text(Decimal(_exact_number(parts[count - 1])))
        whole, point, rest = second.partition(".")
        text += f"{'T' * calendar}{hour:02}:{minute:02}:{whole:0>2}{point}{rest}"
    if xsd.parse(text + zone, datatype) is None:
        raise ExpressionError
    return typed_key(text + zone, datatype)


def _exact_number(key: bytes) -> int | Decimal:
    number = number_of(key)
    if number.rank > DECIMAL:
        raise ExpressionError
    value: int | Decimal = number.value
    return value


def _zone(key: bytes) -> str:
    """A zone as `Z`, `+01:00` or nothing, given as text or duration."""
    if key[0] == STRING:
        return lexical_form(key)
    duration = duration_of(key)
    minutes = duration.seconds / 60
    if duration.months or minutes.denominator != 1:
        raise ExpressionError
    return times.zone_text(int(minutes))


def _months(years: bytes, months: bytes) -> bytes:
    return key_of_duration(
        Duration(12 * _whole(years) + _whole(months), Fraction(0)), XSD_YEAR_MONTH_DURATION
    )


def _days(days: bytes, hours: bytes, minutes: bytes, seconds: bytes) -> bytes:
    whole = 86400 * _whole(days) + 3600 * _whole(hours) + 60 * _whole(minutes)
    total = whole + Fraction(_exact_number(seconds))
    return key_of_duration(Duration(0, total), XSD_DAY_TIME_DURATION)


def _of_kinds(
    kinds: tuple[str, ...], function: Callable[[bytes, bytes], bytes], *keys: bytes
) -> bytes:
    """A sum or difference of arguments of these kinds; the last kind is for all further ones."""
    for place, key in enumerate(keys):
        if datatype_iri(key) != kinds[min(place, len(kinds) - 1)]:
            raise ExpressionError
    found = keys[0]
    for key in keys[1:]:
        found = function(found, key)
    return found


def _scaled(kind: str, turned: bool, key: bytes, by: bytes) -> bytes:
    """A duration times a number, or divided by it; months are rounded, halves up."""
    if datatype_iri(key) != kind:
        raise ExpressionError
    duration, factor = duration_of(key), _fraction(number_of(by))
    if turned and factor == 0:
        raise ExpressionError
    factor = 1 / factor if turned else factor
    months = math.floor(duration.months * factor + Fraction(1, 2))
    seconds = duration.seconds * factor
    if seconds.denominator != 1:  # with the maximum number of digits
        seconds = Fraction(numbers.quotient(seconds.numerator, seconds.denominator))
    return key_of_duration(Duration(months, seconds), kind)


def _months_between(left: bytes, right: bytes) -> bytes:
    """The whole months from the second dateTime to the first."""
    (space, later), (other, sooner) = moment_of(left), moment_of(right)
    if datatype_iri(left) != XSD_DATE_TIME or space != other:
        raise ExpressionError
    if (later.offset is None) != (sooner.offset is None):
        raise ExpressionError
    sign = 1 if later.instant >= sooner.instant else -1
    one, two = (fields_of(Moment(one.instant, 0)) for one in (later, sooner))
    if sign < 0:
        one, two = two, one
    months = 12 * (one.year - two.year) + one.month - two.month
    months -= one[2:] < two[2:]
    return key_of_duration(Duration(sign * months, Fraction(0)), XSD_YEAR_MONTH_DURATION)


# --- URIs ----------------------------------------------------------------------------------------


def _uri_text(key: bytes) -> str:
    if key[0] not in (IRI, STRING) and datatype_iri(key) != XSD + "anyURI":
        raise ExpressionError
    return lexical_form(key)


def resolved(relative: bytes, base: bytes) -> bytes:
    """A relative URI resolved against another one, as an xsd:anyURI."""
    return typed_key(urljoin(_uri_text(base), _uri_text(relative)), XSD + "anyURI")


def any_uri(*parts: bytes) -> bytes:
    """An xsd:anyURI from its scheme, host, port, path, query and fragment; "" means none."""
    scheme, host, port, path, query, fragment = (lexical_form(part) for part in parts)
    place = f"{host}:{port}" if port else host
    return typed_key(urlunsplit((scheme, place, path, query, fragment)), XSD + "anyURI")


# --- the table -----------------------------------------------------------------------------------

_MONTHS, _SECONDS = XSD_YEAR_MONTH_DURATION, XSD_DAY_TIME_DURATION


def _calendar() -> dict[str, Callable[..., bytes]]:
    """Sums and differences of dates, times and durations of certain kinds."""
    found: dict[str, Callable[..., bytes]] = {}
    words = {"YearMonth": _MONTHS, "DayTime": _SECONDS}
    places = {"DateTime": XSD_DATE_TIME, "Date": XSD_DATE, "Time": XSD_TIME}
    for word, kind in words.items():
        found[f"add{word}Durations"] = partial(_of_kinds, (kind,), times.add)
        found[f"subtract{word}Durations"] = partial(_of_kinds, (kind,), times.subtract)
        for ending in ("", "s"):  # the submission uses both forms
            found[f"multiply{word}Duration{ending}"] = partial(_scaled, kind, False)
            found[f"divide{word}Duration{ending}"] = partial(_scaled, kind, True)
        for name, space in places.items():
            if (word, name) == ("YearMonth", "Time"):
                continue
            kinds = (space, kind)
            found[f"add{word}DurationTo{name}"] = partial(_of_kinds, kinds, times.add)
            found[f"subtract{word}DurationFrom{name}"] = partial(_of_kinds, kinds, times.subtract)
    for name, space in (("Dates", XSD_DATE), ("Times", XSD_TIME)):
        found[f"subtract{name}"] = partial(_of_kinds, (space,), times.subtract)
    name = "subtractDateTimesYieldingDayTimeDuration"
    found[name] = partial(_of_kinds, (XSD_DATE_TIME,), times.subtract)
    found["subtractDateTimesYieldingYearMonthDuration"] = _months_between
    return found


_BY_NAME: dict[str, Callable[..., bytes]] = {
    "integerDivide": integer_divide,
    "mod": modulo,
    "pow": power,
    "roundHalfToEven": round_half_to_even,
    "sin": partial(_of_angle, math.sin),
    "cos": partial(_of_angle, math.cos),
    "tan": partial(_of_angle, math.tan),
    "booleanNot": negation,
    "normalizeSpace": normalized,
    "translate": translated,
    "yearMonthDuration": _months,
    "dayTimeDuration": _days,
    "dateTime": partial(_made, XSD_DATE_TIME),
    "date": partial(_made, XSD_DATE),
    "time": partial(_made, XSD_TIME),
    **_calendar(),
    "resolveURI": resolved,
    "anyURI": any_uri,
}

SWRL: Mapping[str, Callable[..., bytes]] = {SWRLB + name: one for name, one in _BY_NAME.items()}
"""IRI of a built-in -> function that computes its first argument from the others."""

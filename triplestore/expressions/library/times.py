"""Dates, times and durations in expressions: their parts, their casts, their sums.

Start at `fields_of`. SPARQL defines the parts of a dateTime only; here dates, times and the g-types
have parts, too, and times and durations can be added and subtracted as in XPath. Always
true: values are exact, of any year, and written in canonical form; the difference of a time with a
zone and one without is an error.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from triplestore.expressions.compare_terms import value_of_term
from triplestore.expressions.library.numbers import (
    DECIMAL,
    INTEGER,
    ExpressionError,
    Number,
    decimal_text,
    exact_decimal,
    key_of_number,
)
from triplestore.expressions.library.strings import datatype_iri, lexical_form, string
from triplestore.terms.values import xsd
from triplestore.terms.values.xsd import Space
from triplestore.terms.values.xsd_temporal import Duration, Moment, days_in_month, time_line
from triplestore.terms.vocabulary import (
    XSD,
    XSD_DATE,
    XSD_DATE_TIME,
    XSD_DAY_TIME_DURATION,
    XSD_DURATION,
    XSD_TIME,
    XSD_YEAR_MONTH_DURATION,
)


class Fields(NamedTuple):
    """A time on the clock of its zone."""

    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: Fraction


PARTS = {
    Space.DATETIME: (True, True, True, True, True, True),
    Space.DATE: (True, True, True, False, False, False),
    Space.TIME: (False, False, False, True, True, True),
    Space.G_YEAR: (True, False, False, False, False, False),
    Space.G_YEAR_MONTH: (True, True, False, False, False, False),
    Space.G_MONTH: (False, True, False, False, False, False),
    Space.G_MONTH_DAY: (False, True, True, False, False, False),
    Space.G_DAY: (False, False, True, False, False, False),
}
"""Which parts each value space has, in the order of Fields."""

PART_NAMES = ("YEAR", "MONTH", "DAY", "HOURS", "MINUTES", "SECONDS")


def moment_of(key: bytes) -> tuple[Space, Moment]:
    """The value space and value of a date or time; ExpressionError for anything else."""
    value = value_of_term(key)
    if value is None or not isinstance(value.data, Moment):
        raise ExpressionError
    return value.space, value.data


def fields_of(moment: Moment) -> Fields:
    """The parts of a moment on the clock of its zone.

    >>> fields_of(Moment(Fraction(time_line(2000, 2, 29) - 3600), 60))[:4]
    (2000, 2, 29, 0)
    """
    local = moment.instant + 60 * (moment.offset or 0)
    days, rest = divmod(local, 86400)
    # Days since the first of March of year 0, in cycles of 400 years of 146097 days.
    cycle, day = divmod(int(days) + 306, 146097)
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day -= (153 * month + 2) // 5 - 1
    year += 400 * cycle + (month >= 10)
    month = month + 3 if month < 10 else month - 9
    hour, rest = divmod(rest, 3600)
    minute, second = divmod(rest, 60)
    return Fields(year, month, day, int(hour), int(minute), Fraction(second))


def part(name: str, key: bytes) -> bytes:
    """YEAR, MONTH, DAY, HOURS, MINUTES or SECONDS."""
    space, moment = moment_of(key)
    index = PART_NAMES.index(name)
    if not PARTS[space][index]:
        raise ExpressionError
    value = fields_of(moment)[index]
    if name == "SECONDS":
        return key_of_number(Number(DECIMAL, exact_decimal(Fraction(value))))
    return key_of_number(Number(INTEGER, value))


def timezone(key: bytes) -> bytes:
    """TIMEZONE: the offset as a dayTimeDuration; an error without a zone."""
    _, moment = moment_of(key)
    if moment.offset is None:
        raise ExpressionError
    return key_of_duration(Duration(0, Fraction(60 * moment.offset)), XSD_DAY_TIME_DURATION)


def zone(key: bytes) -> bytes:
    """TZ: the zone as it is written, "" without a zone."""
    _, moment = moment_of(key)
    if moment.offset is None:
        return string("")
    text = lexical_form(key)
    return string("Z" if text.endswith("Z") else text[-6:])


# --- writing -------------------------------------------------------------------------------------


def zone_text(offset: int | None) -> str:
    """A zone as it is written: its minutes east of Greenwich, or nothing."""
    if offset is None:
        return ""
    if offset == 0:
        return "Z"
    hours, minutes = divmod(abs(offset), 60)
    return f"{'-' if offset < 0 else '+'}{hours:02}:{minutes:02}"


def moment_text(space: Space, moment: Moment) -> str:
    """The canonical lexical form of a value in one of the spaces of dates and times."""
    year, month, day, hour, minute, second = fields_of(moment)
    whole, _, fraction = decimal_text(exact_decimal(second)).partition(".")
    clock = f"{hour:02}:{minute:02}:{whole:0>2}{'.' + fraction if fraction else ''}"
    years = f"-{-year:04}" if year < 0 else f"{year:04}"
    text = {
        Space.DATETIME: f"{years}-{month:02}-{day:02}T{clock}",
        Space.DATE: f"{years}-{month:02}-{day:02}",
        Space.TIME: clock,
        Space.G_YEAR: years,
        Space.G_YEAR_MONTH: f"{years}-{month:02}",
        Space.G_MONTH: f"--{month:02}",
        Space.G_MONTH_DAY: f"--{month:02}-{day:02}",
        Space.G_DAY: f"---{day:02}",
    }[space]
    return text + zone_text(moment.offset)


def duration_text(duration: Duration, datatype: str) -> str:
    """The canonical lexical form of a duration."""
    negative = duration.months < 0 or duration.seconds < 0
    years, months = divmod(abs(duration.months), 12)
    minutes, second = divmod(abs(duration.seconds), 60)
    hours, minute = divmod(int(minutes), 60)
    days, hour = divmod(hours, 24)
    text = f"{years}Y" * (years > 0) + f"{months}M" * (months > 0) + f"{days}D" * (days > 0)
    seconds = decimal_text(exact_decimal(second))
    clock = f"{hour}H" * (hour > 0) + f"{minute}M" * (minute > 0) + f"{seconds}S" * (second > 0)
    text += f"T{clock}" if clock else ""
    if not text:
        text = "0M" if datatype == XSD_YEAR_MONTH_DURATION else "T0S"
    return f"{'-' if negative else ''}P{text}"


def key_of_duration(duration: Duration, datatype: str) -> bytes:
    """The key of a duration, in canonical form."""
    return typed_key(duration_text(duration, datatype), datatype)


def typed_key(lexical: str, datatype: str) -> bytes:
    """The key of a literal of a datatype other than xsd:string."""
    return b"\x05" + lexical.encode() + b'"^^<' + datatype.encode() + b">"


# --- casts ---------------------------------------------------------------------------------------

_SPACES = {
    XSD_DATE_TIME: Space.DATETIME,
    XSD_DATE: Space.DATE,
    XSD_TIME: Space.TIME,
    XSD + "gYear": Space.G_YEAR,
    XSD + "gYearMonth": Space.G_YEAR_MONTH,
    XSD + "gMonth": Space.G_MONTH,
    XSD + "gMonthDay": Space.G_MONTH_DAY,
    XSD + "gDay": Space.G_DAY,
}
TEMPORAL = frozenset(_SPACES)
DURATIONS = frozenset({XSD_DURATION, XSD_DAY_TIME_DURATION, XSD_YEAR_MONTH_DURATION})


def cast_moment(key: bytes, datatype: str) -> bytes:
    """A date or time cast to another type: a dateTime to any, a date to any without a clock."""
    space, moment = moment_of(key)
    target = _SPACES[datatype]
    if space == target:
        return typed_key(lexical_form(key), datatype)
    from_date = space == Space.DATE and target != Space.TIME
    if space != Space.DATETIME and not from_date:
        raise ExpressionError
    return typed_key(moment_text(target, moment), datatype)


def cast_duration(key: bytes, datatype: str) -> bytes:
    """A duration cast to another type, without the parts that the type does not have."""
    duration = duration_of(key)
    if datatype == XSD_DAY_TIME_DURATION:
        duration = Duration(0, duration.seconds)
    elif datatype == XSD_YEAR_MONTH_DURATION:
        duration = Duration(duration.months, Fraction(0))
    return key_of_duration(duration, datatype)


def duration_of(key: bytes) -> Duration:
    """The value of a duration; ExpressionError for anything else."""
    value = value_of_term(key)
    if value is None or not isinstance(value.data, Duration):
        raise ExpressionError
    return value.data


# --- sums ----------------------------------------------------------------------------------------


def add(left: bytes, right: bytes) -> bytes:
    """A time and a duration, in any order, or two durations."""
    if datatype_iri(left) in DURATIONS:
        if datatype_iri(right) in DURATIONS:
            return _sum_of_durations(left, right, 1)
        left, right = right, left
    return _moved(left, right, 1)


def subtract(left: bytes, right: bytes) -> bytes:
    """A time minus a duration, a duration minus another, or the time between two times."""
    if datatype_iri(left) in DURATIONS:
        return _sum_of_durations(left, right, -1)
    if datatype_iri(right) in DURATIONS:
        return _moved(left, right, -1)
    space, one = moment_of(left)
    other_space, other = moment_of(right)
    if space != other_space or space > Space.TIME or (one.offset is None) != (other.offset is None):
        raise ExpressionError
    return key_of_duration(Duration(0, one.instant - other.instant), XSD_DAY_TIME_DURATION)


def negate(key: bytes) -> bytes:
    """A duration with the opposite sign."""
    duration = duration_of(key)
    return key_of_duration(Duration(-duration.months, -duration.seconds), datatype_iri(key))


def _sum_of_durations(left: bytes, right: bytes, sign: int) -> bytes:
    one, other = duration_of(left), duration_of(right)
    months, seconds = one.months + sign * other.months, one.seconds + sign * other.seconds
    if (months < 0 < seconds) or (seconds < 0 < months):
        raise ExpressionError
    kinds = {datatype_iri(left), datatype_iri(right)}
    datatype = kinds.pop() if len(kinds) == 1 else XSD_DURATION
    return key_of_duration(Duration(months, seconds), datatype)


def _moved(key: bytes, by: bytes, sign: int) -> bytes:
    space, moment = moment_of(key)
    duration = duration_of(by)
    if space > Space.TIME or (space == Space.TIME and duration.months):
        raise ExpressionError
    if duration.months:
        moment = _months_later(moment, sign * duration.months)
    instant: Fraction = moment.instant + sign * duration.seconds
    datatype = next(iri for iri, other in _SPACES.items() if other == space)
    if space == Space.DATE:
        local = instant + 60 * (moment.offset or 0)
        instant = Fraction(local // 86400 * 86400 - 60 * (moment.offset or 0))
    return typed_key(moment_text(space, Moment(instant, moment.offset)), datatype)


def _months_later(moment: Moment, months: int) -> Moment:
    """The same day and time in another month, or the last day of that month."""
    year, month, day, hour, minute, second = fields_of(moment)
    years, month0 = divmod(month - 1 + months, 12)
    year, month = year + years, month0 + 1
    day = min(day, days_in_month(year, month))
    local = time_line(year, month, day) + 3600 * hour + 60 * minute + second
    return Moment(Fraction(local) - 60 * (moment.offset or 0), moment.offset)


def is_temporal(key: bytes) -> bool:
    """True for dates, times and durations."""
    return (
        key[0] == 5
        and xsd.is_known(iri := datatype_iri(key))
        and (iri in TEMPORAL or iri in DURATIONS or iri == XSD + "dateTimeStamp")
    )

"""Dates, times and durations of XSD 1.1: lexical forms, values and order, exact and slow.

Start at `Moment`, the value of all nine types of dates and times. Always true: an instant is an
exact rational number of seconds on the proleptic Gregorian time line of XSD 1.1 (E.3.4), which has
a year 0 and no leap seconds; parts that a type lacks (the year of a time, the day of a gMonth) are
filled in as the specification does.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from triplestore.data_classes import data_class

_14_HOURS = 14 * 3600


class _Form:
    """A regular expression that is compiled when it is first needed: together they take 5 ms."""

    __slots__ = ("_compiled", "_pattern")

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._compiled: re.Pattern[str] | None = None

    def fullmatch(self, lexical: str) -> re.Match[str] | None:
        """The match of a whole lexical form; None if it does not match."""
        if self._compiled is None:
            self._compiled = re.compile(self._pattern)
        return self._compiled.fullmatch(lexical)


_YEAR = r"(?P<year>-?(?:[1-9][0-9]{3,}|0[0-9]{3}))"
_MONTH = r"(?P<month>0[1-9]|1[0-2])"
_DAY = r"(?P<day>0[1-9]|[12][0-9]|3[01])"
_CLOCK = (
    r"(?:(?P<hour>[01][0-9]|2[0-3]):(?P<minute>[0-5][0-9]):(?P<second>[0-5][0-9](?:\.[0-9]+)?)"
    r"|(?P<midnight>24:00:00(?:\.0+)?))"
)
_ZONE = r"(?P<zone>Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))?"

_DATETIME = _Form(f"{_YEAR}-{_MONTH}-{_DAY}T{_CLOCK}{_ZONE}")
_DATE = _Form(f"{_YEAR}-{_MONTH}-{_DAY}{_ZONE}")
_TIME = _Form(_CLOCK + _ZONE)
_G_YEAR = _Form(_YEAR + _ZONE)
_G_YEAR_MONTH = _Form(f"{_YEAR}-{_MONTH}{_ZONE}")
_G_MONTH = _Form(f"--{_MONTH}{_ZONE}")
_G_MONTH_DAY = _Form(f"--{_MONTH}-{_DAY}{_ZONE}")
_G_DAY = _Form(f"---{_DAY}{_ZONE}")
_DURATION = _Form(
    r"(?P<minus>-?)P(?=[0-9T])(?:(?P<years>[0-9]+)Y)?(?:(?P<months>[0-9]+)M)?(?:(?P<days>[0-9]+)D)?"
    r"(?P<time>T(?=[0-9])(?:(?P<hours>[0-9]+)H)?(?:(?P<minutes>[0-9]+)M)?"
    r"(?:(?P<seconds>[0-9]+(?:\.[0-9]+)?)S)?)?"
)


@data_class
class Moment:
    """A value of dateTime, date, time or one of the g-types.

    instant   seconds on the time line, in UTC if there is an offset, else in local time
    offset    of the time zone in minutes; None if there is no zone

    Equal instants are equal in order, whatever their offsets; the same offset makes them the
    same value.
    """

    instant: Fraction
    offset: int | None


@data_class
class Duration:
    """A value of duration: months and seconds, of the same sign."""

    months: int
    seconds: Fraction


def time_line(year: int, month: int, day: int) -> int:
    """Seconds from the beginning of year 1 to the beginning of a day.

    >>> time_line(1, 1, 2), time_line(1970, 1, 1)
    (86400, 62135596800)
    """
    before = year - 1
    days = 365 * before + before // 4 - before // 100 + before // 400
    days += sum(days_in_month(year, m) for m in range(1, month)) + day - 1
    return 86400 * days


def days_in_month(year: int, month: int) -> int:
    """The number of days; leap years by the Gregorian rule, in all times.

    >>> days_in_month(0, 2), days_in_month(1900, 2), days_in_month(2000, 2)
    (29, 28, 29)
    """
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def read_datetime(lexical: str) -> Moment | None:
    """`2004-04-12T13:20:00.5-05:00`; 24:00:00 is the beginning of the next day."""
    return _moment(_DATETIME.fullmatch(lexical))


def read_date(lexical: str) -> Moment | None:
    """`2004-04-12`, with or without a zone: the instant at which that day begins there."""
    return _moment(_DATE.fullmatch(lexical))


def read_time(lexical: str) -> Moment | None:
    """`13:20:00Z`, on the last day of 1972; 24:00:00 is 00:00:00."""
    found = _TIME.fullmatch(lexical)
    if found is not None and found["midnight"]:
        return read_time("00:00:00" + (found["zone"] or ""))
    return _moment(found)


def read_year(lexical: str) -> Moment | None:
    """`2004`; XSD puts it on the last day of December, which matters for the order only."""
    return _moment(_G_YEAR.fullmatch(lexical))


def read_year_month(lexical: str) -> Moment | None:
    """`2004-04`."""
    return _moment(_G_YEAR_MONTH.fullmatch(lexical))


def read_month(lexical: str) -> Moment | None:
    """`--04`."""
    return _moment(_G_MONTH.fullmatch(lexical))


def read_month_day(lexical: str) -> Moment | None:
    """`--04-12`; --02-29 exists, --02-30 does not."""
    return _moment(_G_MONTH_DAY.fullmatch(lexical))


def read_day(lexical: str) -> Moment | None:
    """`---12`."""
    return _moment(_G_DAY.fullmatch(lexical))


def read_duration(lexical: str, parts: str = "YMDT") -> Duration | None:
    """`P1Y2M3DT4H5M6.7S`; `parts` says which of years, months, days and time may occur.

    >>> read_duration("P1Y") == read_duration("P12M"), read_duration("P1D", "YM")
    (True, None)
    """
    found = _DURATION.fullmatch(lexical)
    if found is None:
        return None
    given = {"Y": found["years"], "M": found["months"], "D": found["days"], "T": found["time"]}
    if any(given[part] is not None for part in "YMDT" if part not in parts):
        return None
    months = 12 * _int(found["years"]) + _int(found["months"])
    minutes = 1440 * _int(found["days"]) + 60 * _int(found["hours"]) + _int(found["minutes"])
    seconds = 60 * minutes + Fraction(Decimal(found["seconds"] or 0))
    return Duration(-months, -seconds) if found["minus"] else Duration(months, seconds)


def compare_moments(left: Moment, right: Moment) -> int | None:
    """-1, 0 or 1; None if one has a zone, the other has none, and they are within 14 hours."""
    difference = left.instant - right.instant
    if (left.offset is None) == (right.offset is None):
        return (difference > 0) - (difference < 0)
    if abs(difference) > _14_HOURS:
        return 1 if difference > 0 else -1
    return None


def compare_durations(left: Duration, right: Duration) -> int | None:
    """-1, 0 or 1 where adding both to each of four dates gives the same answer, else None."""
    answers = {
        (a > b) - (a < b)
        for year, month in ((1696, 9), (1697, 2), (1903, 3), (1903, 7))
        for a in [_later(year, month, left)]
        for b in [_later(year, month, right)]
    }
    return answers.pop() if len(answers) == 1 else None


def _later(year: int, month: int, duration: Duration) -> Fraction:
    years, months = divmod(month - 1 + duration.months, 12)
    return time_line(year + years, months + 1, 1) + duration.seconds


def _moment(found: re.Match[str] | None) -> Moment | None:
    """The value of a lexical form whose every part is in range by itself."""
    if found is None:
        return None
    given = found.groupdict()
    year = _int(given["year"]) if given.get("year") else 1972  # a leap year, for --02-29
    month = int(given.get("month") or 12)
    longest = days_in_month(year, month)
    day = int(given.get("day") or longest)
    if day > longest:
        return None
    instant = Fraction(time_line(year, month, day))
    if given.get("midnight"):
        instant += 86400
    elif given.get("hour"):
        instant += 3600 * int(given["hour"]) + 60 * int(given["minute"])
        instant += Fraction(Decimal(given["second"]))
    offset = _offset(given["zone"])
    return Moment(instant - 60 * (offset or 0), offset)


def _offset(zone: str | None) -> int | None:
    if zone is None:
        return None
    if zone == "Z":
        return 0
    minutes = 60 * int(zone[1:3]) + int(zone[4:6])
    return -minutes if zone[0] == "-" else minutes


def _int(digits: str | None) -> int:
    """The number, also where it has more digits than int() takes; 0 for a missing part."""
    return int(Decimal(digits)) if digits else 0

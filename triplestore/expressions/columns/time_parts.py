"""YEAR, MONTH, DAY, HOURS, MINUTES and SECONDS of many times, from their 64-bit keys.

Start at `part_of_times`. Always true: the values are those of `library.times.part`. The key of an
exact time is the number of its microseconds in UTC since the year 1; only of times with another
zone the text is read. Costs some 20 ns a row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from triplestore.expressions.library.numbers import DECIMAL, INTEGER
from triplestore.expressions.library.times import PART_NAMES, PARTS
from triplestore.expressions.query_terms import QueryTerms
from triplestore.expressions.text_columns import I64, worth_texts
from triplestore.expressions.vectors import Mask, Numbers, Vector, coded, take, texts, values_of
from triplestore.terms.values.segment_values import ValueColumn
from triplestore.terms.values.value_keys import CLASS_OF, EXACT, SPACE_OF, ZONED_OR_MINUS, Class

_DAY = 86_400_000_000
_HOUR = 3_600_000_000
_MINUTE = 60_000_000
_SECOND = 1_000_000
_TOP = np.uint64(1 << 63)
_FAR = 1 << 62

_IS_TIME = (CLASS_OF >= Class.DATETIME_ZONED) & (CLASS_OF <= Class.G_DAY_LOCAL)
_HAS: dict[str, NDArray[np.bool_]] = {
    name: np.array(
        [bool(time) and PARTS[space][place] for time, space in zip(_IS_TIME, SPACE_OF, strict=True)]
    )
    for place, name in enumerate(PART_NAMES)
}
"""Which marks are those of times with a part."""


def part_of_times(name: str, vector: Vector, terms: QueryTerms) -> Numbers | None:
    """A part of each time; None if that needs the terms: fractions of microseconds, far years."""
    values = values_of(vector, terms)
    has: Mask = _HAS[name][values.marks]
    if not ((values.marks[has] & EXACT) != 0).all():
        return None
    instants = (values.keys ^ _TOP).view(np.int64)
    if (np.abs(instants[has]) >= _FAR).any():
        return None
    zoned = has & ((values.marks & ZONED_OR_MINUS) != 0)
    if zoned.any():
        offsets = _offsets(vector, np.flatnonzero(zoned), terms)
        if offsets is None:
            return None
        instants = instants.copy()
        instants[zoned] += offsets * _MINUTE
    valid = None if has.all() else has
    if valid is not None:
        instants = np.where(has, instants, 0)
    if name == "SECONDS":
        return _seconds(instants % _MINUTE, valid)
    if name in ("HOURS", "MINUTES"):
        clock = instants % _DAY
        found = clock // _HOUR if name == "HOURS" else clock // _MINUTE % 60
        return Numbers(INTEGER, found, valid)
    return Numbers(INTEGER, _of_date(name, instants // _DAY), valid)


def _seconds(micros: I64, valid: Mask | None) -> Numbers:
    whole = micros // _SECOND
    if (whole * _SECOND == micros).all():
        return Numbers(DECIMAL, whole, valid)
    return Numbers(DECIMAL, micros, valid, 6)


def _of_date(name: str, days: I64) -> I64:
    """Year, month or day of days since the first of January of year 1."""
    # As in `fields_of`: days since the first of March of year 0, in cycles of 400 years.
    day = days.astype(np.int32) + np.int32(306)
    cycle = day // 146097
    day -= 146097 * cycle
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    if name == "DAY":
        return (day - (153 * month + 2) // 5 + 1).astype(np.int64)
    if name == "MONTH":
        return np.where(month < 10, month + 3, month - 9).astype(np.int64)
    found: I64 = (year + 400 * cycle + (month >= 10)).astype(np.int64)
    return found


def _offsets(vector: Vector, rows: I64, terms: QueryTerms) -> I64 | None:
    """The zones of the times in these rows, in minutes."""
    vector = take(vector, rows)
    if not worth_texts(len(rows)):
        made = coded(vector, terms)
        return _taken([_minutes(_written(key)) for key in made.keys], made.codes)
    found = texts(vector, terms)
    if found is None:
        return None
    stops = found.starts + found.lengths
    raw = found.buf[stops[:, None] + np.arange(-6, 0)].tobytes()
    zones = [raw[at : at + 6] for at in range(0, len(raw), 6)]
    minutes = {zone: _minutes(zone) for zone in set(zones)}
    return _taken([minutes[zone] for zone in zones], found.codes)


def _written(key: bytes | None) -> bytes:
    """The last six characters of a time, as its key has it."""
    return b"Z" if key is None else key[1 : key.rindex(b'"')][-6:]


def _minutes(zone: bytes) -> int:
    """The offset of a zone, which ends with Z or is written as `+05:45`."""
    if zone.endswith(b"Z"):
        return 0
    minutes = 60 * int(zone[1:3]) + int(zone[4:])
    return -minutes if zone.startswith(b"-") else minutes


def _taken(zones: list[int], codes: I64) -> I64:
    taken: I64 = np.array(zones, np.int64)[codes]
    return taken


def is_numeric(values: ValueColumn) -> Mask:
    """Which values are numbers."""
    found: Mask = values.classes == Class.NUMERIC
    return found

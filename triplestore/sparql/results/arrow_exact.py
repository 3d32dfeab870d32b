"""Columns of decimals, dates and times of Arrow, made of lexical forms.

Start at `exact_column`. What is always true: nothing is rounded. A column in which one value cannot
be held exactly (a year of five digits, nanoseconds, times with and without a time zone) is None,
and stays texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from triplestore.terms.vocabulary import XSD

_DECIMAL = re.compile("[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)")
_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_ZONE = "Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00)"
_HOUR = "[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.][0-9]{1,6})?"
_TIME = re.compile(f"({_DATE.pattern}T{_HOUR})0*({_ZONE})?")
_DIGITS = 38
"""Maximum number of digits of a decimal of Arrow with 128 bits."""


def exact_column(datatype: str, texts: Sequence[str | None]) -> Any:
    """A column of pyarrow for the lexical forms of a datatype; None if it has no type of its own.

    >>> str(exact_column(XSD + "date", ["2024-02-29", None]).type)
    'date32[day]'
    >>> exact_column(XSD + "date", ["12024-02-29"]) is None
    True
    """
    make = _COLUMNS.get(datatype)
    if make is None:
        return None
    try:
        return make(texts)
    except (ValueError, OverflowError):  # there is no such day or hour, or not for Arrow
        return None


def _decimals(texts: Sequence[str | None]) -> Any:
    import pyarrow as pa

    if not all(text is None or _DECIMAL.fullmatch(text) for text in texts):
        return None
    values = [None if text is None else Decimal(text) for text in texts]
    whole = scale = 0
    for value in values:
        if value is not None:
            _, digits, exponent = value.as_tuple()
            assert isinstance(exponent, int)
            scale = max(scale, -exponent)
            whole = max(whole, len(digits) + exponent)
    if whole + scale > _DIGITS:
        return None
    return pa.array(values, pa.decimal128(_DIGITS, scale))


def _dates(texts: Sequence[str | None]) -> Any:
    import pyarrow as pa

    if not all(text is None or _DATE.fullmatch(text) for text in texts):
        return None
    days = [None if text is None else date.fromisoformat(text) for text in texts]
    return pa.array(days, pa.date32())


def _times(texts: Sequence[str | None]) -> Any:
    """Microseconds, in UTC if all have a time zone, without zone if none has one."""
    import pyarrow as pa

    values: list[datetime | None] = []
    zones = set()
    for text in texts:
        if text is None:
            values.append(None)
            continue
        found = _TIME.fullmatch(text)
        if found is None:
            return None
        zone = found[2]
        zones.add(zone is not None)
        moment = datetime.fromisoformat(found[1] + (zone or ""))
        values.append(moment if zone is None else moment.astimezone(UTC))
    if len(zones) > 1:
        return None
    return pa.array(values, pa.timestamp("us", "UTC" if True in zones else None))


_COLUMNS: dict[str, Callable[[Sequence[str | None]], Any]] = {
    XSD + "decimal": _decimals,
    XSD + "date": _dates,
    XSD + "dateTime": _times,
    XSD + "dateTimeStamp": _times,
}

EXACT_TYPES = frozenset(_COLUMNS)
"""The datatypes for which there are such columns."""

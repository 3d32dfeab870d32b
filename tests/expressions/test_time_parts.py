"""Parts of many times, from their keys: the same as of one after the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triplestore.expressions.evaluate_columns import Scope, column, evaluate
from triplestore.expressions.library.times import PART_NAMES
from triplestore.expressions.query_terms import QueryTerms
from triplestore.expressions.thresholds import EXPRESSIONS
from triplestore.expressions.tree import Call, Variable
from triplestore.expressions.vectors import Numbers
from triplestore.operators.frame import Frame
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.thresholds import TERMS
from triplestore.terms.vocabulary import XSD

DATES = ["2024-02-29", "1970-01-01", "0001-01-01", "0000-03-01", "-0001-12-31", "-4000-02-28"]
DATES += ["1900-02-28", "2000-12-31", "12024-07-15", "9999-12-31", "2023-13-01", "-290000-01-01"]
CLOCKS = ["00:00:00", "23:59:59.999999", "24:00:00", "12:30:15.5", "00:59:60", "07:08:09.1234567"]
ZONES = ["", "Z", "+00:00", "-00:30", "+14:00", "-14:00", "+05:45"]


def of(name: str, lexicals: list[str]) -> list[bytes]:
    return [f'\x05{text}"^^<{XSD}{name}>'.encode() for text in lexicals]


def zoned(lexicals: list[str]) -> list[str]:
    return [text + zone for text in lexicals for zone in ZONES]


KEYS = {
    "dateTime": of("dateTime", zoned([f"{day}T{clock}" for day in DATES for clock in CLOCKS])),
    "dateTimeStamp": of("dateTimeStamp", zoned([f"{day}T12:00:00" for day in DATES])),
    "date": of("date", zoned(DATES)),
    "time": of("time", zoned(CLOCKS)),
    "gYear": of("gYear", zoned(["2024", "-0044", "0000", "12345"])),
    "gYearMonth": of("gYearMonth", zoned(["2024-02", "-0044-03", "2024-13"])),
    "gMonth": of("gMonth", zoned(["--02", "--12"])),
    "gMonthDay": of("gMonthDay", zoned(["--02-29", "--12-31"])),
    "gDay": of("gDay", zoned(["---01", "---31"])),
    "others": [b"\x03a", b"\x032024-01-01", b"\x01http://e/a", *of("integer", ["2024"])],
}
KEYS["exact"] = [key for key in KEYS["dateTime"] if b"4567" not in key and b"290000" not in key]
KEYS["all"] = [key for keys in KEYS.values() for key in keys]


def agree(name: str, keys: list[bytes | None]) -> object:
    """Compare with one row after the other; the values by columns."""
    dictionary = Dictionary()
    dictionary.encode_keys([key for key in keys[::2] if key is not None])
    terms = QueryTerms(dictionary)
    frame = Frame.of(x=terms.encode_keys(keys))
    call, scope = Call(name, (Variable("x"),)), Scope(terms)
    with EXPRESSIONS.changed(scalar_rows=-1):
        short = terms.keys(column(call, frame, scope))
        found = evaluate(call, frame, scope)
    with EXPRESSIONS.changed(scalar_rows=10**6):
        long = terms.keys(column(call, frame, scope))
    for key, one, other in zip(keys, short, long, strict=True):
        assert one == other, f"{name} of {key!r}: {one!r}, not {other!r}"
    return found


@pytest.mark.parametrize("name", PART_NAMES)
@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("few", [1, 10**6])
def test_parts__are_those_of_one_time(
    name: str, kind: str, few: int, tune: Callable[..., None]
) -> None:
    tune(TERMS, warm_rows=few, warm_texts=few, cold_texts=few)
    agree(name, [*KEYS[kind], None])


def test_parts__of_exact_times_are_numbers_at_once() -> None:
    for name in PART_NAMES:
        found = agree(name, KEYS["exact"])
        assert isinstance(found, Numbers) and found.values.dtype == np.int64


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.datetimes(), st.sampled_from(ZONES), st.sampled_from(["date", "dateTime", "time"])
        ),
        min_size=1,
        max_size=20,
    )
)
def test_parts__of_any_times(times: list[tuple[object, str, str]]) -> None:
    keys = []
    for moment, zone, kind in times:
        day, clock = moment.isoformat().split("T")
        text = {"date": day, "time": clock, "dateTime": f"{day}T{clock}"}[kind]
        keys += of(kind, [text + zone])
    for name in PART_NAMES:
        agree(name, keys)

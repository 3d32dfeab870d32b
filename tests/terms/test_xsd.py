"""The mapping of literals to values, against the specification's examples and other oracles."""

from __future__ import annotations

import base64
import itertools
import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from triplestore.terms.values.xsd import (
    INTEGER_RANGES,
    MAPPINGS,
    RDF,
    XSD,
    Space,
    compare,
    parse,
    round_to_float,
)
from triplestore.terms.values.xsd_temporal import Duration, Moment, time_line

WELL_FORMED = {
    "integer": ["0", "-0", "+7", "007", "9" * 5000],
    "decimal": ["1.", ".5", "-.5", "+1.50", "0" * 30 + ".1", "12"],
    "float": ["1", "1e5", "-.5E-3", "INF", "+INF", "-INF", "NaN", "1e999"],
    "double": ["1.e5", "4.9e-324", "1e-999", "0e99999999999999999999"],
    "boolean": ["true", "false", "1", "0"],
    "byte": ["-128", "127"],
    "unsignedLong": ["18446744073709551615", "-0", "+0"],
    "nonPositiveInteger": ["0", "+0", "-5"],
    "negativeInteger": ["-1"],
    "positiveInteger": ["+1"],
    "dateTime": ["2000-02-29T24:00:00", "-0001-01-01T00:00:00Z", "0000-01-01T00:00:00",
                 "12000-01-01T00:00:00.000000000001+14:00", "-0000-01-01T00:00:00"],
    "dateTimeStamp": ["2000-01-01T00:00:00-00:00"],
    "date": ["2004-02-29", "0000-02-29", "2004-12-31-14:00"],
    "time": ["24:00:00.00", "23:59:59.999Z"],
    "gYear": ["2004", "-2004", "20040Z"],
    "gYearMonth": ["2004-12+01:00"],
    "gMonth": ["--12", "--01Z"],
    "gMonthDay": ["--02-29"],
    "gDay": ["---31"],
    "duration": ["P1Y", "-P1Y2M3DT4H5M6.789S", "PT0S", "P0Y", "PT1.5S", "P13M", f"P{'9' * 5000}D"],
    "yearMonthDuration": ["P1Y2M", "-P14M"],
    "dayTimeDuration": ["P1D", "PT36H", "P1DT0.1S"],
    "hexBinary": ["", "0aF1"],
    "base64Binary": ["", "AQID", "AQ==", "A Q = =", "AQI=", "AQ IDAQID"],
    "anyURI": ["", "http://example.org/ü", "not a URI %"],
    "string": ["", "\t\n "],
    "normalizedString": ["", "  a  "],
    "token": ["", "a b"],
    "language": ["en", "de-CH-1996", "x-klingon"],
    "Name": ["a:b", "_", ":", "é-1.·"],
    "NCName": ["a-b", "_1"],
    "NMTOKEN": ["-1:a", "..."],
}  # fmt: skip

ILL_TYPED = {
    "integer": ["", "+", "1.0", "1e0", " 3 ", "3\n", "1_0", "٣", "0x1", "--1"],
    "decimal": ["", ".", "+.", "1e0", "1,5", "INF", "1.2.3"],
    "float": ["", "e5", "1e", "1e+", "inf", "nan", "+NaN", "-NaN", "Infinity", "1e1.5", "1f"],
    "double": ["1 ", "0x1p3", "1_0e0", ".e1"],
    "boolean": ["", "True", "TRUE", "01", "yes", " true"],
    "byte": ["128", "-129", "300"],
    "unsignedByte": ["256", "-1"],
    "long": ["9223372036854775808"],
    "unsignedLong": ["18446744073709551616"],
    "nonNegativeInteger": ["-1"],
    "positiveInteger": ["0", "-0", "-1"],
    "negativeInteger": ["0", "1"],
    "dateTime": ["2000-01-01", "2000-02-30T00:00:00", "1900-02-29T00:00:00", "2000-01-01T24:00:01",
                 "2000-01-01T00:00:60", "2000-01-01T00:60:00", "2000-01-01T25:00:00",
                 "2000-01-01 00:00:00", "02000-01-01T00:00:00", "200-01-01T00:00:00",
                 "2000-01-01T00:00:00.", "2000-01-01T00:00:00z", "2000-01-01T00:00:00+14:01",
                 "2000-01-01T00:00:00+1:00", "2000-13-01T00:00:00", "2000-00-01T00:00:00",
                 "+2000-01-01T00:00:00", "2000-01-01T00:00:00 Z", "\uff12000-01-01T00:00:00"],
    "dateTimeStamp": ["2000-01-01T00:00:00"],
    "date": ["2001-02-29", "2004-04-31", "2004-4-1", "2004-01-00"],
    "time": ["24:00:01", "24:30:00", "1:00:00", "00:00"],
    "gYear": ["204", "02004", "-02004", "2004-01"],
    "gMonth": ["--13", "--00", "--12--", "12"],
    "gMonthDay": ["--02-30", "--04-31"],
    "gDay": ["---32", "---00", "--31"],
    "duration": ["P", "PT", "P1", "P1YT", "1Y", "P-1Y", "P1M1Y", "PT1.S", "PT.5S", "P1.5D", "P1S"],
    "yearMonthDuration": ["P1D", "PT1S", "P1YT0S", "P"],
    "dayTimeDuration": ["P1Y", "P0M", "P"],
    "hexBinary": ["0", "0g", "0 0"],
    "base64Binary": ["A", "AQ", "AQ=", "AR==", "AQJ=", " AQID", "AQID ", "A  QID", "AQ==AQID"],
    "normalizedString": ["a\tb", "\n"],
    "token": [" a", "a ", "a  b", "a\tb"],
    "language": ["", "e_n", "toolonglanguage", "en-", "ë"],
    "Name": ["", "1a", "-a", "a b"],
    "NCName": ["a:b", ":"],
    "NMTOKEN": ["", "a b", "a,b"],
}  # fmt: skip


def value(lexical: str, name: str):
    found = parse(lexical, XSD + name)
    assert found is not None, (lexical, name)
    return found


@pytest.mark.parametrize("name", WELL_FORMED, ids="xsd:{}".format)
def test_parse__takes_what_the_lexical_space_has(name: str) -> None:
    for lexical in WELL_FORMED[name]:
        assert parse(lexical, XSD + name) is not None, lexical


@pytest.mark.parametrize("name", ILL_TYPED, ids="xsd:{}".format)
def test_parse__refuses_what_the_lexical_space_has_not(name: str) -> None:
    for lexical in ILL_TYPED[name]:
        assert parse(lexical, XSD + name) is None, lexical


def test_parse__knows_the_datatypes_of_owl_2_rl() -> None:
    assert {iri.removeprefix(XSD) for iri in MAPPINGS if iri.startswith(XSD)} >= {
        *WELL_FORMED, *ILL_TYPED, *INTEGER_RANGES,
    }  # fmt: skip
    assert parse("1", "http://example.org/unknown") is None
    assert parse("a", RDF + "langString") is None
    assert parse("<a/>", RDF + "XMLLiteral") is None


@given(st.integers(), st.sampled_from([*INTEGER_RANGES]))
@example(-(2**63) - 1, "long")
def test_integers__are_in_range_or_ill_typed(number: int, name: str) -> None:
    least, most = INTEGER_RANGES[name]
    inside = (least is None or least <= number) and (most is None or number <= most)
    found = parse(str(number), XSD + name)
    assert (found.data if found else None) == (Decimal(number) if inside else None)


# --------------------------------------------------------------------------------- identity

SAME = [
    ["01^integer", "1.0^decimal", "1^int", "+1^unsignedByte", "1.^decimal"],
    ["0^integer", "-0^integer", "-0.0^decimal"],
    ["1e0^double", "1^double", "10e-1^double"],
    ["1^float", "1.00000001^float"],
    ["1.00000001^double"],
    ["0^double", "+0e5^double", "1e-999^double"],
    ["-0^double", "-1e-999^double"],
    ["0^float", "1e-60^float"],
    ["-0^float", "-1e-60^float"],
    ["NaN^double"],
    ["NaN^float"],
    ["INF^float", "1e39^float", "+INF^float"],
    ["INF^double", "1e309^double"],
    ["1^boolean", "true^boolean"],
    [f"{10**30}^integer", f"{10**30}.0^decimal"],
    [f"{10**30 + 1}^integer"],
    ["0.1234567890123456789012345^decimal", "0.12345678901234567890123450^decimal"],
    ["0.1234567890123456789012346^decimal"],
    ["2000-01-01T12:00:00Z^dateTime", "2000-01-01T12:00:00.0-00:00^dateTimeStamp"],
    ["2000-01-01T13:00:00+01:00^dateTime"],
    ["2000-01-01T12:00:00^dateTime"],
    ["2000-02-29T24:00:00^dateTime", "2000-03-01T00:00:00^dateTime"],
    ["24:00:00^time", "00:00:00^time"],
    ["2000-01-01^date"],
    ["2000^gYear"],
    ["0000^gYear", "-0000^gYear"],
    ["P1Y^duration", "P12M^yearMonthDuration", "P12M^duration"],
    ["PT0S^dayTimeDuration", "P0Y^yearMonthDuration", "-P0D^duration"],
    ["P1D^duration", "PT24H^dayTimeDuration", "PT86400.0S^duration"],
    ["P30D^duration"],
    ["P1M^duration"],
    ["ab^hexBinary", "AB^hexBinary"],
    ["qw==^base64Binary", "q w = =^base64Binary"],
    ["ab^anyURI"],
    ["ab^string", "ab^token", "ab^NMTOKEN", "ab@^PlainLiteral"],
    ["ab@en^PlainLiteral", "ab@EN^PlainLiteral"],
]


def test_identity__is_that_of_xsd() -> None:
    rows = [
        (group, parse(lexical, (RDF if name == "PlainLiteral" else XSD) + name))
        for group, texts in enumerate(SAME)
        for lexical, _, name in (text.rpartition("^") for text in texts)
    ]
    for (i, a), (j, b) in itertools.combinations(rows, 2):
        assert a is not None and b is not None
        assert (a.identity == b.identity) == (i == j), (a, b)


# ---------------------------------------------------------------------------------- numbers


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(2.0**-149)
@example(2.0**-150)
@example(3.4028235677973366e38)
@example(-1.401298464324817e-45)
def test_round_to_float__is_the_hardware_s_rounding_of_doubles(number: float) -> None:
    with np.errstate(over="ignore", under="ignore"):
        expected = float(np.float32(number))
    assert round_to_float(Fraction(number)) == expected


def test_float__is_rounded_once() -> None:
    # By way of the nearest double this would be 1.00000023841857910156.
    assert value("1.00000017881393432617187499", "float").data == float(np.float32(1.0000001))
    assert value("1.00000017881393432617187500", "float").data > 1.0000002


@given(st.floats())
def test_double__comes_back_from_its_shortest_form(number: float) -> None:
    lexical = {math.inf: "INF", -math.inf: "-INF"}.get(number, repr(number))
    found = value("NaN" if math.isnan(number) else lexical, "double").data
    assert found == number or (math.isnan(found) and math.isnan(number))
    assert math.copysign(1, found) == math.copysign(1, number) or math.isnan(number)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("1^integer", "1.0^double", 0),
        ("0.1^decimal", "0.1^double", 0),  # both are the same double
        ("0.1^float", "0.1^double", 1),
        ("0.1^decimal", "0.1^float", 0),
        ("16777217^integer", "16777216^float", 0),
        ("16777217^integer", "16777216^double", 1),
        ("9007199254740993^integer", "9007199254740992^integer", 1),
        ("9007199254740993^integer", "9007199254740992e0^double", 0),
        (f"{10**400}^integer", "INF^double", 0),
        (f"{10**400}^integer", f"{10**400 + 1}^integer", -1),
        ("-0^double", "0^double", 0),
        ("-0^float", "0^integer", 0),
        ("NaN^double", "NaN^double", None),
        ("NaN^float", "1^integer", None),
        ("INF^float", "INF^double", 0),
        ("true^boolean", "false^boolean", 1),
        ("true^boolean", "1^integer", None),
        ("a^token", "b^string", -1),
        ("a^anyURI", "a^string", None),
        ("00^hexBinary", "0000^hexBinary", -1),
        ("2000-01-01^date", "2000-01-01T00:00:00^dateTime", None),
    ],
)
def test_compare__promotes_as_sparql_does(left: str, right: str, expected: int | None) -> None:
    a, b = (value(*text.split("^")) for text in (left, right))
    assert compare(a, b) == expected
    assert compare(b, a) == (expected if expected is None else -expected)


# ------------------------------------------------------------------------ dates, durations


@given(st.datetimes(), st.integers(-840, 840) | st.none(), st.booleans())
def test_datetime__is_python_s_within_python_s_years(
    moment: datetime, offset: int | None, utc: bool
) -> None:
    sign = "-" if (offset or 0) < 0 else "+"
    hours, minutes = divmod(abs(offset or 0), 60)
    zone = (
        "" if offset is None else "Z" if offset == 0 and utc else f"{sign}{hours:02}:{minutes:02}"
    )
    lexical = moment.isoformat()
    found = value(lexical + zone, "dateTime").data
    seconds = Fraction((moment - datetime(1, 1, 1)) // timedelta(microseconds=1), 10**6)
    assert found == Moment(seconds - 60 * (offset or 0), offset)
    assert value(lexical[:10] + zone, "date").data == Moment(
        Fraction((moment.date() - datetime(1, 1, 1).date()).days * 86400 - 60 * (offset or 0)),
        offset,
    )


def test_time_line__counts_days_before_year_1_and_after_9999() -> None:
    days = 0
    for year in range(0, -801, -1):
        leap = year % 400 == 0 or (year % 4 == 0 and year % 100 != 0)
        days -= 366 if leap else 365
        assert time_line(year, 1, 1) == days * 86400
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    assert time_line(1970, 1, 1) == (epoch - datetime(1, 1, 1, tzinfo=UTC)).total_seconds()
    # Four hundred years are always as long.
    assert time_line(123456, 7, 8) - time_line(123056, 7, 8) == 146097 * 86400


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        # The table of XSD 1.1, 3.2.6.2 (second edition of part 2 of 1.0)
        ("P1Y^duration", "P364D^duration", 1),
        ("P1Y^duration", "P365D^duration", None),
        ("P1Y^duration", "P366D^duration", None),
        ("P1Y^duration", "P367D^duration", -1),
        ("P1M^duration", "P27D^duration", 1),
        *(("P1M^duration", f"P{days}D^duration", None) for days in (28, 29, 30, 31)),
        ("P1M^duration", "P32D^duration", -1),
        ("P5M^duration", "P149D^duration", 1),
        *(("P5M^duration", f"P{days}D^duration", None) for days in (150, 151, 152, 153)),
        ("P5M^duration", "P154D^duration", -1),
        ("P1Y^yearMonthDuration", "P13M^yearMonthDuration", -1),
        ("PT24H^dayTimeDuration", "P1D^duration", 0),
        ("2000-01-15T00:00:00^dateTime", "2000-02-15T00:00:00^dateTime", -1),
        ("2000-01-15T12:00:00^dateTime", "2000-01-16T12:00:00Z^dateTime", -1),
        ("2000-01-01T12:00:00^dateTime", "1999-12-31T23:00:00Z^dateTime", None),
        ("2000-01-16T12:00:00^dateTime", "2000-01-16T12:00:00Z^dateTime", None),
        ("2000-01-16T00:00:00^dateTime", "2000-01-16T14:00:00Z^dateTime", None),
        ("2000-01-16T00:00:00^dateTime", "2000-01-16T14:00:01Z^dateTime", -1),
        ("2000-01-01T13:00:00+01:00^dateTime", "2000-01-01T12:00:00Z^dateTime", 0),
        ("2000-01-01+13:00^date", "1999-12-31-11:00^date", 0),
        ("08:00:00+10:00^time", "17:00:00+10:00^time", -1),
        ("00:30:00+01:00^time", "23:30:00Z^time", -1),
        ("2000^gYear", "2001^gYear", -1),
        ("-0001^gYear", "0000^gYear", -1),
        ("--02-29^gMonthDay", "--03-01^gMonthDay", -1),
        ("---31^gDay", "---01^gDay", 1),
        ("--12^gMonth", "--01^gMonth", 1),
    ],
)  # fmt: skip
def test_compare__orders_times_where_xsd_does(left: str, right: str, expected: int | None) -> None:
    a, b = (value(*text.split("^")) for text in (left, right))
    assert compare(a, b) == expected
    assert compare(b, a) == (expected if expected is None else -expected)


@given(st.integers(0, 10**6), st.fractions(0, 10**9, max_denominator=1), st.booleans())
def test_duration__has_one_value_however_it_is_written(
    months: int, seconds: Fraction, minus: bool
) -> None:
    sign = "-" if minus else ""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    years, left = divmod(months, 12)
    long = f"{sign}P{years}Y{left}M{days}DT{hours}H{minutes}M{rest}.0S"
    short = f"{sign}P{months}MT{int(seconds)}S"
    factor = -1 if minus else 1
    assert value(long, "duration").data == Duration(factor * months, factor * seconds)
    assert value(long, "duration") == value(short, "duration")


# -------------------------------------------------------------------------------- binaries


@given(st.binary(), st.randoms(use_true_random=False))
def test_binaries__are_their_bytes(raw: bytes, random) -> None:
    assert value(raw.hex(), "hexBinary").data == raw
    assert value(raw.hex().upper(), "hexBinary").data == raw
    coded = base64.b64encode(raw).decode()
    spaced = "".join(c + random.choice(["", " "]) for c in coded).strip(" ")
    assert value(coded, "base64Binary").data == raw
    assert value(spaced, "base64Binary").data == raw
    assert value(coded, "base64Binary").space == Space.BASE64_BINARY

"""SWRL's built-ins: each one of the submission is supported, with examples, or refused aloud.

`CASES` are examples after those of XPath's functions and operators, worked out by hand: a built-in,
its arguments, and the value of the first, or whether it is true.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.ontologies.test_swrl_rules import PREFIXES, builtin
from triplestore import Store
from triplestore.expressions.functions import SWRL_FUNCTIONS
from triplestore.expressions.library.swrl_builtins import SWRL
from triplestore.ontologies.translate.swrl_conditions import TESTS, UNSUPPORTED, VALUES

SUBMISSION = re.findall(
    r"\w+",
    """
    equal notEqual lessThan lessThanOrEqual greaterThan greaterThanOrEqual
    add subtract multiply divide integerDivide mod pow unaryPlus unaryMinus abs ceiling floor round
    roundHalfToEven sin cos tan
    booleanNot
    stringEqualIgnoreCase stringConcat substring stringLength normalizeSpace upperCase lowerCase
    translate contains containsIgnoreCase startsWith endsWith substringBefore substringAfter matches
    replace tokenize
    yearMonthDuration dayTimeDuration dateTime date time addYearMonthDurations
    subtractYearMonthDurations multiplyYearMonthDuration divideYearMonthDurations
    addDayTimeDurations subtractDayTimeDurations multiplyDayTimeDurations divideDayTimeDuration
    subtractDates subtractTimes addYearMonthDurationToDateTime addDayTimeDurationToDateTime
    subtractYearMonthDurationFromDateTime subtractDayTimeDurationFromDateTime
    addYearMonthDurationToDate addDayTimeDurationToDate subtractYearMonthDurationFromDate
    subtractDayTimeDurationFromDate addDayTimeDurationToTime subtractDayTimeDurationFromTime
    subtractDateTimesYieldingYearMonthDuration subtractDateTimesYieldingDayTimeDuration
    resolveURI anyURI
    listConcat listIntersection listSubtraction member length first rest sublist empty
""",
)
"""All built-ins of sections 8.1 to 8.7, in order."""

CASES = [
    ("equal", "1 1.0", True), ("equal", "1 2", False), ("equal", "'a' 'b'", False),
    ("notEqual", "1 2", True), ("notEqual", "1 1.0", False), ("notEqual", "'a' 'b'", True),
    ("lessThan", "1 2", True), ("lessThan", "'a' 'b'", True), ("lessThan", "2 2", False),
    ("lessThan", "'2020-01-01'^^xsd:date '2020-02-01'^^xsd:date", True),
    ("lessThan", "1 'a'", False), ("greaterThan", "1 'a'", False),
    ("lessThanOrEqual", "2 2.0", True), ("lessThanOrEqual", "3 2", False),
    ("greaterThan", "'P1Y'^^xsd:yearMonthDuration 'P11M'^^xsd:yearMonthDuration", True),
    ("greaterThan", "2 2", False),
    ("greaterThanOrEqual", "2 2", True), ("greaterThanOrEqual", "1 2", False),
    ("contains", "'tattoo' 'tt'", True), ("contains", "'tattoo' 'tT'", False),
    ("containsIgnoreCase", "'taTToo' 'tt'", True), ("containsIgnoreCase", "'a' 'b'", False),
    ("startsWith", "'tattoo' 'tat'", True), ("startsWith", "'tattoo' 'att'", False),
    ("endsWith", "'tattoo' 'too'", True), ("endsWith", "'tattoo' 'att'", False),
    ("matches", "'abracadabra' '^a.*a$'", True), ("matches", "'abracadabra' '^bra'", False),
    ("matches", "'ABRA' 'bra' 'i'", True),
    ("stringEqualIgnoreCase", "'aB' 'Ab'", True), ("stringEqualIgnoreCase", "'a' 'b'", False),
    # what has a value
    ("add", "1 2", "3"), ("add", "1 2.5 3", "6.5"), ("subtract", "3 1", "2"),
    ("multiply", "2 3 4", "24"), ("divide", "10 4", "2.5"), ("divide", "1 0", None),
    ("integerDivide", "10 3", "3"), ("integerDivide", "-10 3", "-3"),
    ("integerDivide", "9.0 3", "3"), ("integerDivide", "1 0", None),
    ("integerDivide", "1.0e0 0.3", "3"), ("integerDivide", "'INF'^^xsd:double 2", None),
    ("mod", "10 3", "1"), ("mod", "-10 3", "-1"), ("mod", "10 -3", "1"), ("mod", "4.5 1.2", "0.9"),
    ("mod", "1.23E2 0.6E1", "3.0E0"), ("mod", "1 0", None), ("mod", "1.0e0 0", "NaN"),
    ("pow", "2 10", "1024"), ("pow", "1.5 2", "2.25"), ("pow", "2 -1", "5.0E-1"),
    ("pow", "4 0.5", "2.0E0"), ("pow", "10 100000", None), ("pow", "-1 0.5", None),
    ("unaryPlus", "-3", "-3"), ("unaryMinus", "3", "-3"), ("abs", "-3.5", "3.5"),
    ("ceiling", "2.1", "3"), ("floor", "-2.1", "-3"), ("round", "2.5", "3"),
    ("round", "-2.5", "-2"),
    ("roundHalfToEven", "2.5", "2"), ("roundHalfToEven", "1.5", "2"),
    ("roundHalfToEven", "3.567812 2", "3.57"), ("roundHalfToEven", "35612 -2", "35600"),
    ("roundHalfToEven", "2.5e0", "2.0E0"), ("roundHalfToEven", "'NaN'^^xsd:double", "NaN"),
    ("sin", "0", "0.0E0"), ("cos", "0.0", "1.0E0"), ("tan", "0", "0.0E0"), ("sin", "'a'", None),
    ("cos", "'INF'^^xsd:double", "NaN"),
    ("booleanNot", "true", "false"), ("booleanNot", "false", "true"), ("booleanNot", "1", None),
    ("stringConcat", "'a' 'b' 'c'", "abc"), ("stringConcat", "'n' 1 2.50", "n12.5"),
    ("substring", "'metadata' 4", "adata"), ("substring", "'metadata' 4 3", "ada"),
    ("stringLength", "'abc'", "3"), ("stringLength", "3", None),
    ("normalizeSpace", "' a  b\\tc\\n'", "a b c"), ("normalizeSpace", "'\u00a0a '", "\u00a0a"),
    ("upperCase", "'abC'", "ABC"), ("lowerCase", "'abC'", "abc"),
    ("translate", "'bar' 'abc' 'AB'", "BAr"), ("translate", "'--aaa--' 'abc-' 'ABC'", "AAA"),
    ("translate", "'abcdabc' 'abca' 'AZx'", "AZxdAZx"),
    ("substringBefore", "'tattoo' 'attoo'", "t"), ("substringAfter", "'tattoo' 'tat'", "too"),
    ("replace", "'abracadabra' 'bra' '*'", "a*cada*"), ("replace", "'aBa' 'b' 'x' 'i'", "axa"),
    ("yearMonthDuration", "1 2", "P1Y2M"), ("yearMonthDuration", "0 14", "P1Y2M"),
    ("dayTimeDuration", "1 2 3 4.5", "P1DT2H3M4.5S"), ("dayTimeDuration", "0 25 0 0", "P1DT1H"),
    ("dateTime", "2004 5 21 1 2 3.5 'Z'", "2004-05-21T01:02:03.5Z"),
    ("dateTime", "2004 5 21 1 2 3", "2004-05-21T01:02:03"),
    ("dateTime", "2004 5 21 1 2 3 '-PT5H'^^xsd:dayTimeDuration", "2004-05-21T01:02:03-05:00"),
    ("dateTime", "2004 13 21 1 2 3", None), ("dateTime", "2004 2 30 1 2 3 'Z'", None),
    ("date", "-44 3 15", "-0044-03-15"), ("date", "2004 5 21 '+01:00'", "2004-05-21+01:00"),
    ("date", "2004 5 21 'noon'", None), ("date", "2004.5 5 21", None),
    ("time", "1 2 3 'Z'", "01:02:03Z"), ("time", "25 0 0", None),
    ("addYearMonthDurations", "'P2Y11M'^^:ym 'P3Y3M'^^:ym", "P6Y2M"),
    ("addYearMonthDurations", "'P1M'^^:ym 'P1M'^^:ym 'P1M'^^:ym", "P3M"),
    ("addYearMonthDurations", "'P1M'^^:ym 'P1D'^^:dt", None),
    ("subtractYearMonthDurations", "'P2Y11M'^^:ym 'P3Y3M'^^:ym", "-P4M"),
    ("multiplyYearMonthDuration", "'P2Y11M'^^:ym 2.3", "P6Y9M"),
    ("divideYearMonthDurations", "'P2Y11M'^^:ym 1.5", "P1Y11M"),
    ("divideYearMonthDurations", "'P2Y11M'^^:ym 0", None),
    ("addDayTimeDurations", "'P2DT12H5M'^^:dt 'P5DT12H'^^:dt", "P8DT5M"),
    ("subtractDayTimeDurations", "'P2DT12H'^^:dt 'P1DT10H30M'^^:dt", "P1DT1H30M"),
    ("multiplyDayTimeDurations", "'PT2H10M'^^:dt 2.1", "PT4H33M"),
    ("divideDayTimeDuration", "'P1DT2H30M10.5S'^^:dt 1.5", "PT17H40M7S"),
    ("subtractDates", "'2000-10-30'^^xsd:date '1999-11-28'^^xsd:date", "P337D"),
    ("subtractTimes", "'11:12:00Z'^^xsd:time '04:00:00Z'^^xsd:time", "PT7H12M"),
    ("subtractTimes", "'11:12:00Z'^^xsd:time '04:00:00'^^xsd:time", None),
    ("addYearMonthDurationToDateTime", "'2000-10-30T11:12:00'^^xsd:dateTime 'P1Y2M'^^:ym",
     "2001-12-30T11:12:00"),
    ("addDayTimeDurationToDateTime", "'2000-10-30T11:12:00'^^xsd:dateTime 'P3DT1H15M'^^:dt",
     "2000-11-02T12:27:00"),
    ("addDayTimeDurationToDateTime", "'2000-10-30T11:12:00'^^xsd:dateTime 'P3M'^^:ym", None),
    ("subtractYearMonthDurationFromDateTime", "'2000-10-30T11:12:00'^^xsd:dateTime 'P1Y2M'^^:ym",
     "1999-08-30T11:12:00"),
    ("subtractDayTimeDurationFromDateTime", "'2000-10-30T11:12:00'^^xsd:dateTime 'P3DT1H15M'^^:dt",
     "2000-10-27T09:57:00"),
    ("addYearMonthDurationToDate", "'2000-01-31'^^xsd:date 'P1M'^^:ym", "2000-02-29"),
    ("addDayTimeDurationToDate", "'2004-10-30Z'^^xsd:date 'P2DT2H30M0S'^^:dt", "2004-11-01Z"),
    ("subtractYearMonthDurationFromDate", "'2000-02-29Z'^^xsd:date 'P1Y'^^:ym", "1999-02-28Z"),
    ("subtractDayTimeDurationFromDate", "'2000-10-30'^^xsd:date 'P3DT1H15M'^^:dt", "2000-10-26"),
    ("addDayTimeDurationToTime", "'23:12:00'^^xsd:time 'P1DT3H15M'^^:dt", "02:27:00"),
    ("subtractDayTimeDurationFromTime", "'11:12:00'^^xsd:time 'P3DT1H15M'^^:dt", "09:57:00"),
    ("subtractDateTimesYieldingYearMonthDuration",
     "'2000-10-30T11:12:00'^^xsd:dateTime '1999-11-28T09:00:00'^^xsd:dateTime", "P11M"),
    ("subtractDateTimesYieldingYearMonthDuration",
     "'1999-11-28T09:00:00'^^xsd:dateTime '2000-10-30T11:12:00'^^xsd:dateTime", "-P11M"),
    ("subtractDateTimesYieldingDayTimeDuration",
     "'2000-10-30T11:12:00'^^xsd:dateTime '1999-11-28T09:00:00'^^xsd:dateTime", "P337DT2H12M"),
    ("resolveURI", "'../c' 'http://e.org/a/b/'", "http://e.org/a/c"),
    ("anyURI", "'http' 'e.org' '80' '/a' 'q=1' 'f'", "http://e.org:80/a?q=1#f"),
    ("anyURI", "'urn' '' '' 'isbn:1' '' ''", "urn:isbn:1"),
]  # fmt: skip
HEAD = """[ a swrl:DatavaluedPropertyAtom ; swrl:propertyPredicate :is ; swrl:argument1 :x ;
    swrl:argument2 %s ]"""
CLASS = "[ a swrl:ClassAtom ; swrl:classPredicate :C ; swrl:argument1 :x ]"


def texts(text: str) -> str:
    """Short names of datatypes in full."""
    return text.replace("^^:ym", "^^xsd:yearMonthDuration").replace(
        "^^:dt", "^^xsd:dayTimeDuration"
    )


def values_of(condition: str, result: str = ":m", also: str = "") -> tuple[list[str], list[str]]:
    """What a rule with a built-in concludes, and what is reported of it."""
    store = Store()
    rule = f"[] a swrl:Imp ; swrl:body ({CLASS} {condition}) ; swrl:head ({HEAD % result}) ."
    store.load(PREFIXES + texts(rule) + ":one a :C ." + also, "turtle")
    report = store.reason("swrl")
    found = store.query("SELECT ?v { ?x <http://ex.org/is> ?v }")
    return [str(row["v"].value) for row in found], list(report.outside)


@pytest.mark.parametrize(("name", "arguments", "expected"), CASES)
def test_builtin__gives_its_value(name: str, arguments: str, expected: object) -> None:
    if isinstance(expected, bool):
        assert values_of(builtin(name, arguments), "true") == (["true"] if expected else [], [])
        return
    made = values_of(builtin(name, f":m {arguments}"))
    assert made == ([] if expected is None else [expected], [])


@pytest.mark.parametrize(
    "name", sorted({name for name, _, value in CASES if value not in (True, False, None)})
)
def test_builtin__tests_a_value_that_is_given(name: str) -> None:
    """With its first argument bound, it is a test: true of its value, false of another one."""
    arguments, expected = next((a, v) for n, a, v in CASES if n == name and isinstance(v, str))
    twice = 2 * builtin(name, f":m {arguments}")
    assert values_of(twice) == ([expected], [])
    wrong = builtin("equal", ":m 'something else'") + builtin(name, f":m {arguments}")
    assert values_of(wrong) == ([], [])


def test_builtins__all_of_the_submission_are_known() -> None:
    assert len(SUBMISSION) == 79 and SWRL.keys() == SWRL_FUNCTIONS.keys()
    for name in SUBMISSION:
        assert (name in TESTS) + (name in VALUES) + (name in UNSUPPORTED) == 1, name
    assert {name for name, _, _ in CASES} == {*SUBMISSION} - UNSUPPORTED.keys()
    spelled = {"multiply", "divide"}  # the submission has one form of these, files have both
    more = {*TESTS, *VALUES, *UNSUPPORTED} - {*SUBMISSION}
    assert all(name.startswith(tuple(spelled)) for name in more) and len(more) == 4


@pytest.mark.parametrize("name", sorted(UNSUPPORTED))
def test_builtin__that_is_not_supported_is_reported(name: str) -> None:
    made, outside = values_of(builtin(name, ":m 'a b' ' '"))
    assert made == []
    (line,) = outside
    assert f"the built-in {name} is not supported: " in line
    assert UNSUPPORTED[name] in line and "SwrlRule" in line


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        (builtin("add", ":m 1"), "the built-in add takes 3 arguments or more, not 2"),
        (builtin("subtract", ":m 1 2 3"), "the built-in subtract takes 3 arguments, not 4"),
        (builtin("equal", "1"), "the built-in equal takes 2 arguments, not 1"),
        (builtin("substring", ":m 'a'"), "the built-in substring takes 3 to 4 arguments, not 2"),
        (builtin("nonsense", ":m 1"), "the built-in nonsense is not one of SWRL's"),
        (builtin("add", "3 :m 1"), "?m is bound by no other atom of the body"),
        (builtin("lessThan", ":m 1"), "?m is bound by no other atom of the body"),
        (builtin("add", ":m :m 1"), "?m is bound by no other atom of the body"),
    ],
)
def test_builtin__with_wrong_arguments_is_reported(condition: str, reason: str) -> None:
    made, outside = values_of(condition)
    assert made == [] and len(outside) == 1 and reason in outside[0]


def test_builtins__give_values_to_one_another_in_any_order() -> None:
    chain = builtin("multiply", ":m :n 2") + builtin("equal", "5 :n")
    assert values_of(chain) == (["10"], [])


def test_builtins__are_functions_of_rules_and_queries() -> None:
    store = Store()
    (row,) = store.query(
        "PREFIX swrlb: <http://www.w3.org/2003/11/swrlb#> SELECT (swrlb:pow(2, 3) AS ?v) {}"
    )
    assert row["v"].value == "8"
    values_of(builtin("pow", ":m 2 3"))
    store.load(PREFIXES + f"[] a swrl:Imp ; swrl:body ({CLASS} {builtin('mod', ':m 7 4')}) ;"
               f" swrl:head ({HEAD % ':m'}) .", "turtle")  # fmt: skip
    store.reason("swrl")
    assert "swrlb#mod" in str(store.program)


def test_design__says_of_each_builtin_whether_it_is_supported() -> None:
    text = (Path(__file__).parents[2] / "ontologies" / "DESIGN.md").read_text()
    table = text[text.index("### SWRL's built-ins") :]
    rows = re.findall(r"^\| 8\.\d[^|]*\|([^|]*)\|([^|]*)\|", table, re.M)
    supported = " ".join(row[0] for row in rows).replace("`", "").split()
    refused = " ".join(row[1] for row in rows).replace("`", "").split()
    assert [*supported, *refused] == sorted(
        [*supported, *refused], key=[*supported, *refused].index
    )
    assert sorted(refused) == sorted(UNSUPPORTED)
    assert sorted(supported) == sorted({*SUBMISSION} - UNSUPPORTED.keys())

"""The functions of expressions: their names, how many arguments they take, which may be in rules.

Start at `FUNCTIONS`. What is always true: a function that is not here and is not named by an IRI
does not exist; `OPERATORS` are written between their arguments or before them.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from triplestore.terms.vocabulary import XSD

MANY: Final = 1 << 30

IN_DATATYPE: Final = "x-triplestore:in-datatype"
"""Whether a literal is one of a datatype, by its value; false of other terms. For rules made of
ontologies: `datatypes` has it."""

SAME_VALUE: Final = "x-triplestore:same-value"
"""Whether two terms are the same one or literals of the same value, in the sense of XSD."""


class Function(NamedTuple):
    """The least and the greatest number of arguments, and whether it depends on them only."""

    least: int
    most: int
    deterministic: bool = True


def _all(names: str, least: int, most: int) -> dict[str, Function]:
    return {name: Function(least, most) for name in names.split()}


SWRLB: Final = "http://www.w3.org/2003/11/swrlb#"
"""The namespace of SWRL's built-ins; those that SPARQL has no function for are called by IRI."""


def _swrl(names: str, least: int, most: int) -> dict[str, Function]:
    return {SWRLB + name: Function(least, most) for name in names.split()}


SWRL_FUNCTIONS: dict[str, Function] = {
    **_swrl("sin cos tan booleanNot normalizeSpace", 1, 1),
    **_swrl("integerDivide mod pow yearMonthDuration resolveURI", 2, 2),
    **_swrl("roundHalfToEven", 1, 2),
    **_swrl("translate", 3, 3),
    **_swrl("dateTime", 6, 7),
    **_swrl("date time", 3, 4),
    **_swrl("dayTimeDuration", 4, 4),
    **_swrl("anyURI", 6, 6),
    **_swrl("addYearMonthDurations addDayTimeDurations", 2, MANY),
    **_swrl("subtractYearMonthDurations subtractDayTimeDurations", 2, 2),
    **_swrl("multiplyYearMonthDuration multiplyYearMonthDurations", 2, 2),
    **_swrl("divideYearMonthDuration divideYearMonthDurations", 2, 2),
    **_swrl("multiplyDayTimeDuration multiplyDayTimeDurations", 2, 2),
    **_swrl("divideDayTimeDuration divideDayTimeDurations", 2, 2),
    **_swrl("addYearMonthDurationToDateTime addYearMonthDurationToDate", 2, 2),
    **_swrl("addDayTimeDurationToDateTime addDayTimeDurationToDate", 2, 2),
    **_swrl("subtractYearMonthDurationFromDateTime subtractYearMonthDurationFromDate", 2, 2),
    **_swrl("subtractDayTimeDurationFromDateTime subtractDayTimeDurationFromDate", 2, 2),
    **_swrl("addDayTimeDurationToTime subtractDayTimeDurationFromTime", 2, 2),
    **_swrl("subtractDates subtractTimes subtractDateTimesYieldingYearMonthDuration", 2, 2),
    **_swrl("subtractDateTimesYieldingDayTimeDuration", 2, 2),
}
"""IRI -> what it takes; `swrl_builtins` has what computes them."""

FUNCTIONS: dict[str, Function] = {
    **_all("STR LANG LANGDIR DATATYPE IRI URI ABS CEIL FLOOR ROUND STRLEN UCASE LCASE", 1, 1),
    **_all("ENCODE_FOR_URI YEAR MONTH DAY HOURS MINUTES SECONDS TIMEZONE TZ", 1, 1),
    **_all("MD5 SHA1 SHA256 SHA384 SHA512", 1, 1),
    **_all("ISIRI ISURI ISBLANK ISLITERAL ISNUMERIC BOUND", 1, 1),
    **_all("HASLANG HASLANGDIR ISTRIPLE SUBJECT PREDICATE OBJECT", 1, 1),
    **_all("LANGMATCHES CONTAINS STRSTARTS STRENDS STRBEFORE STRAFTER STRLANG STRDT", 2, 2),
    **_all("SAMETERM", 2, 2),
    **_all("SUBSTR REGEX", 2, 3),
    **_all("REPLACE", 3, 4),
    **_all("IF STRLANGDIR TRIPLE", 3, 3),
    **_all("CONCAT COALESCE", 0, MANY),
    "RAND": Function(0, 0, False),
    "NOW": Function(0, 0, False),
    "UUID": Function(0, 0, False),
    "STRUUID": Function(0, 0, False),
    "BNODE": Function(0, 1, False),
    IN_DATATYPE: Function(2, 2),
    SAME_VALUE: Function(2, 2),
    **SWRL_FUNCTIONS,
}
"""Name in capitals -> what it takes."""

_CASES = "compare by IF(?x > ?y, ?x, ?y)"
REMEDIES: dict[str, str] = {
    "SKOLEM": "make a name of its own by IRI(CONCAT(...))",
    **dict.fromkeys(("MINFN", "MAXFN", "LEAST", "GREATEST"), _CASES),
    "POW": "multiply by *",
    "SUBSTRING": "it is SUBSTR here",
}
"""What to write instead of functions that other systems have."""

OPERATORS: dict[str, Function] = {
    **_all("|| &&", 2, MANY),
    **_all("= != < > <= >= + - * /", 2, 2),
    **_all("! NEG POS", 1, 1),
    **{"IN": Function(1, MANY), "NOT IN": Function(1, MANY)},
}
"""Operators, as calls: `a - b` is `-`, `-a` is `NEG`; IN seeks its first argument."""

_CAST_NAMES = (
    "boolean double float decimal integer string dateTime date time duration "
    "yearMonthDuration dayTimeDuration gYear gYearMonth gMonth gMonthDay gDay"
)

CASTS = frozenset(XSD + name for name in _CAST_NAMES.split())
"""Datatypes that are also functions."""

AGGREGATES = ("count", "sum", "min", "max", "avg", "sample", "group_concat")


def is_deterministic(function: str) -> bool:
    """False for functions that give another value each time (RAND, NOW, BNODE, ...)."""
    found = FUNCTIONS.get(function)
    return found is None or found.deterministic

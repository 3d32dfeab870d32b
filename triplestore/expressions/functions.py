"""The functions of expressions: their names, their arguments, and which of them rules may call.

Start at `FUNCTIONS`. Always true: it has all functions that are not named by an IRI;
`OPERATORS` are written between their arguments or before them.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from triplestore.terms.vocabulary import XSD

MANY: Final = 1 << 30

IN_DATATYPE: Final = "x-triplestore:in-datatype"
"""Whether a literal belongs to a datatype, by its value; false for other terms. Used by rules of
ontologies; implemented in `datatypes`."""

SAME_VALUE: Final = "x-triplestore:same-value"
"""Whether two terms are the same, or literals with the same value in the sense of XSD."""


SYMBOL: Final = "x-triplestore:symbol"
"""An IRI that depends on a kind and two terms, which may be blank nodes. Used by rules of
ontologies to name class expressions."""


class Function(NamedTuple):
    """The properties of a function.

    least, most    minimum and maximum number of arguments
    of_literals    its value is the same for all IRIs and blank nodes as arguments (mostly an error
                   or false), and is not a part of a triple term. Equal individuals can then be
                   rewritten although a rule calls it
    deterministic  it depends only on its arguments
    """

    least: int
    most: int
    of_literals: bool
    deterministic: bool = True


def _all(names: str, least: int, most: int, *, of_literals: bool) -> dict[str, Function]:
    return {name: Function(least, most, of_literals) for name in names.split()}


SWRLB: Final = "http://www.w3.org/2003/11/swrlb#"
"""The namespace of SWRL's built-ins; those without a function of SPARQL are called by IRI."""


def _swrl(names: str, least: int, most: int, of_literals: bool = True) -> dict[str, Function]:
    return {SWRLB + name: Function(least, most, of_literals) for name in names.split()}


SWRL_FUNCTIONS: dict[str, Function] = {
    **_swrl("sin cos tan booleanNot normalizeSpace", 1, 1),
    **_swrl("integerDivide mod pow yearMonthDuration", 2, 2),
    **_swrl("resolveURI", 2, 2, of_literals=False),
    **_swrl("roundHalfToEven", 1, 2),
    **_swrl("translate", 3, 3),
    **_swrl("dateTime", 6, 7),
    **_swrl("date time", 3, 4),
    **_swrl("dayTimeDuration", 4, 4),
    **_swrl("anyURI", 6, 6, of_literals=False),
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
"""IRI -> properties; `swrl_builtins` implements them."""

FUNCTIONS: dict[str, Function] = {
    **_all("LANG LANGDIR DATATYPE STRLEN UCASE LCASE ENCODE_FOR_URI", 1, 1, of_literals=True),
    **_all("ABS CEIL FLOOR ROUND", 1, 1, of_literals=True),
    **_all("YEAR MONTH DAY HOURS MINUTES SECONDS TIMEZONE TZ", 1, 1, of_literals=True),
    **_all("MD5 SHA1 SHA256 SHA384 SHA512", 1, 1, of_literals=True),
    **_all("ISLITERAL ISNUMERIC ISTRIPLE HASLANG HASLANGDIR", 1, 1, of_literals=True),
    **_all("LANGMATCHES CONTAINS STRSTARTS STRENDS", 2, 2, of_literals=True),
    **_all("STRBEFORE STRAFTER STRLANG", 2, 2, of_literals=True),
    **_all("SUBSTR REGEX", 2, 3, of_literals=True),
    **_all("REPLACE", 3, 4, of_literals=True),
    **_all("STRLANGDIR", 3, 3, of_literals=True),
    **_all("CONCAT", 0, MANY, of_literals=True),
    **_all("STR IRI URI ISIRI ISURI ISBLANK BOUND", 1, 1, of_literals=False),
    **_all("SUBJECT PREDICATE OBJECT", 1, 1, of_literals=False),
    **_all("SAMETERM STRDT", 2, 2, of_literals=False),
    **_all("IF TRIPLE", 3, 3, of_literals=False),
    **_all("COALESCE", 0, MANY, of_literals=False),
    "RAND": Function(0, 0, of_literals=False, deterministic=False),
    "NOW": Function(0, 0, of_literals=False, deterministic=False),
    "UUID": Function(0, 0, of_literals=False, deterministic=False),
    "STRUUID": Function(0, 0, of_literals=False, deterministic=False),
    "BNODE": Function(0, 1, of_literals=False, deterministic=False),
    IN_DATATYPE: Function(2, 2, of_literals=False),
    SAME_VALUE: Function(2, 2, of_literals=False),
    SYMBOL: Function(3, 3, of_literals=False),
    **SWRL_FUNCTIONS,
}
"""Name in capitals -> properties. `builtins.STRICT` implements functions that need exactly their
arguments, `evaluate_scalar` all others."""

_CASES = "compare by IF(?x > ?y, ?x, ?y)"
REMEDIES: dict[str, str] = {
    "SKOLEM": "make a unique name with IRI(CONCAT(...))",
    **dict.fromkeys(("MINFN", "MAXFN", "LEAST", "GREATEST"), _CASES),
    "POW": "multiply by *",
    "SUBSTRING": "use SUBSTR",
}
"""Hints for functions of other systems."""

OPERATORS: dict[str, Function] = {
    **_all("|| &&", 2, MANY, of_literals=True),
    **_all("< > <= >= + - * /", 2, 2, of_literals=True),
    **_all("! NEG POS", 1, 1, of_literals=True),
    **_all("= !=", 2, 2, of_literals=False),
    **dict.fromkeys(("IN", "NOT IN"), Function(1, MANY, of_literals=False)),
}
"""Operators, as calls: `a - b` is `-`, `-a` is `NEG`; IN tests its first argument."""

_CAST_NAMES = (
    "boolean double float decimal integer string dateTime date time duration "
    "yearMonthDuration dayTimeDuration gYear gYearMonth gMonth gMonthDay gDay"
)

CASTS: dict[str, Function] = {
    XSD + name: Function(1, 1, of_literals=name != "string") for name in _CAST_NAMES.split()
}
"""Datatypes that are also functions; xsd:string returns the text of an IRI."""

AGGREGATES = ("count", "sum", "min", "max", "avg", "sample", "group_concat")


OF_LITERALS = frozenset(
    name for name, function in {**FUNCTIONS, **OPERATORS, **CASTS}.items() if function.of_literals
)
"""The functions, operators and casts whose value is the same for all IRIs and blank nodes."""


def is_deterministic(function: str) -> bool:
    """False for functions with another value at each call (RAND, NOW, BNODE, ...)."""
    found = FUNCTIONS.get(function)
    return found is None or found.deterministic

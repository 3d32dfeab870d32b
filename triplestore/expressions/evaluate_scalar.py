"""Expressions on one solution at a time: the meaning of every function, in plain Python.

Start at `compile_scalar`, which turns an expression into a function from the term keys of some
variables to the term key of the result. Always true: this is SPARQL's semantics without
short cuts; `evaluate_columns` calls it if columns of values do not decide, once for each distinct
combination of values, and is tested against it.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from triplestore.errors import UsageError
from triplestore.expressions.compare_terms import FALSE, TRUE, equal, key_of_boolean, truth
from triplestore.expressions.library.builtins import STRICT, iri, key_of_iri
from triplestore.expressions.library.numbers import DOUBLE, ExpressionError, Number, key_of_number
from triplestore.expressions.library.strings import plain, string
from triplestore.expressions.text.term_parser import against_base
from triplestore.expressions.tree import Constant, Exists, Expression, Variable
from triplestore.terms.term_keys import key_of, term_of

Row: TypeAlias = Sequence[bytes | None]
"""The keys of the variables of one solution; None if unbound."""

Scalar: TypeAlias = Callable[[Row], bytes]
"""Returns the key of the result; raises ExpressionError if there is none."""


class Surroundings:
    """The data that some functions need besides their arguments.

    base       the IRI against which IRI() resolves
    now        the result of NOW(): the key of a dateTime
    functions  the caller's functions by IRI: they take terms, and return one or None
    """

    def __init__(self, base: str | None = None, now: bytes | None = None) -> None:
        self.base = base
        self.now = now
        self.functions: Mapping[str, Callable[..., Any]] = {}
        self.labels: dict[tuple[int | bytes, str], bytes] = {}


def compile_scalar(
    expression: Expression,
    places: Mapping[str, int],
    around: Surroundings | None = None,
) -> Scalar:
    """A function that computes an expression from a row of keys.

    places  name of a variable -> its place in a row; others are unbound

    >>> from triplestore.expressions.text.expression_parser import parse_expression
    >>> add = compile_scalar(parse_expression("STRLEN(?x) + 1"), {"x": 0})
    >>> add([b"\\x03abc"])
    b'\\x054"^^<http://www.w3.org/2001/XMLSchema#integer>'
    """
    around = around or Surroundings()
    if isinstance(expression, Variable):
        return _variable(places.get(expression.name))
    if isinstance(expression, Constant):
        key = expression.key
        return lambda row: key
    if isinstance(expression, Exists):
        raise UsageError("EXISTS is not evaluated row by row")
    parts = [compile_scalar(part, places, around) for part in expression.arguments]
    special = _SPECIAL.get(expression.function)
    if special is not None:
        return special(parts)
    outside = _OUTSIDE.get(expression.function)
    if outside is not None:
        return outside(parts, around)
    function = STRICT.get(expression.function)
    if function is None and expression.function in around.functions:
        return _custom(around.functions[expression.function], parts)
    if function is None:
        raise UsageError(f"unknown function {expression.function}")
    return _strict(function, parts)


def _custom(function: Callable[..., Any], parts: list[Scalar]) -> Scalar:
    """A call of a caller's function; None and ExpressionError are errors of the expression."""

    def value(row: Row) -> bytes:
        made = function(*(term_of(part(row)) for part in parts))
        if made is None:
            raise ExpressionError("the function returned no value")
        return key_of(made)

    return value


def _variable(place: int | None) -> Scalar:
    if place is None:
        return _error
    at = place

    def value(row: Row) -> bytes:
        key = row[at]
        if key is None:
            raise ExpressionError
        return key

    return value


def _error(row: Row) -> bytes:
    raise ExpressionError


def _strict(function: Callable[..., bytes], parts: list[Scalar]) -> Scalar:
    if len(parts) == 1:
        (only,) = parts
        return lambda row: function(only(row))
    if len(parts) == 2:
        one, two = parts
        return lambda row: function(one(row), two(row))
    return lambda row: function(*[part(row) for part in parts])


# --- functions that may not need all their arguments ---------------------------------------------


def _bound(parts: list[Scalar]) -> Scalar:
    (part,) = parts

    def value(row: Row) -> bytes:
        try:
            part(row)
        except ExpressionError:
            return FALSE
        return TRUE

    return value


def _or(parts: list[Scalar]) -> Scalar:
    return lambda row: _any(parts, row, True)


def _and(parts: list[Scalar]) -> Scalar:
    return lambda row: _any(parts, row, False)


def _any(parts: list[Scalar], row: Row, wanted: bool) -> bytes:
    """`wanted` if a part has that truth value; else an error if a part is one; else the other."""
    failed = False
    for part in parts:
        try:
            if truth(part(row)) == wanted:
                return key_of_boolean(wanted)
        except ExpressionError:
            failed = True
    if failed:
        raise ExpressionError
    return key_of_boolean(not wanted)


def _if(parts: list[Scalar]) -> Scalar:
    condition, then, otherwise = parts
    return lambda row: then(row) if truth(condition(row)) else otherwise(row)


def _coalesce(parts: list[Scalar]) -> Scalar:
    def value(row: Row) -> bytes:
        for part in parts:
            try:
                return part(row)
            except ExpressionError:
                continue
        raise ExpressionError

    return value


def _in(wanted: bool) -> Callable[[list[Scalar]], Scalar]:
    def compile_(parts: list[Scalar]) -> Scalar:
        left, others = parts[0], parts[1:]

        def value(row: Row) -> bytes:
            key = left(row)  # an error without a value, even if the list is empty
            tests = [_equality(key, other) for other in others]
            return key_of_boolean((_any(tests, row, True) == TRUE) == wanted)

        return value

    return compile_


def _equality(key: bytes, other: Scalar) -> Scalar:
    return lambda row: key_of_boolean(equal(key, other(row)))


_SPECIAL: Mapping[str, Callable[[list[Scalar]], Scalar]] = {
    "BOUND": _bound,
    "||": _or,
    "&&": _and,
    "IF": _if,
    "COALESCE": _coalesce,
    "IN": _in(True),
    "NOT IN": _in(False),
}


# --- functions of more than their arguments ------------------------------------------------------


def _iri(parts: list[Scalar], around: Surroundings) -> Scalar:
    (part,) = parts
    if around.base is None:
        return lambda row: iri(part(row))

    def value(row: Row) -> bytes:
        key = part(row)
        try:
            return iri(key)
        except ExpressionError:
            try:
                return key_of_iri(against_base(plain(key), around.base))
            except ValueError:
                raise ExpressionError from None

    return value


def _now(parts: list[Scalar], around: Surroundings) -> Scalar:
    if around.now is None:
        raise UsageError("NOW() is only allowed in queries")
    now = around.now
    return lambda row: now


def _random(parts: list[Scalar], around: Surroundings) -> Scalar:
    return lambda row: key_of_number(Number(DOUBLE, random.random()))


def _uuid(parts: list[Scalar], around: Surroundings) -> Scalar:
    return lambda row: key_of_iri(f"urn:uuid:{uuid.uuid4()}")


def _uuid_text(parts: list[Scalar], around: Surroundings) -> Scalar:
    return lambda row: string(str(uuid.uuid4()))


def _blank(parts: list[Scalar], around: Surroundings) -> Scalar:
    """BNODE: a new node; the same one for the same label in the same row.

    Rows are identified by their object. A second argument (not possible in a text) is the number of
    the row's solution instead, so that several expressions have the same node for it.
    """
    if not parts:
        return lambda row: _new_blank()
    part, *solution = parts

    def value(row: Row) -> bytes:
        own = solution[0](row) if solution else id(row)
        label = (own, plain(part(row)))
        known = around.labels.get(label)
        if known is None:
            known = around.labels[label] = _new_blank()
        return known

    return value


def _new_blank() -> bytes:
    return b"\x02" + uuid.uuid4().hex.encode()


_OUTSIDE: Mapping[str, Callable[[list[Scalar], Any], Scalar]] = {
    "IRI": _iri,
    "NOW": _now,
    "RAND": _random,
    "UUID": _uuid,
    "STRUUID": _uuid_text,
    "BNODE": _blank,
}

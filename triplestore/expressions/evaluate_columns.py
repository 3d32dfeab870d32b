"""Expressions evaluated on frames, a set of rows at a time.

    scope = Scope(QueryTerms(dictionary))
    condition(expression, frame, scope)   -> bool[rows]: rows that pass a FILTER
    evaluate(expression, frame, scope)    -> Vector (see `vectors`), for further computing
    column(expression, frame, scope)      -> u32[rows] of ids, 0 without a value: a BIND

and `Evaluator` for the same expression on many frames; the operators FilterRows and Extend take its
`condition` and `column`. A computed value becomes a term only in `column`: with a query id unless
the dictionary has it; a rule that stores it calls `QueryTerms.settle`.

How: operators that values decide (comparisons, logic, arithmetic, tests of kinds) work on vectors;
any other part is computed by `evaluate_scalar` once for each distinct combination of its variables'
values. Few rows, and expressions with RAND and the like, are computed by `evaluate_scalar` only.

Always true: the result is that of `evaluate_scalar` row by row; limits are checked at least
every 1,024 values or every megabyte of them, and results are charged while they are held. Costs
about 30 us per operator, then some 10 ns per row for numbers, 1 us per distinct value for strings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import partial
from typing import TypeVar

import numpy as np

from triplestore.data_classes import data_class
from triplestore.expressions import column_operators
from triplestore.expressions.compare_terms import TRUE, truth
from triplestore.expressions.distinct_values import (
    CHUNK_BYTES,
    DistinctValues,
    chunks,
    combinations,
    keys_of_column,
)
from triplestore.expressions.evaluate_scalar import Row, Scalar, Surroundings, compile_scalar
from triplestore.expressions.functions import is_deterministic
from triplestore.expressions.library import text_tests
from triplestore.expressions.library.numbers import ExpressionError
from triplestore.expressions.query_terms import U32, QueryTerms
from triplestore.expressions.thresholds import EXPRESSIONS
from triplestore.expressions.tree import (
    Call,
    Constant,
    Exists,
    Expression,
    Variable,
    calls_of,
    depth_of,
    has_exists,
    variables_of,
)
from triplestore.expressions.vectors import (
    Booleans,
    Coded,
    Ids,
    Mask,
    Vector,
    coded,
    constant,
    ids_of,
    integers,
    known,
    of_column,
    truths,
)
from triplestore.operators.context import Budget, current
from triplestore.operators.deep_calls import on_new_stack
from triplestore.operators.frame import Array, Frame
from triplestore.operators.operator import Account
from triplestore.terms.term_keys import BLANK, IRI, LANG, STRING, TRIPLE, TYPED

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")

_DEEP = 40
"""Maximum depth of an expression that is evaluated on the caller's stack."""

_BIG = 1 << 16


@data_class
class Scope:
    """The surroundings in which expressions are evaluated.

    terms   the terms of ids; gives ids to new terms
    around  the base IRI and the time of a query
    exists  evaluates EXISTS: returns the rows of a frame for which it is true
    """

    terms: QueryTerms
    around: Surroundings = field(default_factory=Surroundings)
    exists: Callable[[Exists, Frame], Mask] | None = None


def condition(expression: Expression, frame: Frame, scope: Scope) -> Mask:
    """The rows where an expression is true; an error is not.

    >>> import pyoxigraph as ox
    >>> from triplestore.expressions.text.expression_parser import parse_expression
    >>> from triplestore.terms.dictionary import Dictionary
    >>> dictionary = Dictionary()
    >>> ids = dictionary.encode([ox.Literal(5), ox.Literal("five"), ox.Literal(7.5)])
    >>> scope = Scope(QueryTerms(dictionary))
    >>> condition(parse_expression("?x + 1 > 6.5"), Frame.of(x=ids), scope).tolist()
    [False, False, True]
    """
    return Evaluator(expression, scope).condition(frame)


def evaluate(expression: Expression, frame: Frame, scope: Scope) -> Vector:
    """The values of an expression."""
    return Evaluator(expression, scope).evaluate(frame)


def column(expression: Expression, frame: Frame, scope: Scope) -> U32:
    """The ids of the values of an expression; 0 where it has none."""
    return Evaluator(expression, scope).column(frame)


class Evaluator:
    """One expression, prepared for evaluation on many frames."""

    __slots__ = (
        "_deep",
        "_deterministic",
        "_exists",
        "_numbers",
        "_scalars",
        "_simple",
        "expression",
        "scope",
    )

    def __init__(self, expression: Expression, scope: Scope) -> None:
        self.scope = scope
        self._exists: list[Exists] = []
        self._deep = depth_of(expression) > _DEEP
        self.expression = expression
        if has_exists(expression):
            self.expression = self._call(self._without_exists, expression)
        self._scalars: dict[Expression, tuple[tuple[str, ...], Scalar]] = {}
        self._numbers: dict[
            tuple[int, int], column_operators.NumberSet | None
        ] = {}  # by node of an IN
        self._deterministic = _is_deterministic(self.expression)
        self._simple = self._deterministic and not self._exists

    def exchange(self, expression: Expression) -> None:
        """Evaluate the same expression with other constants from now on; it has no EXISTS."""
        self.expression = expression
        self._scalars.clear()
        self._numbers.clear()

    @property
    def is_repeatable(self) -> bool:
        """True if the same values have the same result in another query."""
        names = [call.function for call in calls_of(self.expression)]
        return self._simple and "NOW" not in names

    def _call(self, function: Callable[[_Given], _Made], given: _Given) -> _Made:
        """The result of a recursive function; deep expressions get a separate stack."""
        return on_new_stack(function, given) if self._deep else function(given)

    def _without_exists(self, expression: Expression) -> Expression:
        """The expression with each EXISTS replaced by a variable for its truth."""
        if isinstance(expression, Exists):
            self._exists.append(expression)
            return Variable(_exists_name(len(self._exists) - 1))
        if isinstance(expression, Call):
            parts = tuple(self._without_exists(part) for part in expression.arguments)
            return Call(expression.function, parts)
        return expression

    def condition(self, frame: Frame) -> Mask:
        """The rows where the expression is true."""
        return self._call(self._condition, frame)

    def _condition(self, frame: Frame) -> Mask:
        if frame.rows <= EXPRESSIONS.scalar_rows and self._simple:
            return np.array([_is_true(key) for key in self._one_by_one(frame)], np.bool_)
        account = Account(current())
        try:
            found = truths(self._evaluate(frame, account), self.scope.terms)
        finally:
            account.close()
        return found.values if found.valid is None else found.values & found.valid

    def column(self, frame: Frame) -> U32:
        """The ids of the values, 0 where there is none."""
        return self._call(self._column, frame)

    def _column(self, frame: Frame) -> U32:
        if frame.rows <= EXPRESSIONS.scalar_rows and self._simple:
            return self.scope.terms.encode_keys(self._one_by_one(frame))
        account = Account(current())
        try:
            found = self._evaluate(frame, account)
        finally:
            account.close()
        return ids_of(found, self.scope.terms)

    def evaluate(self, frame: Frame, held: Budget | None = None) -> Vector:
        """The values, charged to `held`; the caller releases it when it drops them."""
        return self._call(partial(self._evaluate, held=held), frame)

    def _evaluate(self, frame: Frame, held: Budget | None) -> Vector:
        if held is None:
            account = Account(current())
            try:
                return self._evaluate(frame, account)
            finally:
                account.close()
        evaluation = _Evaluation(self, frame, held)
        if self._deterministic:
            return evaluation.of(self.expression)
        return evaluation.row_by_row(self.expression)

    def _one_by_one(self, frame: Frame) -> list[bytes | None]:
        names, scalar = self.scalar(self.expression)
        inputs = [keys_of_column(frame, name, self.scope.terms) for name in names]
        made: list[bytes | None] = []
        size = 0
        for row in range(frame.rows):
            key = _value(scalar, [keys[row] for keys in inputs])
            if key is not None and len(key) > _BIG:
                size += len(key)
                current().need(size)
            made.append(key)
        return made

    def numbers_in(self, node: Call, keys: list[bytes]) -> column_operators.NumberSet | None:
        """The numbers in the list of an IN, read once for all blocks."""
        place = id(node), len(keys)
        if place not in self._numbers:
            self._numbers[place] = column_operators.number_set(keys)
        return self._numbers[place]

    def scalar(self, expression: Expression) -> tuple[tuple[str, ...], Scalar]:
        """The variables of a part, and the function that computes it from their keys."""
        found = self._scalars.get(expression)
        if found is None:
            names = tuple(dict.fromkeys(v.name for v in variables_of(expression)))
            places = {name: place for place, name in enumerate(names)}
            scalar = compile_scalar(expression, places, self.scope.around)
            found = self._scalars[expression] = (names, scalar)
        return found


def _value(scalar: Scalar, row: Row) -> bytes | None:
    try:
        return scalar(row)
    except ExpressionError:
        return None


def _is_true(key: bytes | None) -> bool:
    if key is None or key == TRUE:
        return key is not None
    try:
        return truth(key)
    except ExpressionError:
        return False


def _exists_name(number: int) -> str:
    return f" exists {number}"


def _is_deterministic(expression: Expression) -> bool:
    """False if two rows with the same values may have different results."""
    names = (call.function for call in calls_of(expression))
    return all(is_deterministic(name) or name == "NOW" for name in names)


class _Evaluation:
    """The evaluation of one expression on one frame."""

    __slots__ = ("evaluator", "frame", "held", "terms", "vectors")

    def __init__(self, evaluator: Evaluator, frame: Frame, held: Budget) -> None:
        self.held = held
        self.evaluator = evaluator
        self.frame = frame
        self.terms = evaluator.scope.terms
        self.vectors: dict[str, Vector] = {}
        for number, node in enumerate(evaluator._exists):
            if evaluator.scope.exists is None:
                raise AssertionError("EXISTS in an expression without patterns")
            self.vectors[_exists_name(number)] = Booleans(evaluator.scope.exists(node, frame))

    def of(self, node: Expression) -> Vector:
        """The values of a part."""
        if isinstance(node, Variable):
            return self._variable(node.name)
        if isinstance(node, Constant):
            return constant(node.key, self.frame.rows)
        assert isinstance(node, Call)
        self.held.check()
        operator = _OPERATORS.get(node.function)
        found = operator(self, node) if operator is not None else None
        return self._generic(node) if found is None else found

    def _variable(self, name: str) -> Vector:
        found = self.vectors.get(name)
        if found is None:
            if name in self.frame.names:
                found = of_column(self.frame[name])
            else:
                found = constant(None, self.frame.rows)
            self.vectors[name] = found
        return found

    # --- by vectors -----------------------------------------------------------------------------

    def compare(self, node: Call) -> Vector:
        left, right = map(self.of, node.arguments)
        return column_operators.compare(node.function, left, right, self.terms)

    def calculate(self, node: Call) -> Vector | None:
        left, right = map(self.of, node.arguments)
        return column_operators.calculate(node.function, left, right, self.terms)

    def on_numbers(self, node: Call) -> Vector | None:
        return column_operators.on_numbers(node.function, self.of(node.arguments[0]), self.terms)

    def logic(self, node: Call) -> Vector:
        wanted = node.function == "||"
        found: Booleans | None = None
        for part in node.arguments:  # one after the other: together they may be many
            test = truths(self.of(part), self.terms)
            found = test if found is None else column_operators.any_of([found, test], wanted)
        assert found is not None
        return found

    def negate(self, node: Call) -> Vector:
        return column_operators.negated(self.of(node.arguments[0]), self.terms)

    def is_in(self, node: Call) -> Vector:
        value, others = self.of(node.arguments[0]), node.arguments[1:]
        if not others:  # False, but an error without a value
            found = Booleans(np.zeros(self.frame.rows, np.bool_), known(value))
        else:
            found = self._is_among(node, value, others)
        return found if node.function == "IN" else Booleans(~found.values, found.valid)

    def _is_among(self, node: Call, value: Vector, others: tuple[Expression, ...]) -> Booleans:
        """Whether one of these is equal: IRIs and strings all at once, others one by one."""
        named = [o.key for o in others if isinstance(o, Constant) and o.kind in _NAMES]
        at_once = column_operators.among(value, named, self.terms) if named else None
        rest = [
            other
            for other in others
            if at_once is None or not (isinstance(other, Constant) and other.kind in _NAMES)
        ]
        numbers = [o.key for o in rest if isinstance(o, Constant)]
        if len(numbers) > EXPRESSIONS.scalar_rows and len(numbers) == len(rest):
            wanted = self.evaluator.numbers_in(node, numbers)
            found = column_operators.among_numbers(value, wanted, self.terms)
            if found is not None:
                return found if at_once is None else column_operators.any_of([at_once, found], True)
        found = at_once
        for other in rest:  # one after the other: together they may be many
            self.held.check()
            test = column_operators.compare("=", value, self.of(other), self.terms)
            found = test if found is None else column_operators.any_of([found, test], True)
        assert found is not None
        return found

    def bound(self, node: Call) -> Vector:
        return Booleans(known(self.of(node.arguments[0])))

    def kind(self, node: Call) -> Vector:
        return column_operators.is_kind(
            self.of(node.arguments[0]), _KINDS_OF_TESTS[node.function], self.terms
        )

    def same_term(self, node: Call) -> Vector:
        left, right = map(self.of, node.arguments)
        return column_operators.same_term(left, right, self.terms)

    def choose(self, node: Call) -> Vector:
        test, then, otherwise = node.arguments
        found = truths(self.of(test), self.terms)
        chosen = column_operators.choose(
            found.values, self.of(then), self.of(otherwise), self.terms
        )
        if found.valid is None or found.valid.all():
            return chosen
        return column_operators.choose(
            found.valid, chosen, constant(None, self.frame.rows), self.terms
        )

    def coalesce(self, node: Call) -> Vector:
        found: Vector = constant(None, self.frame.rows)
        for part in reversed(node.arguments):
            value = self.of(part)
            found = column_operators.choose(known(value), value, found, self.terms)
        return found

    def on_text(self, node: Call) -> Vector | None:
        asked = text_tests.test_of(node)
        if asked is None:
            return None
        name, of_any_term, test = asked
        vector = self._variable(name)
        if not isinstance(vector, Ids):
            return None
        return text_tests.tested(vector.ids, of_any_term, test, self.terms)

    # --- by different values --------------------------------------------------------------------

    def _generic(self, node: Call) -> Vector:
        names, scalar = self.evaluator.scalar(node)
        inputs = [DistinctValues(self._variable(name), self.terms) for name in names]
        if not inputs:
            return constant(_value(scalar, []), self.frame.rows)
        if len(inputs) == 1:
            (only,) = inputs
            found = Coded(self._values(scalar, [(only, np.arange(only.size))]), only.codes)
            return integers(found) if node.function in _INTEGERS else found
        rows, places = combinations(inputs)
        return Coded(self._values(scalar, [(one, one.codes[rows]) for one in inputs]), places)

    def _values(
        self, scalar: Scalar, inputs: list[tuple[DistinctValues, Array]]
    ) -> list[bytes | None]:
        """The values of rows, each given by the codes of its inputs."""
        made: list[bytes | None] = []
        for start, stop in chunks([one.lengths[codes] for one, codes in inputs]):
            self.held.check()
            lists = [one.keys(codes[start:stop]) for one, codes in inputs]
            found = [_value(scalar, row) for row in zip(*lists, strict=True)]
            self.held.charge(sum(len(key) for key in found if key is not None) + 50 * len(found))
            made += found
        return made

    def row_by_row(self, expression: Expression) -> Vector:
        """Compute row by row; each row is a separate list, by which BNODE identifies it."""
        names, scalar = self.evaluator.scalar(expression)
        inputs = [coded(self._variable(name), self.terms) for name in names]
        rows: list[Row] = []
        made: list[bytes | None] = []
        size = 0
        for row in range(self.frame.rows):
            if row % 1024 == 0:
                self.held.check()
            rows.append([one.keys[one.codes[row]] for one in inputs])
            key = _value(scalar, rows[-1])
            made.append(key)
            size += 150 + (0 if key is None else len(key))
            if size > CHUNK_BYTES:
                self.held.charge(size)
                size = 0
        labels = self.evaluator.scope.around.labels
        for label in [label for label in labels if isinstance(label[0], int)]:
            del labels[label]
        return Coded(made, np.arange(self.frame.rows))


_NAMES = (IRI, STRING, LANG)
_INTEGERS = frozenset({"STRLEN", "YEAR", "MONTH", "DAY", "HOURS", "MINUTES"})
"""Functions whose results become columns of numbers at once, as a short cut."""

_KINDS_OF_TESTS = {
    "ISIRI": (IRI,),
    "ISBLANK": (BLANK,),
    "ISLITERAL": (STRING, LANG, TYPED),
    "ISTRIPLE": (TRIPLE,),
}


_OPERATORS: Mapping[str, Callable[[_Evaluation, Call], Vector | None]] = {
    **dict.fromkeys(("=", "!=", "<", ">", "<=", ">="), _Evaluation.compare),
    **dict.fromkeys("+-*/", _Evaluation.calculate),
    **dict.fromkeys(("NEG", "POS", "ABS", "CEIL", "FLOOR", "ROUND"), _Evaluation.on_numbers),
    **dict.fromkeys(("||", "&&"), _Evaluation.logic),
    "!": _Evaluation.negate,
    **dict.fromkeys(("IN", "NOT IN"), _Evaluation.is_in),
    "BOUND": _Evaluation.bound,
    **dict.fromkeys(_KINDS_OF_TESTS, _Evaluation.kind),
    "SAMETERM": _Evaluation.same_term,
    "IF": _Evaluation.choose,
    "COALESCE": _Evaluation.coalesce,
    **dict.fromkeys(("REGEX", "CONTAINS", "STRSTARTS", "STRENDS"), _Evaluation.on_text),
}
"""The operators with a form for columns; `_generic` computes all others."""

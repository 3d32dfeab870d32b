"""Expressions evaluated on frames, a set of rows at a time.

    scope = Scope(QueryTerms(dictionary))
    condition(expression, frame, scope)   -> bool[rows]: rows that pass a FILTER
    evaluate(expression, frame, scope)    -> Vector (see `vectors`), for further computing
    column(expression, frame, scope)      -> u32[rows] of ids, 0 without a value: a BIND

and `Evaluator` for the same expression on many frames; the operators FilterRows and Extend take its
`condition` and `column`. A computed value becomes a term only in `column`: with a query id unless
the dictionary has it; a rule that stores it calls `QueryTerms.settle`.

How: operators that values decide (comparisons, logic, arithmetic, tests of kinds, parts of times)
and functions of strings work on vectors; any other part is computed by `evaluate_scalar` once for
each distinct combination of its variables' values. Few rows, and expressions with RAND and the
like, are computed by `evaluate_scalar` only.

Always true: the result is that of `evaluate_scalar` row by row; limits are checked at least
every 1,024 values or every megabyte of them, and results are charged while they are held. Costs
about 30 us per operator, then some 10 ns per row for numbers, 20 ns per distinct string, and 1 us
per distinct value for functions without a form for columns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np

from triplestore.expressions.column_evaluation import (
    Evaluation,
    Prepared,
    Scope,
    name_of_exists,
    value_of_row,
)
from triplestore.expressions.compare_terms import TRUE, truth
from triplestore.expressions.distinct_values import (
    keys_of_column,
)
from triplestore.expressions.functions import is_deterministic
from triplestore.expressions.library.numbers import ExpressionError
from triplestore.expressions.query_terms import U32
from triplestore.expressions.thresholds import EXPRESSIONS
from triplestore.expressions.tree import (
    Call,
    Exists,
    Expression,
    Variable,
    calls_of,
    depth_of,
    has_exists,
)
from triplestore.expressions.vectors import (
    Mask,
    Vector,
    ids_of,
    truths,
)
from triplestore.operators.context import Budget, current
from triplestore.operators.deep_calls import on_new_stack
from triplestore.operators.frame import Frame
from triplestore.operators.operator import Account

__all__ = ["Evaluator", "Scope", "column", "condition", "evaluate"]

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")

_DEEP = 40
"""Maximum depth of an expression that is evaluated on the caller's stack."""

_BIG = 1 << 16


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


class Evaluator(Prepared):
    """One expression, prepared for evaluation on many frames."""

    __slots__ = ("_deep", "_deterministic", "_simple", "expression")

    def __init__(self, expression: Expression, scope: Scope) -> None:
        super().__init__(scope)
        self._deep = depth_of(expression) > _DEEP
        self.expression = expression
        if has_exists(expression):
            self.expression = self._call(self._without_exists, expression)
        self._deterministic = _is_deterministic(self.expression)
        self._simple = self._deterministic and not self.patterns

    def exchange(self, expression: Expression) -> None:
        """Evaluate the same expression with other constants from now on; it has no EXISTS."""
        self.expression = expression
        self.forget()

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
            self.patterns.append(expression)
            return Variable(name_of_exists(len(self.patterns) - 1))
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
        evaluation = Evaluation(self, frame, held)
        if self._deterministic:
            return evaluation.of(self.expression)
        return evaluation.row_by_row(self.expression)

    def _one_by_one(self, frame: Frame) -> list[bytes | None]:
        names, scalar = self.scalar(self.expression)
        inputs = [keys_of_column(frame, name, self.scope.terms) for name in names]
        made: list[bytes | None] = []
        size = 0
        for row in range(frame.rows):
            key = value_of_row(scalar, [keys[row] for keys in inputs])
            if key is not None and len(key) > _BIG:
                size += len(key)
                current().need(size)
            made.append(key)
        return made


def _is_true(key: bytes | None) -> bool:
    if key is None or key == TRUE:
        return key is not None
    try:
        return truth(key)
    except ExpressionError:
        return False


def _is_deterministic(expression: Expression) -> bool:
    """False if two rows with the same values may have different results."""
    names = (call.function for call in calls_of(expression))
    return all(is_deterministic(name) or name == "NOW" for name in names)

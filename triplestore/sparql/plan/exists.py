"""EXISTS and NOT EXISTS: as semi- and anti-joins if that means the same, else row by row.

Start at `plan_exists`. The specification substitutes the values of a solution in the pattern and
tests whether it has solutions. That is a join on the shared variables, unless an expression inside
of the pattern uses a variable of the solution that the pattern does not bind there. A filter at the
top of the pattern becomes the condition of the join, even with an EXISTS in it. For other patterns
(rare) the values are substituted, once for each distinct combination (`substituted`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from triplestore.expressions.tree import Call, Constant, Exists, Expression
from triplestore.operators.context import Context
from triplestore.operators.frame import ID, Array, Frame
from triplestore.operators.joins.hash_join import How
from triplestore.operators.leaves import Values
from triplestore.operators.operator import Text
from triplestore.operators.row_operators import FilterRows, Limit
from triplestore.sparql.algebra import nodes as sparql
from triplestore.sparql.algebra.nodes import Node
from triplestore.sparql.algebra.substitute import substituted
from triplestore.sparql.algebra.variables import (
    conjunction,
    conjuncts,
    expressions_of,
    mentioned,
    names_in,
)
from triplestore.sparql.evaluate.pieces import condition_of
from triplestore.sparql.evaluate.seeded import empty_values
from triplestore.sparql.plan.combining import joined
from triplestore.sparql.plan.planned import NONE, Names, Planned, Wanted, Where
from triplestore.sparql.plan.planner import Planner


def exists_of(condition: Expression) -> Exists | None:
    """The EXISTS of a condition that is an EXISTS or its negation; else None."""
    if isinstance(condition, Call) and condition.function == "!":
        (condition,) = condition.arguments
    return condition if isinstance(condition, Exists) else None


def is_one_by_one(planner: Planner, exists: Exists, names: Names) -> bool:
    """True if the values of each row with these names must be substituted in an EXISTS."""
    inner, _ = _split(planner, exists.pattern, names)
    return _looks_outside(planner, inner, names)


def plan_exists(
    planner: Planner, made: Planned, exists: Exists, negated: bool, graph: Where
) -> Planned:
    """The rows of a plan for which an EXISTS is true (or false, if it is negated)."""
    how: How = "anti" if exists.negated != negated else "semi"
    names = frozenset(made.names)
    inner, conditions = _split(planner, exists.pattern, names)
    asked = frozenset().union(*(names_in(c, planner.seen) for c in conditions))
    if _looks_outside(planner, inner, names):
        planner.repeatable = False  # it plans while it runs, and keeps its results
        test = _Substituting(planner, exists.pattern, made.names, graph)
        sign = "EXISTS {...}" if how == "semi" else "NOT EXISTS {...}"

        def holds(frame: Frame) -> Array:
            found = test(frame)
            return found if how == "semi" else ~found

        return made.with_operator(FilterRows(made.operator, holds, text=f"{sign} one by one"))
    shared = planner.seen.in_scope(inner) & names
    condition: Callable[[Frame], Array] | None = None
    text: Text = ""
    if conditions:
        whole = conjunction(conditions)
        condition = condition_of(planner.evaluator(whole, graph), planner.check)
        text = planner.show(whole)
    needed = shared | (asked & planner.seen.in_scope(inner))

    def right(seed: Values | None) -> Planned:
        planned = planner.plan(inner, Wanted(graph, needed, False, seed))
        if not shared and not conditions:
            return planned.with_operator(Limit(planned.operator, 1))
        return planned

    return joined(planner, made, right, how, inner, Wanted(graph, needed, False), condition, text)


def _split(planner: Planner, pattern: Node, names: Names) -> tuple[Node, list[Expression]]:
    """The pattern, and the filters at its top that use variables from outside.

    names  the variables of the solution outside. The pattern may bind some of them; those that it
           always binds have the same values inside
    """
    filters: list[Expression] = []
    while isinstance(pattern, sparql.Filter):
        filters.extend(conjuncts(pattern.condition))
        pattern = pattern.pattern
    outside = names - planner.seen.certain(pattern)
    own = [c for c in filters if outside.isdisjoint(names_in(c, planner.seen))]
    others = [c for c in filters if not outside.isdisjoint(names_in(c, planner.seen))]
    return (sparql.Filter(pattern, conjunction(own)) if own else pattern), others


def _looks_outside(planner: Planner, pattern: Node, names: Names) -> bool:
    """True if substituting values in a pattern is not the same as joining with its solutions.

    This is so if an expression uses a variable from outside, if OPTIONAL may bind such a variable
    to another value, or if MINUS has one on both sides.
    """
    seen = planner.seen
    for node in sparql.walk(pattern):
        if isinstance(node, sparql.LeftJoin):
            if seen.in_scope(node.right) & names - seen.certain(node.left):
                return True
        elif isinstance(node, sparql.Minus) and seen.in_scope(node.right) & names:
            return True
        bound = [seen.certain(child) for child in sparql.children(node)]
        certain = frozenset().union(*bound)
        for expression in expressions_of(node):
            if names_in(expression, seen) & (names - certain):
                return True
    return False


def exists_test(
    planner: Planner, exists: Exists, names: tuple[str, ...], bound: Names, graph: Where
) -> Callable[[Frame], Array]:
    """A function that tests for which rows of a frame an EXISTS in an expression is true."""
    number = planner.new_name("row")  # one EXISTS may be inside of another
    rows = empty_values((*names, number), 1000.0)
    made = Planned(rows, frozenset(names) - bound)
    plan = plan_exists(planner, made, Exists(exists.pattern), False, graph).operator

    def test(frame: Frame) -> Array:
        return planner.ask(ask, frame)

    def ask(frame: Frame) -> Array:
        numbers = np.arange(frame.rows, dtype=ID)
        rows.frame = Frame(rows.names, [*frame.columns, numbers], frame.rows)
        found = np.zeros(frame.rows, np.bool_)
        for block in plan.stream(planner.context or Context()):
            found[block[number]] = True
        return ~found if exists.negated else found

    return test


class _Substituting:
    """Evaluates a pattern for each distinct row, with the values of the row substituted."""

    def __init__(
        self, planner: Planner, pattern: Node, names: tuple[str, ...], graph: Where
    ) -> None:
        self._planner = planner
        self._pattern = pattern
        used = mentioned(pattern, planner.seen)
        self._names = [name for name in names if name in used]
        self._graph = graph
        self._known: dict[tuple[int, ...], bool] = {}

    def __call__(self, frame: Frame) -> Array:
        if not self._names:
            return np.full(frame.rows, self._ask(()))
        rows = zip(*(frame[name].tolist() for name in self._names), strict=True)
        return np.array([self._ask(row) for row in rows], np.bool_)

    def _ask(self, row: tuple[int, ...]) -> bool:
        found = self._known.get(row)
        if found is None:
            found = self._known[row] = self._planner.ask(self._evaluate, row)
        return found

    def _evaluate(self, row: tuple[int, ...]) -> bool:
        planner = self._planner
        values = {
            name: Constant(planner.scope.terms.key(term_id))
            for name, term_id in zip(self._names, row, strict=True)
            if term_id
        }
        pattern = substituted(self._pattern, values)
        plan = Limit(planner.plan(pattern, Wanted(self._graph, NONE, False)).operator, 1)
        context = planner.context or Context()
        context.check()
        return plan.run(context).rows > 0

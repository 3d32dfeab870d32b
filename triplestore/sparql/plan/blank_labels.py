"""BNODE("label"): the same node for the same label in one solution, in whichever expression.

Start at `numbered`: solutions get numbers before the first such BIND, in a column that no variable
can name, and BNODE gets that column as a second argument (see `expr.scalar`).
"""

from __future__ import annotations

from itertools import count

import numpy as np

from triplestore.expressions.tree import Call, Expression, Variable, calls_of
from triplestore.operators.frame import INTEGER, Array, Frame
from triplestore.operators.row_operators import Extend
from triplestore.sparql.plan.planned import Planned

_SOLUTION = " solution"


def has_labels(expression: Expression) -> bool:
    """True if an expression makes blank nodes by label.

    >>> has_labels(Call("BNODE")), has_labels(Call("BNODE", (Variable("x"),)))
    (False, True)
    """
    return any(call.function == "BNODE" and call.arguments for call in calls_of(expression))


def numbered(made: Planned) -> Planned:
    """A plan whose solutions have numbers."""
    if _SOLUTION in made.names:
        return made
    numbers = count()

    def number(frame: Frame) -> Array:
        return np.fromiter(numbers, INTEGER, frame.rows)

    return made.with_operator(Extend(made.operator, _SOLUTION, number, INTEGER))


def with_solution(expression: Expression) -> Expression:
    """The expression with the number of the solution as an argument of each BNODE by label."""
    if not isinstance(expression, Call):
        return expression
    parts = tuple(map(with_solution, expression.arguments))
    if expression.function == "BNODE" and len(parts) == 1:
        parts = (*parts, Variable(_SOLUTION))
    return Call(expression.function, parts)

"""BNODE("label"): one node per label and solution, also across several BINDs.

    BIND(BNODE("a") AS ?x) BIND(BNODE("a") AS ?y)
      ->  BIND(SOLUTION() AS ?solution:0) BIND(BNODE("a", ?solution:0) AS ?x)
          BIND(BNODE("a", ?solution:0) AS ?y)

Solutions get numbers before the first such BIND of a group. `SOLUTION` is the number, planned by
`plan.combining`; `expressions.evaluate_scalar` implements BNODE with a second argument.
"""

from __future__ import annotations

from dataclasses import replace

from triplestore.expressions.tree import Call, Expression, Variable, calls_of
from triplestore.operators.context import current
from triplestore.sparql.algebra.nodes import SOLUTION, Extend, Filter, Node, with_children
from triplestore.sparql.rewrites.shared import QueryVariables


def number_solutions(node: Node, seen: QueryVariables) -> Node:
    """The pattern with numbered solutions where new blank nodes have labels."""
    current().check()
    chain: list[Extend | Filter] = []
    inner = node
    while isinstance(inner, Extend | Filter):
        chain.append(inner)
        inner = inner.pattern
    made = with_children(inner, lambda child: number_solutions(child, seen))
    number: Variable | None = None
    for one in reversed(chain):
        if isinstance(one, Extend) and _has_labels(one.expression):
            if number is None:
                number = seen.fresh("solution")
                made = Extend(made, number, SOLUTION)
            made = Extend(made, one.variable, _with_number(one.expression, number))
        else:
            made = one if made is one.pattern else replace(one, pattern=made)
    return made


def _has_labels(expression: Expression) -> bool:
    return any(call.function == "BNODE" and call.arguments for call in calls_of(expression))


def _with_number(expression: Expression, number: Variable) -> Expression:
    """The expression with a number as the second argument of each BNODE by label."""
    if not isinstance(expression, Call):
        return expression
    parts = tuple([_with_number(part, number) for part in expression.arguments])
    if expression.function == "BNODE" and len(parts) == 1:
        parts = (*parts, number)
    return Call(expression.function, parts)

"""Lifts filters of a part of a join to the join.

    ?x :p ?y . { ?y :q ?z FILTER(?z > 1) }  ->  ?x :p ?y . ?y :q ?z . FILTER(?z > 1)

The parts can then be joined in any order, and the planner evaluates each filter as soon as its
variables are bound. A filter stays if the part may leave one of its variables unbound, which
another part could bind, and if it has an EXISTS.
"""

from __future__ import annotations

from triplestore.expressions.tree import Expression, has_exists
from triplestore.operators.context import current
from triplestore.sparql.algebra.nodes import Filter, Join, Node, with_children
from triplestore.sparql.algebra.variables import conjunction, conjuncts, names_in
from triplestore.sparql.rewrites.shared import QueryVariables


def lift_filters(node: Node, seen: QueryVariables) -> Node:
    """The pattern with the filters of parts of joins lifted."""
    current().check()
    node = with_children(node, lambda child: lift_filters(child, seen))
    if not isinstance(node, Join):
        return node
    parts: list[Node] = []
    conditions: list[Expression] = []
    for part in node.parts:
        inner = part
        while isinstance(inner, Filter) and _may_leave(inner, seen):
            conditions += conjuncts(inner.condition)
            inner = inner.pattern
        parts += inner.parts if isinstance(inner, Join) else (inner,)
    return Filter(Join(tuple(parts)), conjunction(conditions)) if conditions else node


def _may_leave(node: Filter, seen: QueryVariables) -> bool:
    """True if a filter's own pattern always binds its variables."""
    if has_exists(node.condition):
        return False
    return names_in(node.condition, seen) <= seen.certain(node.pattern)

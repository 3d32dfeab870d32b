"""Turns filters that restrict a variable to some IRIs into tables to join with.

    ?x :p ?y . FILTER(?y = :a)            ->  ?x :p ?y . VALUES ?y { :a }
    ?x :p ?y . FILTER(?y IN (:a, :b))     ->  ?x :p ?y . VALUES ?y { :a :b }

An IRI equals only itself, so looking it up is the same as comparing. The pattern must always bind
the variable. Literals are not changed (`1 = 1.0`).
"""

from __future__ import annotations

from triplestore.expressions.tree import Call, Constant, Expression, Variable
from triplestore.operators.context import current
from triplestore.sparql.algebra.nodes import Bgp, Filter, Join, Node, Path, Values, with_children
from triplestore.sparql.algebra.variables import conjunction, conjuncts
from triplestore.sparql.rewrites.shared import QueryVariables
from triplestore.terms.term_keys import IRI


def use_equalities(node: Node, seen: QueryVariables) -> Node:
    """The pattern with equalities as tables."""
    current().check()
    node = with_children(node, lambda child: use_equalities(child, seen))
    if not isinstance(node, Filter) or not isinstance(node.pattern, Bgp | Path | Join):
        return node
    certain = seen.certain(node.pattern)
    tables: list[Node] = []
    stay: list[Expression] = []
    for part in conjuncts(node.condition):
        table = _table(part)
        if table is not None and table.variables[0].name in certain:
            tables.append(table)
        else:
            stay.append(part)
    if not tables:
        return node
    parts = node.pattern.parts if isinstance(node.pattern, Join) else (node.pattern,)
    joined = Join((*parts, *tables))
    return Filter(joined, conjunction(stay)) if stay else joined


def _table(condition: Expression) -> Values | None:
    if not isinstance(condition, Call) or condition.function not in ("=", "SAMETERM", "IN"):
        return None
    first, *others = condition.arguments
    if isinstance(first, Constant) and len(others) == 1:
        first, others = others[0], [first]
    if not isinstance(first, Variable):
        return None
    terms = [other for other in others if isinstance(other, Constant) and other.kind == IRI]
    if len(terms) < len(others) or not terms:
        return None
    return Values((first,), tuple((term,) for term in dict.fromkeys(terms)))

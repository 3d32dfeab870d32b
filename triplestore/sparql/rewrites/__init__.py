"""Rewrites of the algebra, before anything is known of the data.

Start at `PASSES`: each is a function from a pattern to one that has the same solutions, and stands
in a file of its own. `rewrite` applies them, also inside of EXISTS. The first, `expand_paths`, is
what planning relies on; the others only make plans better, and can be left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from triplestore.expressions.tree import Call, Exists, Expression
from triplestore.operators.context import current
from triplestore.sparql.algebra import nodes as sparql
from triplestore.sparql.algebra.nodes import Node
from triplestore.sparql.rewrites.equalities import use_equalities
from triplestore.sparql.rewrites.filters import push_filters
from triplestore.sparql.rewrites.paths import expand_paths

PASSES: tuple[Callable[[Node], Node], ...] = (push_filters, use_equalities)
"""In their order; each once."""


def rewrite(node: Node, passes: Sequence[Callable[[Node], Node]] = PASSES) -> Node:
    """A pattern after all passes.

    >>> x, p = sparql.Variable("x"), sparql.Constant.iri("http://ex.org/p")
    >>> rewrite(sparql.Path(x, sparql.Inverse(p), x))
    Bgp(patterns=(TriplePattern(subject=Variable(name='x'), ...
    """
    node = expand_paths(node)
    node = _inside(node, passes)
    for one in passes:
        current().check()
        node = one(node)
    return node


def _inside(node: Node, passes: Sequence[Callable[[Node], Node]]) -> Node:
    """The same with the patterns of EXISTS rewritten."""

    def change(expression: Expression) -> Expression:
        if isinstance(expression, Exists):
            return Exists(rewrite(expression.pattern, passes), expression.negated)
        if isinstance(expression, Call):
            current().check()
            parts = tuple(map(change, expression.arguments))
            same = all(a is b for a, b in zip(parts, expression.arguments, strict=True))
            return expression if same else Call(expression.function, parts)
        return expression

    current().check()
    node = sparql.with_children(node, lambda child: _inside(child, passes))
    match node:
        case sparql.Filter(_, condition) | sparql.LeftJoin(_, _, condition):
            if condition is None:
                return node
            changed = change(condition)
            return node if changed is condition else replace(node, condition=changed)
        case sparql.Extend(_, _, expression):
            changed = change(expression)
            return node if changed is expression else replace(node, expression=changed)
        case sparql.OrderBy(_, keys):
            return replace(node, keys=tuple(k._replace(expression=change(k[0])) for k in keys))
        case sparql.Group():
            return _group(node, change)
        case _:
            return node


def _group(node: sparql.Group, change: Callable[[Expression], Expression]) -> Node:
    keys = tuple(key._replace(expression=change(key.expression)) for key in node.keys)
    aggregates = []
    for key in node.aggregates:
        argument = key.aggregate.argument
        if argument is not None:
            key = key._replace(aggregate=replace(key.aggregate, argument=change(argument)))
        aggregates.append(key)
    return replace(node, keys=keys, aggregates=tuple(aggregates))


__all__ = ["PASSES", "expand_paths", "push_filters", "rewrite", "use_equalities"]

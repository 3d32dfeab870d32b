"""Shared by passes: their protocol, fresh variables, and rewriting the EXISTS of a pattern."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Protocol

from triplestore.expressions.tree import Call, Exists, Expression, Variable, has_exists
from triplestore.operators.context import current
from triplestore.sparql.algebra import nodes as sparql
from triplestore.sparql.algebra.nodes import Node
from triplestore.sparql.algebra.variables import Variables, expressions_of


class QueryVariables(Variables):
    """The variables of all patterns of one query, and fresh hidden ones.

    >>> seen = QueryVariables()
    >>> print(seen.fresh("path"), seen.fresh("path"))
    ?path:0 ?path:1
    """

    __slots__ = ("_numbers",)

    def __init__(self) -> None:
        super().__init__()
        self._numbers = count()

    def fresh(self, word: str) -> Variable:
        """A variable that occurs nowhere else."""
        return Variable(f"{word}:{next(self._numbers)}")


class Rewrite(Protocol):
    """A pass: returns a pattern with the same solutions; the same object if it changes nothing.

    Patterns inside of EXISTS are not changed: they have been rewritten before.
    """

    def __call__(self, node: Node, seen: QueryVariables) -> Node:
        """The pattern after the pass."""


def kinds_in(pattern: Node, asks: bool | None = None) -> set[type]:
    """The kinds of nodes in a pattern, including EXISTS but not the patterns inside of it; an
    OPTIONAL with a condition also counts as `Filter`.

    asks  whether an expression has an EXISTS; None if that is not known
    """
    kinds: set[type] = set()
    known, asks = asks is not None, bool(asks)
    for node in sparql.walk(pattern):
        kind = type(node)
        kinds.add(kind)
        if kind not in _WITH_EXPRESSIONS:
            continue
        if isinstance(node, sparql.LeftJoin) and node.condition is not None:
            kinds.add(sparql.Filter)
        if not known and not asks:
            current().check()
            asks = any(map(has_exists, expressions_of(node)))
    if asks:
        kinds.add(Exists)
    return kinds


_WITH_EXPRESSIONS = frozenset(
    {sparql.Filter, sparql.LeftJoin, sparql.Extend, sparql.OrderBy, sparql.Group}
)


def with_exists(node: Node, change: Callable[[Exists], Exists]) -> Node:
    """A pattern with each EXISTS of its expressions changed."""

    def changed(expression: Expression) -> Expression:
        if isinstance(expression, Exists):
            return change(expression)
        if isinstance(expression, Call):
            current().check()
            parts = tuple(map(changed, expression.arguments))
            same = all(a is b for a, b in zip(parts, expression.arguments, strict=True))
            return expression if same else Call(expression.function, parts)
        return expression

    current().check()
    node = sparql.with_children(node, lambda child: with_exists(child, change))
    match node:
        case sparql.Filter(_, condition) | sparql.LeftJoin(_, _, condition):
            if condition is None:
                return node
            made = changed(condition)
            return node if made is condition else replace(node, condition=made)
        case sparql.Extend(_, _, expression):
            made = changed(expression)
            return node if made is expression else replace(node, expression=made)
        case sparql.OrderBy(_, keys):
            return replace(node, keys=tuple(k._replace(expression=changed(k[0])) for k in keys))
        case sparql.Group():
            return _group(node, changed)
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

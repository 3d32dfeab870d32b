"""Merges nested closures into one, and removes repeated alternatives of a closure.

    ?x ((:p?)+)+ ?y    ->  ?x :p* ?y
    ?x (:p|:q|:p)* ?y  ->  ?x (:p|:q)* ?y

A closure returns each pair once, so neither changes its result; nested closures would follow the
same paths again and again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from triplestore.expressions.tree import Constant
from triplestore.operators.context import current
from triplestore.sparql.algebra.nodes import (
    Alternative,
    NegatedSet,
    Node,
    OneOrMore,
    Path,
    PathExpression,
    Sequence,
    ZeroOrMore,
    ZeroOrOne,
    with_children,
)
from triplestore.sparql.rewrites.shared import QueryVariables

Closure: TypeAlias = ZeroOrMore | OneOrMore | ZeroOrOne


def simplify_closures(node: Node, seen: QueryVariables) -> Node:
    """The pattern with simplified closures; other paths are expanded already."""
    current().check()
    if isinstance(node, Path):
        path = _simple(node.path)
        return node if path == node.path else replace(node, path=path)
    return with_children(node, lambda child: simplify_closures(child, seen))


def _simple(path: PathExpression) -> PathExpression:
    current().check()
    match path:
        case Constant() | NegatedSet():
            return path
        case Sequence(parts):
            return Sequence(tuple(map(_simple, parts)))
        case Alternative(parts):
            different = tuple(dict.fromkeys(map(_simple, parts)))
            return Alternative(different) if len(different) > 1 else different[0]
        case ZeroOrMore() | OneOrMore() | ZeroOrOne():
            one = _one_closure(path)
            return replace(one, path=_simple(one.path))
        case _:
            return replace(path, path=_simple(path.path))


def _one_closure(path: Closure) -> Closure:
    """A single closure for nested ones.

    >>> p = Constant.iri("http://ex.org/p")
    >>> _one_closure(OneOrMore(ZeroOrOne(OneOrMore(p)))) == ZeroOrMore(p)
    True
    """
    inner: PathExpression = path
    may_be_empty = endless = False
    while isinstance(inner, Closure):
        may_be_empty |= not isinstance(inner, OneOrMore)
        endless |= not isinstance(inner, ZeroOrOne)
        inner = inner.path
    if not endless:
        return ZeroOrOne(inner)
    return ZeroOrMore(inner) if may_be_empty else OneOrMore(inner)

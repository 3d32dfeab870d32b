"""The facts by which a path leads from one node to another: start at `facts_of_path`."""

from __future__ import annotations

import numpy as np

from triplestore.expressions.tree import Constant
from triplestore.relations.packed_keys import U32
from triplestore.shacl.evaluate.data_graph import DataGraph
from triplestore.sparql.algebra.nodes import (
    Alternative,
    Inverse,
    OneOrMore,
    PathExpression,
    Sequence,
    ZeroOrMore,
    ZeroOrOne,
)

Facts = list[tuple[int, int, int]]
"""Ids of subject, predicate and object."""


def facts_of_path(data: DataGraph, path: PathExpression, start: int, end: int) -> Facts | None:
    """The facts of one way, with as few steps of closures as possible; None if there is none."""
    match path:
        case Constant(key):
            name = data.id(key)
            relation = data.dataset.graph().relation(name)
            held = relation.contains((_one(start), _one(end)), data.dataset.where)
            return [(start, name, end)] if held[0] else None
        case Inverse(inner):
            return facts_of_path(data, inner, end, start)
        case Sequence((first, *rest)):
            after = rest[0] if len(rest) == 1 else Sequence(tuple(rest))
            return _by_way_of(data, first, after, start, end)
        case Alternative(parts):
            ways = (facts_of_path(data, part, start, end) for part in parts)
            return next((way for way in ways if way is not None), None)
        case ZeroOrOne(inner):
            return [] if start == end else facts_of_path(data, inner, start, end)
        case ZeroOrMore(inner):
            return [] if start == end else _chain(data, inner, start, end)
        case OneOrMore(inner):
            return _chain(data, inner, start, end)
        case _:
            return None


def _one(node: int) -> U32:
    return np.array([node], np.uint32)


def _by_way_of(
    data: DataGraph, first: PathExpression, rest: PathExpression, start: int, end: int
) -> Facts | None:
    nodes = np.intersect1d(data.values(first, _one(start))[1], data.reaching(rest, _one(end)))
    for node in nodes.tolist():
        before = facts_of_path(data, first, start, node)
        after = facts_of_path(data, rest, node, end)
        if before is not None and after is not None:
            return before + after
    return None


def _chain(data: DataGraph, step: PathExpression, start: int, end: int) -> Facts | None:
    """The shortest chain of steps, at least one, breadth first."""
    before: dict[int, int] = {}
    frontier = _one(start)
    while len(frontier) and end not in before:
        index, found = data.values(step, frontier)
        new = []
        for place, node in zip(index.tolist(), found.tolist(), strict=True):
            if node not in before:
                before[node] = int(frontier[place])
                new.append(node)
        frontier = np.array(sorted(new), np.uint32)
    if end not in before:
        return None
    facts: Facts = []
    node = end
    while True:
        previous = before[node]
        facts = (facts_of_path(data, step, previous, node) or []) + facts
        if previous == start:
            return facts
        node = previous

"""Pushes filters down as far as possible.

    FILTER over UNION          ->  a FILTER in each part
    FILTER over OPTIONAL       ->  in the left side, if that always binds its variables
    FILTER over MINUS, BIND,
      DISTINCT, a sub-query    ->  below, if its variables are not computed there
    the condition of OPTIONAL  ->  in the right side, if that always binds its variables

Inside of a group the planner applies each filter after the first join that binds its variables, so
joins are not changed here. Filters with EXISTS or with nondeterministic functions stay.
"""

from __future__ import annotations

from dataclasses import replace

from triplestore.expressions.functions import is_deterministic
from triplestore.expressions.tree import Expression, calls_of, has_exists
from triplestore.operators.context import current
from triplestore.sparql.algebra.nodes import (
    Distinct,
    Extend,
    Filter,
    Join,
    LeftJoin,
    Minus,
    Node,
    OrderBy,
    Project,
    Reduced,
    Union,
    with_children,
)
from triplestore.sparql.algebra.variables import (
    Names,
    conjunction,
    conjuncts,
    names_in,
)
from triplestore.sparql.rewrites.shared import QueryVariables


def push_filters(node: Node, seen: QueryVariables) -> Node:
    """The pattern with its filters pushed down."""
    current().check()
    if isinstance(node, LeftJoin) and node.condition is not None:
        node = _into_right(node, seen)
    if isinstance(node, Filter):
        inner, parts = node.pattern, conjuncts(node.condition)
        while isinstance(inner, Filter):
            parts += conjuncts(inner.condition)
            inner = inner.pattern
        moved: set[int] = set()
        for alike in _alike(parts, seen):
            lower = _below(conjunction(alike), inner, seen)
            if lower is not None:
                inner = lower
                moved.update(map(id, alike))
        stay = [part for part in parts if id(part) not in moved]
        inner = push_filters(inner, seen)
        return Filter(inner, conjunction(stay)) if stay else inner
    return with_children(node, lambda child: push_filters(child, seen))


def _alike(parts: list[Expression], seen: QueryVariables) -> list[list[Expression]]:
    """The conditions that may be moved, grouped by their variables: these move together, because
    moving them one by one would take quadratic time."""
    found: dict[Names, list[Expression]] = {}
    for part in parts:
        current().check()
        if _may_move(part):
            found.setdefault(names_in(part, seen), []).append(part)
    return list(found.values())


def _may_move(expression: Expression) -> bool:
    if has_exists(expression):
        return False
    return all(is_deterministic(call.function) for call in calls_of(expression))


def _below(condition: Expression, node: Node, seen: QueryVariables) -> Node | None:
    """The node with a condition inside of it; None if it must stay outside."""
    current().check()  # each filter passes through all nodes above its place
    names = names_in(condition, seen)
    if not names <= seen.in_scope(node):
        return None  # it uses variables from outside of an EXISTS, or none
    match node:
        case Union(parts):
            return Union(tuple(_with(condition, part, seen) for part in parts))
        case LeftJoin(left) if names <= seen.certain(left):
            return replace(node, left=_with(condition, left, seen))
        case Minus(left, right):
            return Minus(_with(condition, left, seen), right)
        case Extend(pattern, variable, expression) if variable.name not in names:
            return Extend(_with(condition, pattern, seen), variable, expression)
        case Project(pattern, variables) if names <= {v.name for v in variables}:
            return Project(_with(condition, pattern, seen), variables)
        case Distinct(pattern):
            return Distinct(_with(condition, pattern, seen))
        case Reduced(pattern):
            return Reduced(_with(condition, pattern, seen))
        case OrderBy(pattern, keys):
            return OrderBy(_with(condition, pattern, seen), keys)
        case Join(parts):
            # Into one part that is not a plain pattern and binds all the variables.
            for place, part in enumerate(parts):
                if isinstance(part, Union | LeftJoin | Project) and names <= seen.certain(part):
                    lower = _with(condition, part, seen)
                    return Join((*parts[:place], lower, *parts[place + 1 :]))
            return None
        case _:
            return None


def _with(condition: Expression, node: Node, seen: QueryVariables) -> Node:
    """The node with a condition inside of it or directly above it."""
    current().check()
    if isinstance(node, Filter):
        parts = [*conjuncts(node.condition), *conjuncts(condition)]
        return Filter(node.pattern, conjunction(parts))
    lower = _below(condition, node, seen)
    return Filter(node, condition) if lower is None else lower


def _into_right(node: LeftJoin, seen: QueryVariables) -> LeftJoin:
    assert node.condition is not None
    certain = seen.certain(node.right)
    right, stay = node.right, []
    behind: list[Expression] = []  # added to the final filter, all at once
    for part in conjuncts(node.condition):
        current().check()
        if not _may_move(part) or not names_in(part, seen) <= certain:
            stay.append(part)
        elif isinstance(right, Filter):
            behind.append(part)
        else:
            right = _with(part, right, seen)
    if behind:
        assert isinstance(right, Filter)
        right = Filter(right.pattern, conjunction([*conjuncts(right.condition), *behind]))
    return replace(node, right=right, condition=conjunction(stay) if stay else None)

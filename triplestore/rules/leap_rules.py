"""Leaps: transitive rules whose conclusions are found in one step instead of round by round.

Start reading at `find_leap_rules`; `maintenance/modules/leaping` uses the result. A transitive rule
that other recursive rules go through shares its stratum with them, so no module can own it. (The
class hierarchy under OWL 2 RL is one, with equivalent classes and restrictions around it.) But all
that follows from given facts by this rule alone is the closure of a graph. A scheme finds the
closure in time proportional to it, while the rule considers an instance for each node between each
two, in every round. So updates leap: they delete or insert the difference of closures at once, and
fire the other rules on it.

The conclusions may be filtered: `FILTER(!SAMETERM(?a, ?c) && !SAMETERM(?a, :k))` and the like. Then
the rule concludes the closure without the filtered pairs, of all edges but those from a node that
no conclusion begins with to a node that none ends with. For take a path x0 -> x1 -> ... -> xk, and
suppose that no inner node can be left out, because the node before it begins no conclusion or the
node after it ends none. So x2 is a node that none ends with. Then x1 is not a node that none begins
with, or its edge to x2 would be left out. So x3 is a node that none ends with, and so on up to xk,
which is not. So one inner node can be left out, and then the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from triplestore.expressions.tree import Call, Constant, Expression, Variable
from triplestore.relations.packed_keys import U64
from triplestore.rules.families import Family
from triplestore.rules.strata import CompiledStratum


class LeapRule(NamedTuple):
    """A transitive rule.

    loops     whether it concludes that a node is related to itself
    subjects  keys of nodes that no conclusion begins with
    objects   keys of nodes that no conclusion ends with
    asked     facts that it requires, as (relation, key)
    """

    family: Family
    relation: int
    loops: bool
    subjects: tuple[bytes, ...]
    objects: tuple[bytes, ...]
    asked: tuple[tuple[int, U64], ...]


def find_leap_rules(stratum: CompiledStratum, type_id: int) -> dict[int, LeapRule]:
    """The transitive rules of a stratum, by relation; no two of them have the same relation."""
    found: dict[int, LeapRule | None] = {}
    for family in stratum.recursive:
        relation = _closed_relation(family)
        if relation is not None and relation != type_id:
            found[relation] = None if relation in found else _leap_rule(family, relation)
    return {relation: rule for relation, rule in found.items() if rule is not None}


def _closed_relation(family: Family) -> int | None:
    """p, if the family is one rule `p(a, c) :- p(a, b), p(b, c)`, with any filters and any ground
    atoms beside them."""
    head, relation = family.head, family.head.relation
    body = [atom for atom in family.body if atom.variables]
    if family.table is not None or family.nots or family.summary is not None or len(body) != 2:
        return None
    if not isinstance(relation, int) or any(atom.relation != relation for atom in body):
        return None
    (a, b), (b_, c) = body[0].terms, body[1].terms
    if head.terms != (a, c):  # written the other way round
        (a, b), (b_, c) = body[1].terms, body[0].terms
    distinct = len({a, b, c}) == 3 and min(a, b, c) >= 0
    return relation if distinct and b == b_ and head.terms == (a, c) else None


def _leap_rule(family: Family, relation: int) -> LeapRule | None:
    """The rule with its filter; None if the filter tests anything but that two terms differ."""
    ends = [family.variables[term] for term in family.head.terms]
    loops = True
    barred: tuple[list[bytes], list[bytes]] = ([], [])
    for computation in family.computations:
        if computation.target >= 0:
            return None
        for part in _parts(computation.expression):
            pair = _different(part)
            if pair is None:
                return None
            names = {one.name for one in pair if isinstance(one, Variable)}
            keys = [one.key for one in pair if isinstance(one, Constant)]
            if names == set(ends):
                loops = False
            elif len(names) == len(keys) == 1 and names <= set(ends):
                barred[ends.index(names.pop())].extend(keys)
            else:
                return None
    atoms = [atom for atom in family.body if not atom.variables]
    asked = tuple(
        (atom.relation, np.array([-atom.terms[0] << 32 | -atom.terms[1]], dtype=np.uint64))
        for atom in atoms
        if isinstance(atom.relation, int) and atom.relation > 0
    )
    if len(asked) < len(atoms):
        return None
    return LeapRule(family, relation, loops, tuple(barred[0]), tuple(barred[1]), asked)


def _parts(expression: Expression) -> Iterator[Expression]:
    """The conditions that must all hold for a filter to hold."""
    if isinstance(expression, Call) and expression.function == "&&":
        for one in expression.arguments:
            yield from _parts(one)
    else:
        yield expression


def _different(expression: Expression) -> tuple[Expression, Expression] | None:
    """The two terms that an expression says are not the same, if that is all it says."""
    if not isinstance(expression, Call) or expression.function != "!":
        return None
    (inner,) = expression.arguments
    if not isinstance(inner, Call) or inner.function != "SAMETERM":
        return None
    left, right = inner.arguments
    return left, right

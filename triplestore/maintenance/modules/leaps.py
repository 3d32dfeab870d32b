"""Leaps: what a transitive rule comes to, found in one step instead of round by round.

Start reading at `leaps_of`; `leaping` says what is done with them. A transitive rule that other
recursive rules go through (the class hierarchy under OWL 2 RL is one, with equivalent classes and
restrictions around it) has no stratum of its own, so no module can own it. But once facts are
there, all that follows from them by this rule alone is the closure of a graph, and a scheme finds
that in time proportional to it; the rule itself considers an instance for each node between each
two, in every round. So updates leap: they take away or bring the difference of closures at once,
and fire the other rules on it.

The conclusions may be filtered: `FILTER(!SAMETERM(?a, ?c) && !SAMETERM(?a, :k))` and the like. What
the rule comes to then is the closure without these pairs, of all edges but those from a node that
no conclusion begins with to one that none ends with. For take a path x0 -> x1 -> ... -> xk, and
suppose that none of its inner nodes can be left out, since each has such a node before it or after
it: x2 must be one that none ends with, so x1 is not one that none begins with (its edge to x2 would
be left out), so x3 is one that none ends with, and so on up to xk, which is not. So one can be left
out, and then the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from triplestore.closures.transitive.transitive_closure import TransitiveClosure
from triplestore.expressions.tree import Call, Constant, Expression, Variable
from triplestore.maintenance.update_state import Work
from triplestore.relations.facts.fact_sets import Batch
from triplestore.relations.packed_keys import NO_IDS, NO_KEYS, U32, U64, Bools, high, in_sorted, low
from triplestore.rules.families import Family


class Leap(NamedTuple):
    """A transitive rule, and which conclusions it does not draw.

    loops     whether it concludes that a node is related to itself
    subjects  nodes that no conclusion begins with
    objects   nodes that none ends with
    asked     facts that it asks for, as (relation, key)
    """

    family: Family
    relation: int
    loops: bool
    subjects: U32
    objects: U32
    asked: tuple[tuple[int, U64], ...] = ()

    def is_open(self, work: Work) -> bool:
        """Whether all holds that it asks for."""
        view = work.new()
        return all(
            view.pairs(name).contains((high(key), low(key))).all() for name, key in self.asked
        )

    def opens(self, delta: Batch) -> bool:
        """Whether something that it asks for is among these facts."""
        return any(in_sorted(key, delta.get(name, NO_KEYS)).any() for name, key in self.asked)

    def concluded(self, keys: U64) -> Bools:
        """Which pairs pass its filter."""
        first, second = high(keys), low(keys)
        kept: Bools = np.ones(len(keys), dtype=np.bool_)
        if not self.loops:
            kept &= first != second
        for node in self.subjects.tolist():
            kept &= first != node
        for node in self.objects.tolist():
            kept &= second != node
        return kept

    def edges(self, keys: U64) -> U64:
        """The pairs through which it may conclude something."""
        if not len(self.subjects) or not len(self.objects):
            return keys
        barred = np.isin(high(keys), self.subjects) & np.isin(low(keys), self.objects)
        return keys[~barred]

    def follows(self, closure: TransitiveClosure, keys: U64) -> Bools:
        """Which pairs it concludes from what a closure is of."""
        found = closure.contains_keys(keys)
        if not self.is_plain():
            found &= self.concluded(keys)
        return found

    def conclusions(self, blocks: Iterable[U64]) -> Iterator[U64]:
        """The pairs of some blocks that pass its filter."""
        for keys in blocks:
            yield keys if self.is_plain() else keys[self.concluded(keys)]

    def is_plain(self) -> bool:
        """Whether it has no filter."""
        return self.loops and not len(self.subjects) and not len(self.objects)


def leaps_of(work: Work, families: Iterable[Family]) -> dict[int, Leap]:
    """The transitive rules among some families, by relation; no other such rule has the same."""
    found: dict[int, Leap | None] = {}
    for family in families:
        relation = _closed_relation(family)
        if relation is not None and relation != work.type_id:
            found[relation] = None if relation in found else _leap(family, relation, work)
    return {relation: leap for relation, leap in found.items() if leap is not None}


def _closed_relation(family: Family) -> int | None:
    """p, if the family is one rule `p(a, c) :- p(a, b), p(b, c)`, whatever it filters, and whatever
    facts without variables it asks for."""
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


def _leap(family: Family, relation: int, work: Work) -> Leap | None:
    """The rule with its filter; None if that says more than which terms are not the same."""
    ends = [family.variables[term] for term in family.head.terms]
    loops = True
    barred: tuple[list[bytes], list[bytes]] = ([], [])
    for computation in family.computations:
        if computation.target >= 0:
            return None
        for part in _parts(computation.expression):
            pair = _told_apart(part)
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
    if any(barred) and work.terms is None:
        return None
    atoms = [atom for atom in family.body if not atom.variables]
    asked = tuple(
        (atom.relation, np.array([-atom.terms[0] << 32 | -atom.terms[1]], dtype=np.uint64))
        for atom in atoms
        if isinstance(atom.relation, int) and atom.relation > 0
    )
    if len(asked) < len(atoms):
        return None
    subjects, objects = (_ids(keys, work) for keys in barred)
    return Leap(family, relation, loops, subjects, objects, asked)


def _ids(keys: list[bytes], work: Work) -> U32:
    """The ids of terms; those that the dictionary does not have are in no fact."""
    return NO_IDS if work.terms is None else work.terms.encode_keys(keys)


def _parts(expression: Expression) -> Iterator[Expression]:
    """What must hold one by one for a filter to hold."""
    if isinstance(expression, Call) and expression.function == "&&":
        for one in expression.arguments:
            yield from _parts(one)
    else:
        yield expression


def _told_apart(expression: Expression) -> tuple[Expression, Expression] | None:
    """The two terms that must not be the same, if this is what an expression says."""
    if not isinstance(expression, Call) or expression.function != "!":
        return None
    (inner,) = expression.arguments
    if not isinstance(inner, Call) or inner.function != "SAMETERM":
        return None
    left, right = inner.arguments
    return left, right

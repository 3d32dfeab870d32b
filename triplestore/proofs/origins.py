"""From rules in simple form back to the rules as they were written.

Start reading at `Origin`. The items of a simple rule stand in the places of those it was made
from, with an atom or a negation of a helper relation where there was an aggregate or a negation of
more than one atom. Rules that mean the same share a helper, so the variables of a helper's rule may
have other names than those of the item at hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeGuard

from triplestore.datalog.program import (
    Aggregate,
    Atom,
    Bind,
    Constant,
    Constraint,
    Filter,
    Item,
    Not,
    Rule,
    TripleAtom,
    TupleAtom,
    Variable,
)
from triplestore.datalog.slices import slice_of
from triplestore.expressions.tree import substitute
from triplestore.proofs.closed_facts import Closed, ground
from triplestore.rules.simplify import is_given


class Origin(NamedTuple):
    """A rule as it was written, and the simple rule that was made from one of its heads."""

    rule: Rule | Constraint
    simple: Rule

    @property
    def items(self) -> Iterator[tuple[Item, Item]]:
        """The items of both bodies, in pairs."""
        return zip(self.rule.body, self.simple.body, strict=True)


def origin_of(closed: Closed, number: int) -> Origin:
    """What a simple rule was made from; a helper's rule stands for itself."""
    simple, origin = closed.written.rules[number], closed.written.origins[number]
    if _stands_for_itself(closed, simple):
        return Origin(simple, simple)
    return Origin(origin, simple)


def _stands_for_itself(closed: Closed, simple: Rule) -> bool:
    head = simple.heads[0]
    if not isinstance(head, TupleAtom) or not is_given(head.name.key):
        return False
    return head.name.key not in closed.written.simple.violations


def helper_rule(closed: Closed, atom: Atom) -> int:
    """The number of the rule of a helper relation."""
    (number,) = closed.written.concluding(slice_of(atom))
    return number


def is_helper_atom(item: object) -> TypeGuard[TupleAtom]:
    """Whether an item is an atom of a helper relation."""
    return isinstance(item, TupleAtom) and is_given(item.name.key)


def renaming(items: Sequence[Item], simple: Sequence[Item]) -> dict[Variable, Variable]:
    """The variables of a helper's body -> those of the same items as they were written here."""
    found: dict[Variable, Variable] = {}
    for item, other in zip(items, simple, strict=False):  # a guard may follow
        pairs = zip(_columns(other), _columns(item), strict=True)
        found.update(
            (its, term)
            for its, term in pairs
            if isinstance(its, Variable) and isinstance(term, Variable)
        )
    return found


def _columns(item: Item) -> list[Variable | Constant]:
    """The terms of an item, in the order that a helper in its place has."""
    if isinstance(item, TupleAtom) and is_given(item.name.key):
        return [term for term in item.args if term != item.name]
    if isinstance(item, TripleAtom | TupleAtom):
        return list(item.terms)
    if isinstance(item, Bind):
        return [item.variable]
    if isinstance(item, Aggregate):
        return [*item.groups, *(result.variable for result in item.results)]
    return []


def fill(item: Item, values: Mapping[Variable, Constant]) -> Item:
    """An item with values in the place of variables that have one, except those it binds."""
    if isinstance(item, TripleAtom | TupleAtom):
        return ground(item, values)
    if isinstance(item, Filter):
        return Filter(substitute(item.expression, values))
    if isinstance(item, Bind):
        return Bind(substitute(item.expression, values), item.variable)
    if isinstance(item, Not):
        return Not(tuple(fill(part, values) for part in item.body), item.exists)
    inner = {variable: values[variable] for variable in item.groups if variable in values}
    return Aggregate(tuple(fill(part, inner) for part in item.body), item.groups, item.results)

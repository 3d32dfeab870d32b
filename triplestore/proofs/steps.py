"""The parts of proofs: a `ProofStep` for each fact, with one `ProofPart` for each item of a body.

Start reading at `ProofStep`. `Attempt` is its counterpart for a fact that does not hold: how far
one rule gets.
"""

from __future__ import annotations

from collections.abc import Mapping

from triplestore.data_classes import data_class
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
    Variable,
)
from triplestore.proofs.origins import fill

Values = Mapping[Variable, Constant]
"""What variables stand for."""


@data_class
class Member:
    """One match of an aggregate's body: the values of its variables, and the facts it matched."""

    values: Values
    facts: tuple[Atom, ...]


@data_class
class ProofPart:
    """How one item of a body is true: an atom by a fact, a negation by there being none.

    item     as it stands in the rule
    filled   the same with values in the place of variables
    fact     what an atom matched
    value    what a BIND gave
    results  what the results of an aggregate are, in their order
    members  matches of its body, the first ones; `count` is how many there are
    """

    item: Item
    filled: Item
    fact: Atom | None = None
    value: Constant | None = None
    results: tuple[Constant, ...] = ()
    members: tuple[Member, ...] = ()
    count: int = 0

    @property
    def kind(self) -> str:
        """What it is: `fact`, `absent`, `condition`, `value` or `aggregate`."""
        if isinstance(self.item, Not):
            return "absent"
        if isinstance(self.item, Filter):
            return "condition"
        if isinstance(self.item, Bind):
            return "value"
        return "aggregate" if isinstance(self.item, Aggregate) else "fact"

    @property
    def facts(self) -> tuple[Atom, ...]:
        """The facts it is true by: that of an atom, or those of an aggregate's members."""
        if self.fact is not None:
            return (self.fact,)
        return tuple(dict.fromkeys(fact for member in self.members for fact in member.facts))


@data_class
class ProofStep:
    """A fact, and the rule instance that concludes it; a stated fact has no rule.

    values  of the variables of the rule
    parts   of its body, in order
    height  0 if it is stated, else one more than the greatest among the facts of its atoms
    size    how many instances the proof of this fact has; one used twice counts twice
    """

    fact: Atom
    rule: Rule | Constraint | None = None
    values: Values | None = None
    parts: tuple[ProofPart, ...] = ()
    height: int = 0
    size: int = 0

    @property
    def stated(self) -> bool:
        """Whether the fact needs no rule."""
        return self.rule is None

    @property
    def premises(self) -> tuple[Atom, ...]:
        """The facts of its atoms, in order."""
        return tuple(part.fact for part in self.parts if part.fact is not None)

    @property
    def needs(self) -> tuple[Atom, ...]:
        """The facts of its atoms, then those of members of aggregates; each once."""
        found = dict.fromkeys(self.premises)
        found.update(dict.fromkeys(fact for part in self.parts for fact in part.facts))
        return tuple(found)


@data_class
class Attempt:
    """How far one rule gets towards a fact.

    rule     could conclude the fact, or the violation that is asked about
    values   an example: what its variables stand for where the matched items are true
    given    what the fact says of them
    matched  items of the body that are true together: as many as can be
    ways     how many matches these have
    missing  the first item that is true in none of them
    alone    whether that has no match whatever the other items say
    facts    what a negation meets there
    found    what a BIND or the results of an aggregate are there, instead of what they should be
    left     the items after it that are not among the matched ones either
    exact    False if not everything was looked at
    """

    rule: Rule | Constraint
    values: Values
    given: Values
    matched: tuple[Item, ...]
    ways: int
    missing: Item
    alone: bool = False
    facts: tuple[Atom, ...] = ()
    found: tuple[Constant, ...] = ()
    left: tuple[Item, ...] = ()
    exact: bool = True

    @property
    def filled(self) -> Item:
        """The missing item with the values of the example; or with those of the fact, if these
        are enough for it to be missing."""
        return self.fill(self.missing, self.given if self.alone else self.values)

    def fill(self, item: Item, values: Values | None = None) -> Item:
        """An item of the body with values filled in, those of the example unless given."""
        return fill(item, self.values if values is None else values)

    @property
    def nearness(self) -> tuple[int, int]:
        """Smaller for rules that lack less, then for those that have more."""
        return 1 + len(self.left), -len(self.matched)

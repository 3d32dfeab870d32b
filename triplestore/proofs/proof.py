"""Proofs as objects: facts, each with the rule instance that concludes it.

Start reading at `Proof`. A proof is a graph without cycles, kept as one `Step` for each fact: a
fact that is needed in several places is proved once. What is always true: what a step needs has a
step itself (but for members of aggregates that took too long to prove), of less height; steps
without a rule are stated facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

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

Values = Mapping[Variable, Constant]
"""What variables stand for."""


@dataclass(frozen=True, slots=True)
class Member:
    """One match of an aggregate's body: the values of its variables, and the facts it matched."""

    values: Values
    facts: tuple[Atom, ...]


@dataclass(frozen=True, slots=True)
class Part:
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


@dataclass(frozen=True, slots=True)
class Step:
    """A fact, and the rule instance that concludes it; a stated fact has no rule.

    values  of the variables of the rule
    parts   of its body, in order
    height  0 if it is stated, else one more than the greatest among the facts of its atoms
    size    how many instances the proof of this fact has; one used twice counts twice
    """

    fact: Atom
    rule: Rule | Constraint | None = None
    values: Values | None = None
    parts: tuple[Part, ...] = ()
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


@dataclass(frozen=True)
class Proof:
    """Why a fact holds: the smallest proof from stated facts.

    It is the one of least height; among these that of fewest steps, where a fact that is needed
    twice counts twice; among these the first by the order of rules. Every fact in it is
    proved in the same way. Negations, filters and aggregates are conditions: they add no height,
    and the members of an aggregate that are listed have proofs beside.

    steps         fact -> its step, the goal first
    least         False if not all proofs were looked at, so that there may be a smaller one
    alternatives  proofs with other last steps, the smallest first; none of them needs the fact
    more          False if these are all there are
    prefixes      to print it by

    >>> from triplestore import Store
    >>> store = Store()
    >>> _ = store.reason(rules="@prefix : <http://e/> . :A[:a] . :B[?x] :- :A[?x] .")
    >>> proof = store.why(":a a :B")
    >>> proof.height, len(proof), [str(step.fact) for step in proof]
    (2, 2, ['<http://e/B>[<http://e/a>]', '<http://e/A>[<http://e/a>]'])
    """

    fact: Atom
    steps: Mapping[Atom, Step]
    least: bool = True
    alternatives: tuple[Proof, ...] = ()
    more: bool = True
    prefixes: Mapping[str, str] | None = None

    @property
    def last(self) -> Step:
        """The step that concludes the fact."""
        return self.steps[self.fact]

    @property
    def height(self) -> int:
        """How many rules follow on one another, at the most."""
        return self.last.height

    @property
    def size(self) -> int:
        """How many rule instances it has; one used twice counts twice."""
        return self.last.size

    @property
    def stated(self) -> bool:
        """Whether somebody stated the fact itself."""
        return self.last.stated

    @cached_property
    def sources(self) -> tuple[Atom, ...]:
        """The stated facts that it begins with."""
        return tuple(step.fact for step in self.steps.values() if step.stated)

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps.values())

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        return self.text(most=500)

    def text(self, prefixes: Mapping[str, str] | None = None, most: int | None = None) -> str:
        """The proof as a tree of lines; at most so many facts of it."""
        from triplestore.proofs.proof_text import proof_text

        return proof_text(self, self._names(prefixes), most)

    def as_dict(self) -> dict[str, Any]:
        """The proof fit for JSON: facts as text and as terms in N-Triples."""
        from triplestore.proofs.proof_json import proof_dict

        return proof_dict(self)

    def json(self, indent: int | None = 2) -> str:
        """The proof as JSON."""
        from triplestore.proofs.proof_json import dumped

        return dumped(self.as_dict(), indent)

    def dot(self, prefixes: Mapping[str, str] | None = None) -> str:
        """The proof as a drawing for Graphviz."""
        from triplestore.proofs.drawing import dot

        return dot(self, self._names(prefixes))

    def mermaid(self, prefixes: Mapping[str, str] | None = None) -> str:
        """The proof as a drawing for Mermaid."""
        from triplestore.proofs.drawing import mermaid

        return mermaid(self, self._names(prefixes))

    def _names(self, prefixes: Mapping[str, str] | None) -> Mapping[str, str]:
        return (self.prefixes or {}) if prefixes is None else prefixes

"""Ways to end a conclusion: start at `Repairs`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, overload

from pyoxigraph import DefaultGraph, Quad

from triplestore.data_classes import data_class
from triplestore.expressions.text.expression_printer import Namer
from triplestore.expressions.tree import Constant
from triplestore.terms import key_of
from triplestore.terms.vocabulary import RDF_TYPE


@data_class
class Repair:
    """Asserted quads without which the conclusion does not hold, and what else their removal does.

    quads     to be removed: none of them can be left out
    loses     how many triples do not hold any more, those of `quads` and the conclusion included
    gains     how many triples are inferred that did not hold (negations may do that)
    resolved_violations, new_violations  how many violations go, and how many come
    examples  some of the other triples that are lost
    """

    quads: tuple[Quad, ...]
    loses: int = 0
    gains: int = 0
    resolved_violations: int = 0
    new_violations: int = 0
    examples: tuple[Quad, ...] = ()

    @property
    def side_effects(self) -> int:
        """How many triples and new violations it costs."""
        return self.loses + self.gains + self.new_violations

    def as_dict(self) -> dict[str, Any]:
        """The same, fit for JSON."""
        names = ("loses", "gains", "resolved_violations", "new_violations")
        made: dict[str, Any] = {"quads": [quad_text(quad) for quad in self.quads]}
        made |= {name: getattr(self, name) for name in names}
        return {**made, "examples": [quad_text(quad) for quad in self.examples]}

    def __str__(self) -> str:
        return self.text()

    def text(self, prefixes: Mapping[str, str] | None = None) -> str:
        """The same with prefixes."""
        lines = [f"- {quad_text(quad, prefixes)}" for quad in self.quads]
        return "\n".join([*lines, f"  {self.effects}"])

    @property
    def effects(self) -> str:
        """What it does, in one line."""
        said = [f"loses {_facts(self.loses)}"]
        if self.gains:
            said.append(f"gains {_facts(self.gains)}")
        if self.resolved_violations:
            said.append(f"resolves {_many(self.resolved_violations, 'violation')}")
        if self.new_violations:
            said.append(f"adds {_many(self.new_violations, 'violation')}")
        return ", ".join(said)


@data_class
class Repairs(Sequence[Repair]):
    """The minimal sets of asserted quads whose removal ends a conclusion, the best first.

    fact      the conclusion
    found     the sets: fewest side effects first, then the smallest
    more      whether other minimal sets may exist that were not looked at; `reason` says why
    protected how many of the asserted facts that were met must stay
    applied   which one was committed

    >>> from triplestore import Store
    >>> store = Store()
    >>> _ = store.load('''@prefix : <http://e/> .
    ...     @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    ...     :Cat rdfs:subClassOf :Dog . :tom a :Cat . :kit a :Cat .''', "ttl")
    >>> _ = store.reason("rdfs")
    >>> print(store.retract(":tom a :Dog"))
    :tom a :Dog ends with one of 2 minimal removals
    1. - :tom a :Cat
         loses 2 facts
    2. - :Cat rdfs:subClassOf :Dog
         loses 5 facts
    """

    fact: str
    found: tuple[Repair, ...] = ()
    more: bool = False
    reason: str = ""
    protected: int = 0
    applied: Repair | None = None
    prefixes: Mapping[str, str] = field(default_factory=dict, compare=False)

    @overload
    def __getitem__(self, place: int) -> Repair: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Repair, ...]: ...

    def __getitem__(self, place: int | slice) -> Repair | tuple[Repair, ...]:
        return self.found[place]

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Repair]:
        return iter(self.found)

    def as_dict(self) -> dict[str, Any]:
        """The same, fit for JSON."""
        return {
            "fact": self.fact,
            "repairs": [one.as_dict() for one in self.found],
            "more": self.more,
            "reason": self.reason,
            "protected": self.protected,
            "applied": None if self.applied is None else self.applied.as_dict(),
        }

    def __str__(self) -> str:
        lines = [self._headline()]
        for number, one in enumerate(self.found, 1):
            first, *rest = one.text(self.prefixes).splitlines()
            lines.append(f"{number}. {first}")
            lines += [f"   {line}" for line in rest]
        if self.more:
            lines.append(f"more may exist: {self.reason}")
        return "\n".join(lines)

    def _headline(self) -> str:
        if not self.found:
            why = f": {self.protected} protected facts are enough for it" if self.protected else ""
            return f"{self.fact}: no removal was found{why}"
        if len(self.found) == 1:
            return f"{self.fact} ends with one minimal removal"
        return f"{self.fact} ends with one of {len(self.found)} minimal removals"


def quad_text(quad: Quad, prefixes: Mapping[str, str] | None = None) -> str:
    """A quad as in Turtle, and its graph."""
    namer = Namer(prefixes)
    s, p, o = (namer.term(Constant(key_of(term))) for term in quad.triple)
    verb = "a" if quad.predicate.value == RDF_TYPE else p
    graph = quad.graph_name
    where = "" if isinstance(graph, DefaultGraph) else f" in {namer.term(Constant(key_of(graph)))}"
    return f"{s} {verb} {o}{where}"


def _facts(count: int) -> str:
    return _many(count, "fact")


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"

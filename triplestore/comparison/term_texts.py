"""Facts as short texts: start at `FactTexts`."""

from __future__ import annotations

from collections.abc import Mapping

import pyoxigraph as ox

from triplestore.consequences.closed_state import ClosedState
from triplestore.datalog.program import (
    TYPE,
    WELL_KNOWN,
    Atom,
    Constant,
    Constraint,
    Rule,
    TripleAtom,
)
from triplestore.datalog.rules import clause_text
from triplestore.expressions.text.expression_printer import Namer
from triplestore.proofs.closed_facts import Place
from triplestore.terms import term_of


class FactTexts:
    """Terms, facts and rules as texts with prefixes."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        self.prefixes = {**WELL_KNOWN, **prefixes}
        self._namer = Namer(self.prefixes)

    def term(self, key: bytes) -> str:
        """A term by its key."""
        return self._namer.term(Constant(key))

    def fact(self, fact: Atom) -> str:
        """A fact as in Turtle, or as in rules if it is no triple."""
        if isinstance(fact, TripleAtom):
            verb = "a" if fact.p == TYPE else self._namer.term(fact.p)
            return f"{self._namer.term(fact.s)} {verb} {self._namer.term(fact.o)}"
        arguments = ", ".join(map(self._namer.term, fact.args))
        return f"{self._namer.term(fact.name)}[{arguments}]"

    def rule(self, rule: Rule | Constraint) -> str:
        """A rule on one line."""
        return " ".join(clause_text(rule, self._namer).split())

    def short_rule(self, rule: Rule | Constraint) -> str:
        """The name of a rule, and the axioms that it was made from."""
        name = rule.id if isinstance(rule, Constraint) else rule.name
        if rule.axioms:
            axioms = ", ".join(map(self.fact, rule.axioms))
            return f"{name}: {axioms}" if name else axioms
        return name or self.rule(rule)


def quad_of(state: ClosedState, place: Place) -> ox.Quad | None:
    """The triple at a place, in the default graph; None if it is not an RDF triple."""
    fact = state.closed.fact(place)
    if not isinstance(fact, TripleAtom):
        return None
    terms = [term_of(term.key) for term in fact.terms if isinstance(term, Constant)]
    if isinstance(terms[0], ox.Literal) or not isinstance(terms[1], ox.NamedNode):
        return None
    return ox.Quad(*terms)

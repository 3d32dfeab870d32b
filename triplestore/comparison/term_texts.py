"""Facts as short texts: start at `FactTexts`."""

from __future__ import annotations

from collections.abc import Mapping

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


class FactTexts:
    """Terms, facts and rules as texts with prefixes."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        self.prefixes = {**WELL_KNOWN, **prefixes}
        self._namer = Namer(self.prefixes)

    def term(self, key: bytes) -> str:
        """A term by its key."""
        return self._namer.term(Constant(key))

    def fact(self, fact: Atom) -> str:
        """A fact as in Turtle, or as in rules if it is not a triple."""
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

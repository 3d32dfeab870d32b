"""A closed state as this package reads it: start at `ClosedState`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from triplestore.data_classes import data_class
from triplestore.datalog.program import Constraint, Program, Rule, TripleAtom
from triplestore.proofs.closed_facts import Closed, Written
from triplestore.reasoning.program.in_force import InForce, make_program
from triplestore.reasoning.program.stored_rules import Rules
from triplestore.reasoning.violations import ViolationRelations, violation_relations
from triplestore.relations import Tables
from triplestore.terms import Dictionary


@data_class(slots=False)
class ClosedState:
    """Tables closed under rules, and the dictionary of their ids.

    Two states that are compared have ids of the same dictionary, the larger one.
    """

    tables: Tables
    dictionary: Dictionary
    rules: Rules | None

    @cached_property
    def program(self) -> Program:
        """All rules in force."""
        return Program() if self.rules is None else self.rules.program

    def sources_of(self, clause: Rule | Constraint) -> Iterator[tuple[TripleAtom, ...]]:
        """The axioms that a clause was made from: one item for each axiom that gives the same.

        A program that is the same after a commit is kept, although other axioms may give it now; so
        after what it knows comes what the axioms of these tables give.
        """
        known = self.program.sources_of(clause)
        yield from known
        if clause.axioms:
            yield from (one for one in self._made_anew.sources_of(clause) if one not in known)

    @cached_property
    def _made_anew(self) -> Program:
        rules = self.rules
        if not isinstance(rules, InForce):
            return self.program
        return make_program(rules.regimes, rules.users, self.tables, self.dictionary).program

    @cached_property
    def users(self) -> Program:
        """The rules that users gave."""
        rules = self.rules
        if isinstance(rules, InForce):
            return Program() if rules.users is None else rules.users.program
        return self.program

    @cached_property
    def written(self) -> Written:
        """The program in simple form."""
        return Written(self.program)

    @cached_property
    def closed(self) -> Closed:
        """The state as proofs read it."""
        return Closed(self.written, self.tables, self.dictionary)

    @cached_property
    def violations(self) -> ViolationRelations:
        """Where its violations are."""
        return violation_relations(self.rules, self.dictionary)

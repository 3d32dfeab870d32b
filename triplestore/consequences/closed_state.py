"""A closed state as this package reads it: start at `ClosedState`."""

from __future__ import annotations

from functools import cached_property

from triplestore.data_classes import data_class
from triplestore.datalog.program import Program
from triplestore.proofs.closed_facts import Closed, Written
from triplestore.reasoning.program.in_force import InForce
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

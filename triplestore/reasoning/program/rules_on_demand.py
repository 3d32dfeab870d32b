"""Programs of which only what is awake was made; all rules are made when they are asked for.

Start reading at `program_of`. All rules that an ontology without instances gives about data sleep,
and it can be closed and queried without them. Who asks for rules (a report, a proof, a commit with
the first instance) gets what `make_program` makes of the same tables.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from triplestore.reasoning.collector_pause import no_collection
from triplestore.reasoning.program.in_force import InForce, make_program
from triplestore.reasoning.program.literals import Literals
from triplestore.reasoning.program.sleeping_axioms import SleepingAxioms, find_sleeping_axioms
from triplestore.reasoning.program.subclass_edges import WholeProgram

if TYPE_CHECKING:
    from triplestore.datalog.program import Program
    from triplestore.reasoning.program.settings import Regimes
    from triplestore.reasoning.program.stored_rules import Rules
    from triplestore.relations import Tables
    from triplestore.terms import Dictionary

_MADE = ("whole", "translation", "ontology")
"""What is made when it is first asked for."""


class RulesOnDemand(InForce):
    """A whole program whose rules about data sleep, and are not made yet.

    awake  the rules that are compiled
    """

    def __init__(
        self,
        regimes: Regimes,
        awake: Program,
        sleeping: SleepingAxioms,
        literals: Literals,
        make: Callable[[], InForce],
    ) -> None:
        super().__init__(awake, None, literals=literals)
        self.regimes = regimes
        self.awake = self.whole
        self.sleeping = sleeping
        self._make = make
        for name in _MADE:
            delattr(self, name)

    def __getattr__(self, name: str) -> Any:
        if name not in _MADE:
            raise AttributeError(name)
        made = self._made
        for one in _MADE:
            setattr(self, one, getattr(made, one))
        return getattr(made, name)

    @cached_property
    def _made(self) -> InForce:
        made = self._make()
        self._make = lambda: made  # without the tables
        return made

    @property
    def known(self) -> WholeProgram:
        """The rules that are awake, which are made from the start."""
        return self.awake

    @property
    def compiled(self) -> WholeProgram:
        """The rules that are compiled to maintain a closure: all that do not sleep."""
        return self.awake

    def woken(self) -> InForce:
        """The same program, in which no rule sleeps."""
        found = copy(self._made)
        found.sleeping = None
        return found


def program_of(
    regimes: Regimes,
    users: Rules | None,
    tables: Tables,
    dictionary: Dictionary,
    before: InForce | None = None,
    *,
    early: bool = False,
    literals: Literals | None = None,
) -> InForce:
    """The program in force as `make_program` makes it, or as soon as it is asked for."""
    if before is None or early or before.sleeping is not None:
        found = rules_on_demand(regimes, users, tables, dictionary, before, literals)
        if found is not None:
            return found
    return make_program(regimes, users, tables, dictionary, before, early=early, literals=literals)


def rules_on_demand(
    regimes: Regimes,
    users: Rules | None,
    tables: Tables,
    dictionary: Dictionary,
    before: InForce | None = None,
    literals: Literals | None = None,
) -> RulesOnDemand | None:
    """The program in force of an ontology without instances; None of any other."""
    if users is not None:
        return None
    with no_collection():
        known = None if before is None else before.sleeping
        sleeping = find_sleeping_axioms(regimes, tables, dictionary, known)
        if sleeping is None:
            return None
        known_literals = literals or (Literals() if before is None else before.literals)
        literals = known_literals.looked_at(dictionary)
        awake = literals.added(sleeping.awake, tables, dictionary)
        make = partial(make_program, regimes, users, tables, dictionary, looked_at=literals)
        return RulesOnDemand(regimes, awake, sleeping, literals, make)

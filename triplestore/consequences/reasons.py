"""The asserted facts that a proof begins with, axioms included: start at `reason_of`."""

from __future__ import annotations

from collections.abc import Callable

from triplestore.consequences.closed_state import ClosedState
from triplestore.datalog.program import Aggregate, Atom, Constraint, Not, Program, Rule, TripleAtom
from triplestore.proofs import Proof

Prove = Callable[[Atom], "Proof | None"]
"""A proof of a fact in the state at hand; None if it does not hold."""


def reason_of(
    proof: Proof, state: ClosedState, prove: Prove, asserted: Callable[[Atom], bool]
) -> frozenset[Atom]:
    """Asserted facts that are enough for the conclusion of a proof in a state.

    Rules that were made of axioms need these, so they are proved as well where they are inferred.
    """
    return _Reasons(state, prove, asserted).of(proof)


class _Reasons:
    """Collects asserted facts; each axiom is looked at once."""

    def __init__(self, state: ClosedState, prove: Prove, asserted: Callable[[Atom], bool]) -> None:
        self._state, self._prove, self._asserted = state, prove, asserted
        self._proofs: dict[Atom, Proof | None] = {}

    def of(self, proof: Proof) -> frozenset[Atom]:
        """See `reason_of`."""
        found: set[Atom] = set()
        waiting, seen = [proof], {proof.fact}
        while waiting:
            for step in waiting.pop():
                if self._asserted(step.fact):
                    found.add(step.fact)
                for axiom in self._axioms_of(step.rule):
                    if self._asserted(axiom):
                        found.add(axiom)
                        continue
                    more = self._proof(axiom)
                    if more is not None and axiom not in seen:
                        seen.add(axiom)
                        waiting.append(more)
        return frozenset(found)

    def _axioms_of(self, rule: Rule | Constraint | None) -> tuple[TripleAtom, ...]:
        """The first axioms that hold of those that give a rule."""
        if rule is None or not rule.axioms:
            return ()
        sources = self._state.sources_of(rule)
        return next((one for one in sources if all(map(self._holds, one))), rule.axioms)

    def _holds(self, axiom: Atom) -> bool:
        return self._asserted(axiom) or self._proof(axiom) is not None

    def _proof(self, axiom: Atom) -> Proof | None:
        if axiom not in self._proofs:
            self._proofs[axiom] = self._prove(axiom)
        return self._proofs[axiom]


def depends_on_absence(program: Program) -> bool:
    """Whether rules negate or aggregate, so that fewer facts may have more consequences."""
    clauses = (*program.rules, *program.constraints)
    return any(isinstance(item, Not | Aggregate) for clause in clauses for item in clause.body)

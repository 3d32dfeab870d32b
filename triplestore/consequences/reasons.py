"""The asserted facts that a proof begins with, axioms included: start at `reason_of`."""

from __future__ import annotations

from collections.abc import Callable

from triplestore.datalog.program import Aggregate, Atom, Not, Program
from triplestore.proofs import Proof

Prove = Callable[[Atom], "Proof | None"]
"""A proof of a fact in the state at hand; None if it does not hold."""


def reason_of(proof: Proof, prove: Prove, asserted: Callable[[Atom], bool]) -> frozenset[Atom]:
    """Asserted facts that are enough for the conclusion of a proof.

    Rules that were made of axioms need these, so they are proved as well where they are inferred.
    """
    found: set[Atom] = set()
    known: set[Atom] = set()
    waiting = [proof]
    while waiting:
        for step in waiting.pop():
            known.add(step.fact)
            if asserted(step.fact):
                found.add(step.fact)
            if step.rule is None:
                continue
            for axiom in step.rule.axioms:
                if axiom in known:
                    continue
                known.add(axiom)
                if asserted(axiom):
                    found.add(axiom)
                    continue
                answer = prove(axiom)
                if answer is not None:
                    waiting.append(answer)
    return frozenset(found)


def depends_on_absence(program: Program) -> bool:
    """Whether rules negate or aggregate, so that fewer facts may have more consequences."""
    clauses = (*program.rules, *program.constraints)
    return any(isinstance(item, Not | Aggregate) for clause in clauses for item in clause.body)

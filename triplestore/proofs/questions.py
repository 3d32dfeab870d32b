"""The questions: `why` a fact holds, and `why_not`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from triplestore.datalog.program import Atom
from triplestore.errors import CorruptError, UsageError
from triplestore.proofs.attempts import attempts
from triplestore.proofs.builder import Builder
from triplestore.proofs.closed_facts import Closed, Written
from triplestore.proofs.explorer import Explorer, Limits
from triplestore.proofs.proof import Proof, WhyNot
from triplestore.proofs.proof_graph import ProofLink
from triplestore.relations import Tables
from triplestore.rules.compiled_program import Compiled
from triplestore.terms import Dictionary

__all__ = ["Limits", "why", "why_not"]

_KEPT = 1000
"""Maximum number of instances of asserted facts from which alternatives are chosen."""


def why(
    rules: Written | Compiled,
    tables: Tables,
    dictionary: Dictionary,
    fact: Atom,
    *,
    alternatives: int = 0,
    members: int = 5,
    limits: Limits | None = None,
    prefixes: Mapping[str, str] | None = None,
) -> Proof:
    """The smallest proof of a fact that holds, from asserted facts.

    rules         those in force, compiled or `Written`
    tables        closed under them
    alternatives  maximum number of other last steps, each with its smallest proof
    members       maximum number of matches of an aggregate's body that are listed, with proofs
    limits        how far to look
    prefixes      to print it by; those of the program, unless given
    """
    closed = Closed(rules, tables, dictionary)
    if not closed.holds(fact):
        raise UsageError(f"{fact} does not hold: ask why_not")
    explorer = Explorer(closed, limits)
    names = closed.written.program.prefixes if prefixes is None else prefixes
    builder = Builder(closed, explorer, members, names)
    goal = explorer.node(closed.place(fact))
    explorer.ask(goal, _KEPT if alternatives else 0)
    if not explorer.prove(goal):
        raise CorruptError(
            f"{fact} is in the store as inferred, but does not follow from asserted facts; "
            "verify the closure"
        )
    last = explorer.smallest([goal])[0].get(goal)
    proof = builder.proof(goal, last)
    if alternatives:
        proof = _with_alternatives(proof, explorer, builder, last, alternatives)
    return proof


def _with_alternatives(
    proof: Proof, explorer: Explorer, builder: Builder, last: ProofLink | None, count: int
) -> Proof:
    """The proof with others beside: those with the least last steps but its own."""
    goal = explorer.asked
    wanted = count + (last is not None)
    links, exhausted = explorer.alternatives(goal, wanted)
    others = [builder.proof(goal, link) for link in links if link != last]
    return replace(proof, alternatives=tuple(others[:count]), more=not exhausted)


def why_not(
    rules: Written | Compiled,
    tables: Tables,
    dictionary: Dictionary,
    fact: Atom,
    *,
    most: int = 100,
    prefixes: Mapping[str, str] | None = None,
) -> WhyNot:
    """Why a fact does not hold: what each rule lacks that could conclude it.

    most  maximum number of rules that are looked at
    """
    closed = Closed(rules, tables, dictionary)
    if closed.holds(fact):
        raise UsageError(f"{fact} holds: ask why")
    found, count = attempts(closed, fact, most)
    names = closed.written.program.prefixes if prefixes is None else prefixes
    return WhyNot(fact, tuple(found), count, names)

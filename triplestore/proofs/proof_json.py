"""Proofs as dictionaries and lists, fit for JSON.

Start reading at `proof_dict`. Facts and rules are given as text that a program could have; facts
of three terms also by these terms in N-Triples. Steps are numbered, and name what they need by
number.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from triplestore.datalog.program import Atom, Constraint, Rule, TripleAtom
from triplestore.datalog.text import show
from triplestore.proofs.proof_text import Prefixes, fact_text, missing_text, rule_text
from triplestore.proofs.steps import Attempt, Member, ProofPart, ProofStep

if TYPE_CHECKING:
    from triplestore.proofs.proof import Proof, WhyNot


def dumped(values: dict[str, Any], indent: int | None) -> str:
    """As JSON."""
    return json.dumps(values, ensure_ascii=False, indent=indent)


def proof_dict(proof: Proof) -> dict[str, Any]:
    """A proof with its steps, the goal first."""
    names = proof.prefixes or {}
    numbers = {fact: number for number, fact in enumerate(proof.steps)}
    return {
        "holds": True,
        "fact": show(proof.fact, names),
        "stated": proof.stated,
        "height": proof.height,
        "size": proof.size,
        "least": proof.least,
        "prefixes": dict(names),
        "steps": [_step(step, numbers, names) for step in proof],
        "alternatives": [proof_dict(other) for other in proof.alternatives],
    }


def _step(step: ProofStep, numbers: Mapping[Atom, int], names: Prefixes) -> dict[str, Any]:
    made: dict[str, Any] = {"number": numbers[step.fact], **fact_dict(step.fact, names)}
    if step.rule is None:
        return {**made, "stated": True}
    if isinstance(step.rule, Constraint):
        made["fact"] = fact_text(step.fact, step, names)
    return {
        **made,
        "height": step.height,
        "rule": rule_dict(step.rule, names),
        "values": values_dict(step.values or {}),
        "body": [_part(part, numbers, names) for part in step.parts],
    }


def fact_dict(fact: Atom, names: Prefixes) -> dict[str, Any]:
    """A fact as text and by its terms."""
    made: dict[str, Any] = {"fact": show(fact, names)}
    if isinstance(fact, TripleAtom):
        made["triple"] = [str(term) for term in fact.terms]
    return made


def rule_dict(rule: Rule | Constraint, names: Prefixes) -> dict[str, Any]:
    """A rule: its name, where it was written, and its text."""
    kind, name = ("constraint", rule.id) if isinstance(rule, Constraint) else ("rule", rule.name)
    return {
        "kind": kind,
        "name": name,
        "source": None if rule.source is None else str(rule.source),
        "text": rule_text(rule, names),
        "axioms": [show(axiom, names) for axiom in getattr(rule, "axioms", ())],
    }


def values_dict(values: Mapping[Any, Any]) -> dict[str, str]:
    """Values of variables by name."""
    return {variable.name: str(value) for variable, value in values.items()}


def _part(part: ProofPart, numbers: Mapping[Atom, int], names: Prefixes) -> dict[str, Any]:
    made: dict[str, Any] = {"kind": part.kind}
    if part.fact is not None:
        return {**made, **_needed([part.fact], numbers, names)[0]}
    made["text"] = show(part.filled, names)
    if part.value is not None:
        made["value"] = str(part.value)
    if part.kind == "aggregate":
        made["results"] = [str(result) for result in part.results]
        made["count"] = part.count
        made["members"] = [_member(member, numbers, names) for member in part.members]
    return made


def _member(member: Member, numbers: Mapping[Atom, int], names: Prefixes) -> dict[str, Any]:
    return {
        "values": values_dict(member.values),
        "facts": _needed(member.facts, numbers, names),
    }


def absence_dict(absence: WhyNot) -> dict[str, Any]:
    """Why a fact does not hold."""
    names = absence.prefixes or {}
    return {
        "holds": False,
        **fact_dict(absence.fact, names),
        "prefixes": dict(names),
        "rules": absence.rules,
        "outside": list(absence.outside),
        "attempts": [_attempt(attempt, names) for attempt in absence.attempts],
    }


def _attempt(attempt: Attempt, names: Prefixes) -> dict[str, Any]:
    return {
        "rule": rule_dict(attempt.rule, names),
        "values": values_dict(attempt.values),
        "matched": [show(attempt.fill(item), names) for item in attempt.matched],
        "ways": attempt.ways,
        "missing": show(attempt.missing, names),
        "here": show(attempt.filled, names),
        "text": missing_text(attempt, names),
        "in_the_way": [fact_dict(fact, names) for fact in attempt.facts],
        "found": [str(value) for value in attempt.found],
        "left": [show(attempt.fill(item), names) for item in attempt.left],
        "exact": attempt.exact,
    }


def _needed(
    facts: Sequence[Atom], numbers: Mapping[Atom, int], names: Prefixes
) -> list[dict[str, Any]]:
    return [{"fact": show(fact, names), "step": numbers.get(fact)} for fact in facts]

"""Negation beside equality: rules that negate what equals change, on a way to equalities.

Start reading at `refuse_cycles`. A merge gives facts other names, so everything that is asserted of
things depends on equality. A rule that negates or aggregates is stratified all the same if no
equality follows from its conclusion: the classes are known before it is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from triplestore.datalog.problems import Problem, raise_errors
from triplestore.datalog.program import Aggregate, Not, Program, Rule, atoms_in
from triplestore.datalog.slices import slice_of
from triplestore.reasoning.equality.classes import EqualitySources, equality_sources

if TYPE_CHECKING:
    from triplestore.reasoning.program.stored_rules import Rules


def refuse_cycles(rules: Rules) -> None:
    """Refuse rules that negate or aggregate, and from whose conclusions equalities follow."""
    if any(isinstance(item, Not | Aggregate) for rule in rules.program.rules for item in rule.body):
        raise_errors(cycles(rules.program, equality_sources(rules)))


def cycles(program: Program, found: EqualitySources) -> Iterator[Problem]:
    """One problem for each rule that negates or aggregates on a way to equality."""
    for rule in program.rules:
        negated = [item for item in rule.body if isinstance(item, Not | Aggregate)]
        for head in rule.heads if negated else ():
            way = found.way_from(slice_of(head))
            if way:
                yield _problem(rule, negated[0], way)
                break


def _problem(rule: Rule, item: Not | Aggregate, way: list[str]) -> Problem:
    (asked, *_) = (slice_of(atom) for atom, _ in atoms_in((item,)))
    steps = [f"{asked}, which owl:sameAs changes", *way, "owl:sameAs"]
    return Problem(
        "negated-equality",
        f"negation or aggregation in a cycle: {' -> '.join(steps)}",
        "conclude something from which no equality follows, or take the equality out of the rules",
        file=rule.source.file if rule.source else None,
        line=rule.source.line if rule.source else None,
        column=rule.source.column if rule.source else None,
        rule=rule.name or str(rule),
    )

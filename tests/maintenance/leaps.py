"""Random programs in which transitive rules and others go through each other, and what is kept of
them.

Start at `leaping_case` and `check_grounds`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from tests.maintenance.driver import Driver
from tests.maintenance.naive import Fact
from tests.maintenance.notation import facts, program
from triplestore.closures.attached import leap_key
from triplestore.datalog.program import Program
from triplestore.datalog.stratify import stratify
from triplestore.errors import ProgramError
from triplestore.maintenance.modules.leaping import leaps_of
from triplestore.maintenance.steps.rederive import derivable_keys
from triplestore.maintenance.update_state import Work
from triplestore.relations.packed_keys import NO_KEYS
from triplestore.rules.families import Family
from triplestore.rules.simplify import simplify

TRANSITIVE = "{p}[?x, ?z] :- {p}[?x, ?y], {p}[?y, ?z]"
FILTERS = (
    "",
    ", FILTER(!SAMETERM(?x, ?z))",
    ", :K[:a, :b]",
    ", :Q[:a, :b]",
    ", FILTER(!SAMETERM(?x, ?z) && !SAMETERM(?x, :a) && !SAMETERM(?z, :b))",
)
OTHERS = (
    "{p}[?y, ?x] :- {p}[?x, ?y], :A[?x] .",
    "{p}[?y, ?x] :- {p}[?x, ?y], NOT :A[?x] .",
    ":E[?x, ?y] :- {p}[?x, ?y], {p}[?y, ?x] .",
    "{p}[?x, ?y] :- :E[?x, ?y] .",
    "{p}[?x, ?y] :- :E[?y, ?x] .",
    "{p}[?x, ?y] :- :K[?x, ?a], {p}[?a, ?b], :K[?y, ?b] .",
    "{p}[?x, ?y] :- :K[?x, ?a], {q}[?a, ?b], :K[?y, ?b] .",
    "{p}[?x, ?y] :- {q}[?x, ?y], :B[?y] .",
    "{p}[?x, ?y] :- {q}[?y, ?x], NOT :B[?y] .",
    ":B[?y] :- {p}[?x, ?y], :A[?x] .",
    ":C[?y] :- {p}[?x, ?y], :C[?x] .",
    "{p}[?x, ?y] :- :C[?x], {q}[?x, ?y], :K[?x, ?y] .",
    "{p}[?x, ?y] :- :K[?x, ?y] .",
    "{p}[?x, ?y] :- :L[?x, ?y], NOT :K[?x, ?y] .",
    "{p}[?x, ?x] :- {p}[?x, ?y], :A[?x] .",
    "{p}[?x, ?y] :- {p}[?x, ?z], {q}[?z, ?y], :A[?z] .",
    ":D[?x] :- {p}[?x, ?y], NOT {q}[?y, ?x] .",
    ":N[?x, COUNT(?y) AS ?n] :- {p}[?x, ?y] .",
)
NODES = "abcdefgh"


@dataclass
class LeapingStep:
    """Asserted and retracted facts, and the rules from then on if they change."""

    added: set[Fact]
    removed: set[Fact]
    rules: Program | None


@dataclass
class LeapingCase:
    """A program, facts, and what becomes of them."""

    rules: Program
    facts: set[Fact]
    steps: list[LeapingStep] = field(default_factory=list)

    def states(self) -> Iterator[tuple[Program, frozenset[Fact], LeapingStep | None]]:
        """Rules and asserted facts after each step, and the step."""
        rules, held = self.rules, self.facts
        yield rules, frozenset(held), None
        for step in self.steps:
            rules, held = step.rules or rules, (held - step.removed) | step.added
            yield rules, frozenset(held), step


def leaping_case(rng: random.Random, steps: int = 6) -> LeapingCase:
    """One or two transitive relations, and up to five rules around them."""
    clauses = _clauses(rng)
    nodes = NODES[: rng.choice((3, 5, 8))]
    held = {_fact(rng, nodes) for _ in range(rng.choice((3, 8, 14)))}
    case = LeapingCase(program(" ".join(clauses)), set().union(*map(facts, held)))
    for _ in range(steps):
        removed = set(rng.sample(sorted(held), min(len(held), rng.choice((0, 1, 1, 2, 4)))))
        added = {_fact(rng, nodes) for _ in range(rng.choice((0, 0, 1, 2)))}
        held = (held - removed) | added
        rules = None
        if rng.random() < 0.12 and _is_program(other := _changed(rng, clauses)):
            clauses, rules = other, program(" ".join(other))
        gone = set().union(*map(facts, removed - added))
        case.steps.append(LeapingStep(set().union(*map(facts, added)), gone, rules))
    return case


def _clauses(rng: random.Random) -> list[str]:
    while True:
        clauses = [TRANSITIVE.format(p=":P") + rng.choice(FILTERS) + " ."]
        if rng.random() < 0.5:
            clauses.append(TRANSITIVE.format(p=":Q") + rng.choice(FILTERS) + " .")
        clauses += [_other(rng) for _ in range(rng.randint(1, 5))]
        if _is_program(clauses):
            return clauses


def _other(rng: random.Random) -> str:
    p, q = rng.choice(((":P", ":Q"), (":Q", ":P"), (":P", ":P")))
    return rng.choice(OTHERS).format(p=p, q=q)


def _changed(rng: random.Random, clauses: list[str]) -> list[str]:
    if rng.random() < 0.5 and len(clauses) > 1:
        gone = rng.randrange(len(clauses))
        return [*clauses[:gone], *clauses[gone + 1 :]]
    return [*clauses, _other(rng)]


def _is_program(clauses: list[str]) -> bool:
    try:
        stratify(simplify(program(" ".join(clauses))).rules)
    except ProgramError:
        return False
    return True


def _fact(rng: random.Random, nodes: str) -> str:
    name = rng.choices("PQKLEABC", (45, 15, 10, 5, 5, 7, 7, 6))[0]
    ends = rng.choice(nodes) if name in "ABC" else f"{rng.choice(nodes)}, {rng.choice(nodes)}"
    return f"{name}({ends})"


def is_another(own: Family, one: Family) -> bool:
    """Whether a family is recursive, and not a certain one."""
    return one.recursive and one is not own


def check_grounds(driver: Driver, where: str) -> int:
    """Assert what `leaping` says is always true of the kept closures; returns the number of edges
    that recursion derives."""
    assert driver.compiled is not None
    found = 0
    for key, attached in driver.tables.schemes.items():
        if key >= 0:
            continue
        relation, ground = leap_key(key), attached.ground
        work = Work(driver.compiled, driver.tables, driver.terms)
        rules = driver.compiled.strata[work.levels.relation(relation)]
        leap = leaps_of(work, rules)[relation]
        outside = np.sort(leap.edges(work.all_supported(relation)))
        assert outside.tolist() == ground.sure.edges.tolist(), f"{where}: what is sure"
        held = np.concatenate([NO_KEYS, *work.stored.pairs(relation).blocks()])
        pairs = np.concatenate([NO_KEYS, *leap.conclusions(ground.every.blocks())])
        assert np.isin(pairs, held).all(), f"{where}: too many edges"
        assert ground.every.contains_keys(leap.edges(held)).all(), f"{where}: too few edges"
        others = np.setdiff1d(ground.every.edges, ground.sure.edges)
        derived = derivable_keys(
            work,
            rules,
            relation,
            others,
            "",
            partial(is_another, leap.family),
        )
        assert derived.all(), f"{where}: an edge that nothing derives"
        found += len(others)
    return found

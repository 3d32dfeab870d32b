"""Proofs of random programs are proofs, and the smallest ones."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.engine.driver import Driver
from tests.engine.features import ALL, Features
from tests.engine.naive import Fact, Facts
from tests.engine.programs import random_case
from tests.engine.proving import NEVER, atom_of, check_proof, instances, least, rank_of
from triplestore.datalog.program import Program
from triplestore.datalog.simple import simplify
from triplestore.engine.strategies.registry import strategy
from triplestore.engine.why import Limits, why
from triplestore.engine.why.explore import Explorer, _Spent
from triplestore.errors import ProgramError


def states(seed: int, features: Features = ALL) -> Iterator[tuple[Driver, Program, set[Fact]]]:
    """A store after each step of a random schedule, with its program and explicit facts."""
    case = random_case(seed, features)
    driver = Driver()
    before: Program | None = None
    for number, (program, explicit) in enumerate(case.states()):
        try:
            simplify(program)
        except ProgramError:
            return
        changed = program if before is None or program != before else None
        before = program
        step = case.steps[number - 1] if number else None
        added = step.additions if step else explicit
        deleted = step.deletions if step else ()
        driver.step(added, deleted, changed, strategy("dredc"))
        yield driver, program, set(explicit)


def check_state(
    driver: Driver, program: Program, explicit: set[Fact], limits: Limits | None = None
) -> int:
    """Check the proofs of all facts: how many there are."""
    held = sorted(driver.facts())
    closure = Facts(held)
    edges = instances(program, closure)
    best = least(edges, explicit)
    assert driver.compiled is not None
    for fact in held:
        proof = why(
            driver.compiled,
            driver.tables,
            driver.dictionary,
            atom_of(fact),
            members=2,
            limits=limits,
        )
        check_proof(proof, program, explicit, closure)
        if proof.least:
            assert (proof.height, proof.size) == best[fact]
        else:
            assert (proof.height, proof.size) >= best[fact]
    return len(held)


def check_alternatives(driver: Driver, program: Program, explicit: set[Fact], count: int) -> int:
    """Check the alternatives of all facts against all instances: how many there are."""
    held = sorted(driver.facts())
    closure = Facts(held)
    edges = instances(program, closure)
    assert driver.compiled is not None
    checked = 0
    for fact in held:
        proof = why(
            driver.compiled, driver.tables, driver.dictionary, atom_of(fact), alternatives=count
        )
        best = least(edges, explicit, banned=fact)
        ranks = [rank_of(edge, best) for edge in edges if edge.head == fact]
        expected = sorted(rank for rank in ranks if rank[0] < NEVER)
        if not proof.stated:
            assert expected.pop(0) == (proof.height, proof.size)
        found = [(other.height, other.size) for other in proof.alternatives]
        assert found == expected[:count]
        assert proof.more or len(expected) <= count
        assert len(found) == count or not proof.more
        last = {(proof.last.rule, proof.last.premises)} if not proof.stated else set()
        last |= {(other.last.rule, other.last.premises) for other in proof.alternatives}
        assert len(last) == len(found) + (not proof.stated), "no last step comes twice"
        for other in proof.alternatives:
            assert all(proof.fact not in step.needs for step in other)
            check_proof(other, program, explicit, closure)
        checked += len(found)
    return checked


@pytest.mark.parametrize("part", range(8))
def test_why__random_programs__proofs_are_valid_and_least(part: int) -> None:
    checked = 0
    for seed in range(part * 4, part * 4 + 4):
        for driver, program, explicit in list(states(seed))[-1:]:
            checked += check_state(driver, program, explicit)
    assert checked > 10


@pytest.mark.parametrize("count", [1, 3, 50])
def test_why__alternatives__are_all_others_that_do_not_need_the_fact(count: int) -> None:
    checked = 0
    for seed in range(100, 112):
        for driver, program, explicit in list(states(seed))[-1:]:
            checked += check_alternatives(driver, program, explicit, count)
    assert checked > 20


HURRY = Limits(depth=1)
"""No search by levels: rounds instead."""


def test_why__forwards__proofs_are_valid_and_least() -> None:
    for seed in range(200, 216):
        for driver, program, explicit in list(states(seed))[-1:]:
            check_state(driver, program, explicit, HURRY)


def check_hurried(driver: Driver, program: Program, explicit: set[Fact]) -> int:
    """Check proofs that are found where neither levels nor rounds come to an end."""

    def spent(explorer: Explorer, goal: int) -> bool:
        raise _Spent

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Explorer, "_by_rounds", spent)
        return check_state(driver, program, explicit, HURRY)


def test_why__some_proof__is_one() -> None:
    for seed in range(300, 316):
        for driver, program, explicit in list(states(seed))[-1:]:
            check_hurried(driver, program, explicit)

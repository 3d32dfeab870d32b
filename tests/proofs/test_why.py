"""Proofs of random programs are proofs, and the smallest ones."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import combinations

import pytest

from tests.maintenance.driver import Driver
from tests.maintenance.features import ALL, PLAIN, Features
from tests.maintenance.naive import Fact, Facts
from tests.maintenance.notation import facts, program
from tests.maintenance.programs import random_case
from tests.proofs.proving import NEVER, atom_of, check_proof, instances, least, rank_of
from triplestore.datalog.program import Program
from triplestore.errors import ProgramError
from triplestore.maintenance.strategies import strategy
from triplestore.proofs import Limits, why
from triplestore.proofs.explorer import Explorer, _Spent
from triplestore.proofs.thresholds import PROOFS
from triplestore.rules.simplify import simplify


def states(seed: int, features: Features = ALL) -> Iterator[tuple[Driver, Program, set[Fact]]]:
    """A store after each step of a random schedule, with its program and explicit facts."""
    case = random_case(seed, features)
    driver = Driver()
    before: Program | None = None
    for number, (rules, explicit) in enumerate(case.states()):
        try:
            simplify(rules)
        except ProgramError:
            return
        changed = rules if before is None or rules != before else None
        before = rules
        step = case.steps[number - 1] if number else None
        added = step.additions if step else explicit
        deleted = step.deletions if step else ()
        driver.step(added, deleted, changed, strategy("dred_c"))
        yield driver, rules, set(explicit)


def check_state(
    driver: Driver, rules: Program, explicit: set[Fact], limits: Limits | None = None
) -> int:
    """Check the proofs of all facts: how many there are."""
    held = sorted(driver.facts())
    closure = Facts(held)
    edges = instances(rules, closure)
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
        check_proof(proof, rules, explicit, closure)
        if proof.least:
            assert (proof.height, proof.size) == best[fact]
        else:
            assert (proof.height, proof.size) >= best[fact]
    return len(held)


def check_alternatives(driver: Driver, rules: Program, explicit: set[Fact], count: int) -> int:
    """Check the alternatives of all facts against all instances: how many there are."""
    held = sorted(driver.facts())
    closure = Facts(held)
    edges = instances(rules, closure)
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
            check_proof(other, rules, explicit, closure)
        checked += len(found)
    return checked


@pytest.mark.parametrize("part", range(3))
def test_why__random_programs__proofs_are_valid_and_least(part: int) -> None:
    checked = 0
    for seed in range(part * 4, part * 4 + 4):
        for state in list(states(seed))[-1:]:
            checked += check_state(*state)
    assert checked > 10


def test_why__wide_levels__are_looked_at_for_stated_premises_first(
    tune: Callable[..., None],
) -> None:
    tune(PROOFS, wide_level=0)
    for seed in range(400, 424):
        for state in list(states(seed))[-1:]:
            check_state(*state)
            check_alternatives(*state, count=2)


def taxonomy(rng: random.Random) -> tuple[Program, set[Fact]]:
    """Subclass rules with several ways up and members, and a class of those linked to a member."""
    classes = [f"K{i}" for i in range(8)]
    text = [f":{b}[?x] :- :{a}[?x] ." for a, b in combinations(classes, 2) if rng.random() < 0.3]
    text += [":Linked[?x] :- :p[?x, ?y], :K7[?y] .", ":K0[?y] :- :Linked[?x], :q[?x, ?y] ."]
    stated = {f"{rng.choice(classes)}({member})" for member in "abcdefgh"}
    stated |= {f"{name}({rng.choice('abc')}, {one})" for one in "abcdefgh" for name in "pq"}
    return program("\n".join(text)), facts(" ".join(stated))


@pytest.mark.parametrize("wide", [0, 64])
def test_why__hierarchies_of_classes(wide: int, tune: Callable[..., None]) -> None:
    tune(PROOFS, wide_level=wide)
    for seed in range(6):
        rules, stated = taxonomy(random.Random(seed))
        driver = Driver()
        driver.step(stated, (), rules, strategy("dred_c"))
        assert check_state(driver, rules, stated) > 25
        check_alternatives(driver, rules, stated, count=3)


@pytest.mark.parametrize("count", [1, 3, 50])
def test_why__alternatives__are_all_others_that_do_not_need_the_fact(count: int) -> None:
    checked = 0
    for seed in range(100, 106):
        for state in list(states(seed))[-1:]:
            checked += check_alternatives(*state, count)
    assert checked > 10


HURRY = Limits(depth=1)
"""No search by levels: rounds instead."""


def test_why__forwards__proofs_are_valid_and_least() -> None:
    for seed in range(200, 208):
        for features in (ALL, PLAIN):
            for state in list(states(seed, features))[-1:]:
                check_state(*state, HURRY)


def check_hurried(driver: Driver, rules: Program, explicit: set[Fact]) -> int:
    """Check proofs that are found where neither levels nor rounds come to an end."""

    def spent(explorer: Explorer, goal: int) -> bool:
        raise _Spent

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Explorer, "_by_rounds", spent)
        return check_state(driver, rules, explicit, HURRY)


def test_why__some_proof__is_one() -> None:
    for seed in range(300, 308):
        for state in list(states(seed))[-1:]:
            check_hurried(*state)


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_why__many_random_programs__proofs_are_valid_and_least(part: int) -> None:
    for seed in range(10_000 + part * 200, 10_200 + part * 200):
        for state in list(states(seed))[-1:]:
            check_state(*state)
            check_state(*state, HURRY)
            check_hurried(*state)
            check_alternatives(*state, count=4)

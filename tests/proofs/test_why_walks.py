"""Proofs of pairs of large closures: valid, along a path, and least where they say so."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.maintenance.checking import engine_takes
from tests.maintenance.closures import closure_case
from tests.maintenance.driver import Driver
from tests.maintenance.notation import fact, facts, program
from tests.proofs.proving import atom_of
from tests.proofs.test_why import check_state
from triplestore.maintenance.strategies import strategy
from triplestore.proofs import why
from triplestore.proofs.thresholds import PROOFS
from triplestore.rules.modules.written_out import Choice, Mode

TRANS = ":R[?x, ?z] :- :R[?x, ?y], :R[?y, ?z] . "


@pytest.mark.parametrize("mode", ["plain", "compressed"])
def test_why__random_closures__proofs_are_valid(mode: Mode, tune: Callable[..., None]) -> None:
    tune(PROOFS, closure_pairs=-1)
    checked = 0
    for seed in range(40):
        case = closure_case(seed)
        if not engine_takes(case):
            continue
        rules, stated = next(iter(case.states()))
        driver = Driver(modules=True)
        driver.choice = Choice(mode)
        driver.step(stated, (), rules, strategy("dred_c"))
        assert driver.compiled is not None
        if driver.compiled.modules:
            checked += check_state(driver, rules, set(stated))
    assert checked > 200


def chain(length: int, text: str = TRANS) -> Driver:
    driver = Driver(modules=True)
    stated = facts(" ".join(f"R(n{i}, n{i + 1})" for i in range(length)))
    driver.step(stated, (), program(text), strategy("dred_c"))
    return driver


def test_why__a_long_way__is_halved() -> None:
    driver = chain(300)
    goal = atom_of(fact("R(n0, n300)"))
    assert driver.compiled is not None
    proof = why(driver.compiled, driver.tables, driver.dictionary, goal)
    assert (proof.height, proof.size) == (9, 299)
    assert proof.least


def test_why__a_short_cut_is_taken() -> None:
    driver = chain(300)
    driver.step(facts("R(n1, n299)"), (), None, strategy("dred_c"))
    goal = atom_of(fact("R(n0, n300)"))
    assert driver.compiled is not None
    proof = why(driver.compiled, driver.tables, driver.dictionary, goal)
    assert (proof.height, proof.size) == (2, 2)


def test_why__an_inverse_and_an_edge_that_follows() -> None:
    text = (
        TRANS + ":S[?y, ?x] :- :R[?x, ?y] . :R[?y, ?x] :- :S[?x, ?y] . :R[?x, ?y] :- :P[?x, ?y] ."
    )
    driver = chain(300, text)
    driver.step(facts("P(n300, n301) S(n302, n301)"), (), None, strategy("dred_c"))
    goal = atom_of(fact("S(n302, n0)"))
    assert driver.compiled is not None
    proof = why(driver.compiled, driver.tables, driver.dictionary, goal)
    proved = [step.fact for step in proof]
    assert len(proved) > 600
    assert atom_of(fact("P(n300, n301)")) in proved
    assert not proof.least

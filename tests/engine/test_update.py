"""The engine and the oracle agree after every step of random schedules, under every strategy."""

from __future__ import annotations

import random

import pytest

from tests.engine.checking import check_case, check_state, engine_takes
from tests.engine.driver import Driver
from tests.engine.makers import MAKERS
from tests.engine.notation import facts, program
from tests.engine.programs import random_case
from triplestore.engine import evaluate, parallel
from triplestore.engine.strategies.registry import STRATEGIES, strategy

CASES = 12
"""Cases for each strategy in the short form."""


def run(first: int, count: int, name: str) -> None:
    """So many cases from a seed on; those whose negations need a guard that recurses are left out
    (the engine refuses them)."""
    for seed in range(first, first + count):
        case = random_case(seed)
        if not engine_takes(case):
            continue
        rng = random.Random(seed)
        names = list(STRATEGIES) if name == "mixed" else [name]
        check_case(case, lambda rng=rng, names=names: strategy(rng.choice(names)))  # type: ignore[misc]


@pytest.mark.parametrize("name", [*STRATEGIES, "mixed"])
@pytest.mark.parametrize("part", range(4))
def test_update__random_schedules__equal_the_oracle(name: str, part: int) -> None:
    run(part * CASES, CASES, name)


@pytest.mark.parametrize("name", MAKERS)
def test_update__what_an_aggregate_derives__comes_back(name: str) -> None:
    """A fact that a recursive rule concludes, too, and that overdeletion takes away."""
    rules = program(
        ":C[?x] :- AGGREGATE(:w[?m, :a, ?k, ?l] BIND max(?k) AS ?x) .:C[?y] :- :C[?x], :p[?x, ?y] ."
    )
    held, gone = facts("C(c) p(c, 2) p(2, d) w(3, a, 2, 1)"), facts("C(c)")
    driver = Driver()
    driver.step(held, (), rules, MAKERS[name]())
    driver.step((), gone, None, MAKERS[name]())
    check_state(driver, rules, frozenset(held - gone), name)


@pytest.mark.parametrize("name", ["dred", "dredc"])
def test_update__with_rules_side_by_side__equals_the_oracle(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "ROWS", 1)
    monkeypatch.setattr(evaluate, "ROWS", 1)
    run(300, CASES, name)


@pytest.mark.long
@pytest.mark.parametrize("part", range(200))
def test_update__many_random_schedules__equal_the_oracle(part: int) -> None:
    """10,000 programs, each under every strategy; the oracle is asked once for all of them."""
    for seed in range(1_000 + part * 50, 1_050 + part * 50):
        for name in (*STRATEGIES, "mixed"):
            run(seed, 1, name)

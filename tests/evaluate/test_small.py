"""Small rules done by one call of a kernel: nothing differs but the time they take."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.maintenance.checking import check_case, check_state, engine_takes
from tests.maintenance.driver import Driver
from tests.maintenance.notation import facts, program
from tests.maintenance.programs import random_case
from triplestore.evaluate import evaluation, small_rules
from triplestore.evaluate.thresholds import EVALUATION
from triplestore.kernels.rows.sorted_sets import place_near
from triplestore.kernels.rules import fire as kernels
from triplestore.maintenance.strategies import STRATEGIES, strategy

SHAPES = [
    ":A[?x] :- :B[?x] .",
    ":A[?y] :- :p[?x, ?y] .",
    ":p[?y, ?x] :- :q[?x, ?y] .",
    ":A[:a] :- :p[?x, :b] .",
    ":A[?x] :- :p[?x, ?x] .",
    ":p[?x, ?x] :- :A[?x] .",
    ":p[:a, ?x] :- :q[:b, ?x] .",
    ":A[?y] :- :B[?x], :p[?x, ?y] .",
    ":A[?x] :- :p[?x, ?y], :B[?y] .",
    ":q[?x, ?y] :- :p[?x, ?y], :p[?y, ?x] .",
    ":q[?x, ?z] :- :p[?x, ?y], :q[?y, ?z] .",
    ":q[?y, ?z] :- :p[?x, ?y], :q[?x, ?z] .",
    ":p[?x, ?z] :- :p[?x, ?y], :p[?z, ?y] .",
    ":A[?x] :- :p[?x, ?y], :q[?x, :a] .",
    ":B[?y] :- :A[?x], :q[:a, ?y], :p[?x, ?y] .",
    ":A[?x] :- :p[?x, ?y], :q[?y, ?z], :B[?z] .",
    ":A[?z] :- :A[?x], :p[?x, ?y], :p[?y, ?z], :B[?y] .",
    ":A[?x] :- :B[?x], :B[:a] .",
    # families: rules that differ in constants
    ":A[?x] :- :B[?x] . :B[?x] :- :C[?x] . :C[?x] :- :D[?x] . :D[?x] :- :A[?x] .",
    ":A[?y] :- :B[?x], :p[?x, ?y] . :B[?y] :- :A[?x], :p[?x, ?y] . :C[?y] :- :A[?x], :p[?x, ?y] .",
    ":A[?x] :- :p[?x, :a] . :B[?x] :- :p[?x, :b] . :C[?x] :- :p[?x, :c] .",
    ":p[:a, ?x] :- :A[?x], :p[?x, :b] . :p[:b, ?x] :- :B[?x], :p[?x, :a] .",
    ":A[?y] :- :A[?x], :p[?x, ?y], :B[?y] . :B[?y] :- :C[?x], :p[?x, ?y], :A[?y] .",
]


@pytest.fixture
def fired(monkeypatch: pytest.MonkeyPatch) -> Counter[bool]:
    """Kernels as if they were loaded; how often a family was done by one, and how often refused."""
    found: Counter[bool] = Counter()
    fire = small_rules.fire_small

    def counted(*arguments: Any) -> small_rules.Done | None:
        done = fire(*arguments)
        found[done is not None] += 1
        return done

    monkeypatch.setattr(small_rules, "loaded_kernels", lambda: kernels)
    monkeypatch.setattr(evaluation, "fire_small", counted)
    return found


@pytest.mark.parametrize("name", ["dred", "fbf", "counting"])
@pytest.mark.parametrize("text", SHAPES)
def test_shapes__of_every_kind__conclude_what_plans_do(
    text: str, name: str, fired: Counter[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    rules, held = program(text), random_facts(text)
    counts: list[list[dict[str, int]]] = []
    for kernel in (True, False):
        if not kernel:
            monkeypatch.setattr(evaluation, "fire_small", lambda *_: None)
        driver, now = Driver(), set(held)
        done = [driver.step(facts(" ".join(held)), (), rules, strategy(name))]
        for gone in (held[:2], held[2:9], held[4:]):
            done.append(driver.step((), facts(" ".join(gone)), None, strategy(name)))
            now -= set(gone)
            check_state(driver, rules, frozenset(facts(" ".join(now))), f"without {gone}")
        done.append(driver.step(facts(" ".join(held)), (), None, strategy(name)))
        check_state(driver, rules, frozenset(facts(" ".join(held))), "all again")
        counts.append([dict(one.work.run.instances) for one in done])
    assert counts[0] == counts[1]  # instances considered, by phase
    assert fired[True]


def random_facts(seed: str, size: int = 24) -> list[str]:
    """Facts of few individuals, so that rules find something."""
    rng = random.Random(seed)
    names = "abcdef"
    made = {f"{rng.choice('ABCD')}({rng.choice(names)})" for _ in range(size)}
    made |= {f"{rng.choice('pq')}({rng.choice(names)}, {rng.choice(names)})" for _ in range(size)}
    return sorted(made)


@pytest.mark.parametrize("seed", range(24))
def test_random_schedules__with_small_rules(seed: int, fired: Counter[bool]) -> None:
    rng = random.Random(seed)
    case = random_case(seed)
    if engine_takes(case):
        check_case(case, lambda: strategy(rng.choice(list(STRATEGIES))))


@pytest.mark.parametrize("size", [0, 1, 2, 9, 40])
def test_place_near__from_any_place__is_where_a_key_belongs(size: int) -> None:
    rng = np.random.default_rng(size)
    keys = np.unique(rng.integers(0, 50, size).astype(np.uint64))
    for key in range(51):
        for at in range(len(keys) + 1):
            found = place_near.py_func(keys, np.uint64(key), at)
            assert found == keys.searchsorted(np.uint64(key))


def test_too_many_conclusions__are_left_to_plans(
    fired: Counter[bool], tune: Callable[..., None]
) -> None:
    tune(EVALUATION, small_facts=20)
    rules = program(":q[?x, ?z] :- :p[?x, ?y], :p[?y, ?z] . :p[?x, ?y] :- :q[?x, ?y] .")
    hub = facts(" ".join(f"p(n{i}, h) p(h, m{i})" for i in range(9)))
    driver = Driver()
    driver.step(hub, (), rules, strategy("dred"))
    check_state(driver, rules, frozenset(hub), "hub")
    assert fired[False]

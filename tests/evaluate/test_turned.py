"""Rules matched from their smallest atom, the changed facts being one more relation."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.maintenance.checking import check_case, check_state, engine_takes
from tests.maintenance.driver import Driver
from tests.maintenance.notation import facts, program
from tests.maintenance.programs import random_case
from triplestore.evaluate import evaluation, smallest_first
from triplestore.evaluate.thresholds import EVALUATION
from triplestore.maintenance.strategies import STRATEGIES, strategy
from triplestore.relations.thresholds import RELATIONS

FIELDS = """
:var[?y, ?h] :- :alloc[?y, ?h] .
:var[?y, ?h] :- :move[?y, ?x], :var[?x, ?h] .
:field[?b, ?f, ?h] :- :base[?s, ?x], :at[?s, ?f], :from[?s, ?y], :var[?x, ?b], :var[?y, ?h] .
:var[?t, ?h] :- :base2[?s, ?x], :at2[?s, ?f], :into[?s, ?t], :var[?x, ?b], :field[?b, ?f, ?h] .
:A[?h] :- :var[?x, ?h], :var[?y, ?h], :move[?x, ?y], NOT :alloc[?x, ?h] .
"""


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch, tune: Callable[..., None]) -> Counter[bool]:
    """Other beginnings are chosen for few facts as well, whatever their cost; counts how often."""
    found: Counter[bool] = Counter()
    way = smallest_first.turn

    def turn(*arguments: Any) -> Any:
        result = way(*arguments)
        found[result is not None] += 1
        return result

    monkeypatch.setattr(evaluation, "fire_small", lambda *_: None)
    tune(EVALUATION, many_changed=1, turning_rows=-1.0, turning_pays=0.0)
    monkeypatch.setattr(evaluation, "turn", turn)
    tune(RELATIONS, wide_run_keys=1)  # sets of rows of several runs
    return found


def pointers(seed: int) -> list[str]:
    rng = random.Random(seed)
    made = {f"alloc(v{rng.randrange(8)}, h{rng.randrange(6)})" for _ in range(8)}
    made |= {f"move(v{rng.randrange(8)}, v{rng.randrange(8)})" for _ in range(7)}
    for i in range(5):
        made |= {f"base(s{i}, v{rng.randrange(8)})", f"at(s{i}, f{i % 2})"}
        made |= {f"from(s{i}, v{rng.randrange(8)})", f"base2(l{i}, v{rng.randrange(8)})"}
        made |= {f"at2(l{i}, f{i % 2})", f"into(l{i}, v{rng.randrange(8)})"}
    return sorted(made)


@pytest.mark.parametrize("name", ["dred_c", "counting", "fbf_c", "rematerialise"])
def test_turned__facts_and_instances_are_the_same(
    name: str, used: Counter[bool], tune: Callable[..., None]
) -> None:
    rules, held = program(FIELDS), pointers(3)

    def numbers() -> list[dict[str, int]]:
        driver, made = Driver(), []
        for gone in ((), held[:4], held[9:13]):
            for add, take in ((held, ()), ((), gone)):
                done = driver.step(
                    facts(" ".join(add)), facts(" ".join(take)), rules, strategy(name)
                )
                made.append(dict(done.work.run.instances))
                now = set(held) - set(take)
                check_state(driver, rules, frozenset(facts(" ".join(now))), f"without {take}")
        return made

    found = numbers()
    assert used[True]
    tune(EVALUATION, many_changed=1 << 60)
    assert numbers() == found


@pytest.mark.parametrize("seed", range(30))
def test_turned__on_random_schedules(seed: int, used: Counter[bool]) -> None:
    rng = random.Random(seed)
    case = random_case(1_000 + seed)
    if engine_takes(case):
        check_case(case, lambda: strategy(rng.choice(list(STRATEGIES))))


def test_turned__looks_at_fewer_rows(
    monkeypatch: pytest.MonkeyPatch, tune: Callable[..., None]
) -> None:
    monkeypatch.setattr(evaluation, "fire_small", lambda *_: None)
    tune(EVALUATION, many_changed=64)
    rules = program(":out[?s, ?h] :- :at[?s, ?f], :base[?s, ?x], :r[?x, ?b], :W[?b, ?f, ?h] .")
    held = [f"at(s{i}, f{i % 2}) base(s{i}, x{i})" for i in range(40)]
    held += [f"r(x{i}, b{(i + j) % 20})" for i in range(40) for j in range(3)]
    more = [f"W(b{i}, f{j}, h{k})" for i in range(20) for j in range(2) for k in range(20)]
    looked = []
    for dear in (EVALUATION.turning_rows, 1e9):
        driver = Driver()
        with EVALUATION.changed(turning_rows=dear):
            driver.step(facts(" ".join(held)), (), rules, strategy("dred_c"))
            done = driver.step(facts(" ".join(more)), (), None, strategy("dred_c"))
        check_state(driver, rules, frozenset(facts(" ".join(held + more))), "all")
        looked.append(done.work.run.fetched)
    assert 3 * looked[0] < 2 * looked[1], looked

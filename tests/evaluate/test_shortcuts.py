"""Ways around very many rows: facts, counters and numbers of instances are those of the joins."""

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
from triplestore.evaluate import evaluation, existence, generic_join
from triplestore.evaluate.thresholds import EVALUATION
from triplestore.maintenance.strategies import STRATEGIES, strategy
from triplestore.relations.thresholds import RELATIONS
from triplestore.rules.thresholds import RULES

EXISTING = [
    ":A[?x] :- :p[?x, ?y], :q[?x, ?z], :r[?x, ?w] .",
    ":A[?x] :- :p[?y, ?x], :q[?x, ?z], NOT :B[?x] .",
    ":s[?x, ?y] :- :p[?x, ?y], :q[?x, ?z], :r[?w, ?y] .",
    ":A[?x] :- :p[?x, ?y], :q[?y, ?z], :r[?z, ?w] .",
    ":p[?x, ?z] :- :p[?x, ?y], :q[?y, ?z], :r[?z, ?w], :r[?x, ?v] .",
    ":A[?x] :- :p[?x, ?y], :q[?x, ?z] . :B[?x] :- :p[?x, ?y], :q[?x, ?z] .",
    ":t[?x, ?y, ?x] :- :p[?x, ?y], :q[?y, ?z], :r[?x, ?w] .",
    ":A[?y] :- :p[?x, ?y], :A[?x], :q[?x, ?z] .",
]

CYCLES = [
    ":t[?x, ?y, ?z] :- :p[?x, ?y], :q[?y, ?z], :r[?z, ?x] .",
    ":t[?x, ?y, ?z] :- :p[?x, ?y], :p[?y, ?z], :p[?z, ?x] .",
    ":A[?x] :- :p[?x, ?y], :q[?y, ?z], :r[?z, ?x] .",
    ":p[?x, ?z] :- :p[?x, ?y], :q[?y, ?z], :r[?x, ?z] .",
    ":A[?x] :- :p[?x, ?y], :q[?y, ?z], :r[?z, ?x], :p[?z, ?w], NOT :B[?z] .",
    ":A[?y] :- :p[?x, ?y], :q[?y, ?z], :r[?z, ?x], NOT :q[?z, ?x], NOT :B[?z] .",
    ":t[?a, ?b, ?d] :- :p[?a, ?b], :p[?a, ?c], :p[?b, ?c], :p[?a, ?d], :p[?b, ?d], :p[?c, ?d] .",
]


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch, tune: Callable[..., None]) -> Counter[str]:
    """Shortcuts also for few rows; how often each was taken."""
    found: Counter[str] = Counter()

    def counting(way: Callable[..., Any], taken: Callable[..., bool], *modules: object) -> None:
        name = way.__name__

        def counted(*arguments: Any) -> Any:
            result = way(*arguments)
            found[name] += taken(result, arguments)
            return result

        for module in modules:
            monkeypatch.setattr(module, name, counted)

    monkeypatch.setattr(evaluation, "fire_small", lambda *_: None)
    tune(EVALUATION, few_rows=1, many_merged=1, cycle_fewer=1.0, cycle_looks=0.0)
    tune(RELATIONS, table_ids=1)
    tune(EVALUATION, merging_pays=1.0)
    counting(existence.exists, lambda result, _: result is not None, evaluation)
    counting(generic_join.crossing, lambda result, _: result is not None, generic_join)
    counting(generic_join.closings, lambda result, _: result is not None, generic_join)
    counting(existence.merged, lambda result, given: result[1] < given[4], evaluation, generic_join)
    return found


def random_facts(seed: str, size: int = 16) -> list[str]:
    """Facts of few individuals and a hub."""
    rng = random.Random(seed)
    names = ["a", "b", "c", "d", "e", "h", "h", "h"]
    made = {f"{rng.choice('AB')}({rng.choice(names)})" for _ in range(4)}
    for _ in range(3 * size):
        made.add(f"{rng.choice('pqr')}({rng.choice(names)}, {rng.choice(names)})")
    for name in "pqr":  # many ways into the hub, and few out of it, or the other way round
        ways = [f"n{i}, h" if name == "p" else f"h, n{i}" for i in range(8)]
        made.update(f"{name}({way})" for way in ways)
    return sorted(made)


def numbers_of(text: str, name: str) -> list[dict[str, int]]:
    """Instances by phase, after checking every state against the oracle."""
    rules, held = program(text), random_facts(text)
    driver, now = Driver(), set(held)
    done = [driver.step(facts(" ".join(held)), (), rules, strategy(name))]
    check_state(driver, rules, frozenset(facts(" ".join(now))), "at first")
    for gone in (held[:2], held[5:20], held[::3]):
        done.append(driver.step((), facts(" ".join(gone)), None, strategy(name)))
        now -= set(gone)
        check_state(driver, rules, frozenset(facts(" ".join(now))), f"without {gone}")
        done.append(driver.step(facts(" ".join(gone)), (), None, strategy(name)))
        now |= set(gone)
        check_state(driver, rules, frozenset(facts(" ".join(now))), f"with {gone}")
    return [dict(one.work.run.instances) for one in done]


PATHS = [
    ":s[?v, ?z] :- :p[?v, ?w], :q[?w, ?x], :r[?x, ?y], :p[?y, ?z] .",
    ":s[?u, ?z] :- :p[?u, ?v], :q[?v, ?w], :r[?w, ?x], :p[?x, ?y], :q[?y, ?z] .",
]


@pytest.mark.parametrize("name", ["dred_c", "rematerialise"])
@pytest.mark.parametrize("text", PATHS)
def test_shortcuts__rows_that_stand_for_several_are_merged_again(
    text: str,
    name: str,
    used: Counter[str],
    monkeypatch: pytest.MonkeyPatch,
    tune: Callable[..., None],
) -> None:
    again: list[bool] = []
    weighted = existence.weights_of

    def asked(family: Any, rows: Any) -> Any:
        found = weighted(family, rows)
        again.append(found is not None)
        return found

    monkeypatch.setattr(existence, "weights_of", asked)
    found = numbers_of(text, name)
    assert used["merged"] and any(again)
    tune(EVALUATION, few_rows=1 << 60, many_merged=1 << 60)
    assert found == numbers_of(text, name)


@pytest.mark.parametrize("name", ["dred_c", "counting", "rematerialise"])
@pytest.mark.parametrize("text", [*EXISTING, *CYCLES])
def test_shortcuts__count_what_joins_make(
    text: str,
    name: str,
    used: Counter[str],
    monkeypatch: pytest.MonkeyPatch,
    tune: Callable[..., None],
) -> None:
    found = numbers_of(text, name)
    assert used["exists"] or text in CYCLES
    assert used["crossing"] or text in EXISTING
    monkeypatch.setattr(generic_join, "crossing", lambda *_: None)
    assert found == numbers_of(text, name)
    assert used["closings"] or text in EXISTING
    tune(EVALUATION, few_rows=1 << 60, many_merged=1 << 60)
    assert found == numbers_of(text, name)


def test_rows_alike__are_merged(used: Counter[str]) -> None:
    numbers_of(":s[?x, ?w] :- :p[?x, ?y], :q[?y, ?z], :r[?z, ?w] .", "dred_c")
    assert used["merged"]


@pytest.mark.parametrize("seed", range(24))
def test_shortcuts__on_random_schedules(seed: int, used: Counter[str]) -> None:
    rng = random.Random(seed)
    case = random_case(seed)
    if engine_takes(case):
        check_case(case, lambda: strategy(rng.choice(list(STRATEGIES))))


def test_atoms_that_close_a_cycle__come_first() -> None:
    diamonds = program(
        ":w[?a, ?b, ?c, ?d] :- :p[?a, ?b], :p[?b, ?d], :p[?a, ?c], :p[?c, ?d], :p[?b, ?c] ."
    )
    rng = random.Random(7)
    held = facts(" ".join(f"p(n{rng.randrange(40)}, n{rng.randrange(40)})" for _ in range(300)))
    looked = []
    for closes in (RULES.closing_share, 1.0):
        driver = Driver()
        with RULES.changed(closing_share=closes):
            done = driver.step(held, (), diamonds, strategy("dred_c"))
        check_state(driver, diamonds, frozenset(held), "diamonds")
        looked.append(done.work.run.fetched)
    assert 2 * looked[0] < looked[1]


def test_stars__of_more_instances_than_could_be_listed__are_counted() -> None:
    properties = "abcdef"
    text = ":A[?x] :- " + ", ".join(f":{p}[?x, ?v{p}]" for p in properties) + " ."
    held = facts(
        " ".join(f"{p}(n{x}, m{y})" for p in properties for x in range(60) for y in range(9))
    )
    driver = Driver()
    done = driver.step(held, (), program(text), strategy("dred_c"))
    assert done.work.run.instances["insertion"] == 60 * 9**6

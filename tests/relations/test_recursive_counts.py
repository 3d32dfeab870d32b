"""The table of recursive counters is what is counted from the start, whatever changed the facts."""

from __future__ import annotations

import random
from collections.abc import Iterable

import numpy as np
import pytest

from tests.maintenance.checking import check_state
from tests.maintenance.driver import Driver
from tests.maintenance.graphs import RULES, random_graph_case
from tests.maintenance.makers import MAKERS
from tests.maintenance.naive import Fact, counts
from tests.maintenance.notation import facts, program
from tests.maintenance.programs import random_case
from triplestore.errors import ProgramError
from triplestore.maintenance.steps.stratum import Strategy, StratumUpdate
from triplestore.maintenance.strategies import strategy
from triplestore.maintenance.update import count_recursive
from triplestore.relations.facts.counts import RecursiveCounts
from triplestore.relations.facts.fact_sets import RelationKey
from triplestore.relations.packed_keys import columns_of
from triplestore.rules.simplify import simplify

REACH = ":B[?y] :- :T[?x, ?y], :B[?x] ."


def check_recursive(driver: Driver, explicit: Iterable[Fact]) -> bool:
    """The table is what is counted from the start; returns whether it had to be made anew."""
    assert driver.compiled is not None
    lost = driver.recursive is None
    if driver.recursive is None:
        driver.recursive = count_recursive(driver.compiled, driver.tables, driver.terms)
    found = {
        one: count
        for name, keys, by in driver.recursive.items()
        for one, count in zip(_listed(driver, name, keys), by.tolist(), strict=True)
    }
    by_rule = counts(driver.compiled.rules, explicit, driver.compiled.stratification).recursive
    assert found == {one: count for one, count in by_rule.items() if count}
    return lost


def _listed(driver: Driver, name: RelationKey, keys: np.ndarray) -> list[Fact]:
    rows = zip(*columns_of(keys, name[1] if isinstance(name, tuple) else 2), strict=True)
    found: list[Fact] = []
    for row in rows:
        terms = [driver.dictionary.key(int(term)) for term in row]
        if isinstance(name, tuple):
            found.append(("r", driver.dictionary.key(name[0]), *terms))
        else:
            s, o = (terms[1], terms[0]) if name == driver.type_id else terms
            found.append(("t", s, driver.dictionary.key(name), o))
    return found


@pytest.mark.parametrize("name", [*MAKERS, "mixed"])
def test_recursive_counts__after_every_update__are_those_from_the_start(name: str) -> None:
    for seed in range(len(RULES)):
        case = random_graph_case(seed)
        rng = random.Random(seed)
        driver = Driver("one" if seed % 2 else "levels")
        driver.recursive = RecursiveCounts()
        explicit = set(case.facts)
        driver.step(explicit, (), case.program, MAKERS["dred"]())
        check_recursive(driver, explicit)
        for step in case.updates:
            chosen = rng.choice(list(MAKERS)) if name == "mixed" else name
            driver.step(step.added, step.deleted, None, MAKERS[chosen]())
            explicit = (explicit - step.deleted) | step.added
            check_state(driver, case.program, frozenset(explicit), f"seed {seed}")
            assert not check_recursive(driver, explicit)


@pytest.mark.parametrize("name", ["dred", "dred_c", "bf_c", "fbf beyond the facts", "fbf_c soon"])
def test_recursive_counts__rules_that_come_and_go__are_those_from_the_start(name: str) -> None:
    for seed in range(400, 425):
        case = random_case(seed)
        try:
            states = [(simplify(given), given, explicit) for given, explicit in case.states()]
        except ProgramError:
            continue
        driver = Driver("one" if seed % 2 else "levels")
        driver.recursive = RecursiveCounts()
        before = None
        for number, (_, given, explicit) in enumerate(states):
            step = case.steps[number - 1] if number else None
            added, deleted = (step.additions, step.deletions) if step else (explicit, ())
            driver.step(added, deleted, given if given != before else None, MAKERS[name]())
            assert not check_recursive(driver, explicit), (seed, number)
            before = given


def test_recursive_counts__rematerialised_stratum__are_made_anew() -> None:
    driver = Driver()
    driver.recursive = RecursiveCounts()
    given = facts("T(a, b) T(b, c) T(c, b) B(a) B(b)")
    driver.step(given, (), program(REACH), strategy("dred_c"))
    driver.step((), facts("B(b)"), None, strategy("rematerialise"))
    assert check_recursive(driver, given - facts("B(b)"))


class SecondThoughts(Strategy):
    """DRed^c, undone, and B/F^c."""

    name = "second thoughts"

    def run(self, update: StratumUpdate) -> tuple[str, str]:
        mark = update.work.mark()
        strategy("dred_c").run(update)
        update.work.restore(mark)
        update.begin()
        return strategy("bf_c").run(update)


def test_recursive_counts__strategy_that_changes_its_mind__are_those_from_the_start() -> None:
    for seed in range(len(RULES)):
        case = random_graph_case(seed)
        driver = Driver("one" if seed % 2 else "levels")
        driver.recursive = RecursiveCounts()
        explicit = set(case.facts)
        driver.step(explicit, (), case.program, SecondThoughts())
        for step in case.updates:
            driver.step(step.added, step.deleted, None, SecondThoughts())
            explicit = (explicit - step.deleted) | step.added
            assert not check_recursive(driver, explicit)


def test_recursive_counts__update_that_is_given_up__leaves_no_trace() -> None:
    table = RecursiveCounts()
    keys = np.array([1 << 32 | 2, 1 << 32 | 3], np.uint64)
    table.add(9, keys, np.array([2, 1]))
    changes = table.begin()
    changes.change(9, keys, np.array([-2, 1]))
    other = changes.copied()
    other.change(9, keys, np.array([0, 5]))
    assert changes.current(9, keys).tolist() == [0, 2]
    assert table.current(9, keys).tolist() == [2, 1]
    changes.keep()
    assert [(name, keys.tolist(), by.tolist()) for name, keys, by in table.items()] == [
        (9, [1 << 32 | 3], [2])
    ]

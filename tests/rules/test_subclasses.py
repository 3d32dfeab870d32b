"""Sub-class axioms beside a program: at the bottom they are as exact as their rules."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from tests.maintenance.checking import check_case, check_state, engine_takes
from tests.maintenance.driver import Driver
from tests.maintenance.notation import facts, program
from tests.maintenance.programs import Case, random_case
from tests.rules.test_hierarchies import case
from triplestore import Store
from triplestore.datalog.program import Program
from triplestore.datalog.text import read
from triplestore.errors import ProgramError
from triplestore.maintenance.steps.stratum import Strategy
from triplestore.maintenance.strategies import STRATEGIES, strategy
from triplestore.rules.compiled_program import Compiled
from triplestore.rules.subclass_rules import copied_class
from triplestore.rules.thresholds import RULES


@pytest.fixture(autouse=True)
def few(tune: Callable[..., None]) -> None:
    """A few axioms are enough to be put beside."""
    tune(RULES, many_subclasses=1)


def any_strategy(rng: random.Random) -> Strategy:
    return strategy(rng.choice(list(STRATEGIES)))


def compiled(text: str) -> Compiled:
    driver = Driver(beside=True)
    rules, beside = driver.apart(read("@prefix : <http://e/> . " + text))
    return Compiled(rules, driver.ids, beside=beside)


def names_of(made: Compiled) -> list[str]:
    """The axioms at the bottom, in short."""
    if made.bottom is None:
        return []
    rules = made.bottom.rules(made.bottom.keys)
    return sorted(str(rule).replace("<http://e/", "").replace(">", "") for rule in rules)


CHAIN = ":B[?x] :- :A[?x] . :C[?x] :- :B[?x] . :D[?x] :- :C[?x] . "


def test_at_bottom__axioms_alone__all_of_them() -> None:
    made = compiled(CHAIN)
    assert len(names_of(made)) == 3
    assert made.rules == ()
    assert list(made.strata.hierarchies) == [1]


@pytest.mark.parametrize(
    ("more", "left"),
    [
        (":B[?x] :- :p[?x, ?y] .", []),
        (":C[?x] :- :p[?x, ?y] .", ["B[?x] :- A[?x] ."]),
        (":C[?x] :- :D[?x] .", ["B[?x] :- A[?x] ."]),
        (":A[?x] :- :D[?x] .", []),
        (":p[?x, ?x] :- :D[?x] .", ["B[?x] :- A[?x] .", "C[?x] :- B[?x] .", "D[?x] :- C[?x] ."]),
        ("[?x, ?p, ?y] :- [?y, ?p, ?x], :q[?p, ?p] .", []),
        ("[?x, rdf:type, ?y] :- :q[?x, ?y] .", []),
    ],
)
def test_at_bottom__what_other_rules_conclude__is_not(more: str, left: list[str]) -> None:
    made = compiled(CHAIN + more)
    assert names_of(made) == left
    assert len(names_of(made)) + sum(map(copied_class, made.rules)) >= 3


def schedules(seed: int) -> Case:
    return case(seed) if seed % 2 else random_case(seed)


def check(seed: int) -> None:
    one = schedules(seed)
    if not engine_takes(one):
        return
    rng = random.Random(seed)
    beside, modules = seed % 3 > 0, bool(rng.randrange(2))
    driver = Driver(beside=beside, pairs=not beside, modules=modules)
    try:
        check_case(one, lambda: strategy(rng.choice(list(STRATEGIES))), driver=driver)
    except ProgramError:
        assert seed % 2 == 0  # random programs need not have strata


@pytest.mark.parametrize("part", range(4))
def test_subclasses__random_schedules__equal_the_oracle(part: int) -> None:
    for seed in range(part * 25, part * 25 + 25):
        check(seed)


@pytest.mark.long
def test_subclasses__many_random_schedules__equal_the_oracle() -> None:
    for seed in range(5_000, 8_000):
        check(seed)


def test_subclasses__threshold_crossed__facts_and_counters_stay(
    tune: Callable[..., None],
) -> None:
    tune(RULES, many_subclasses=4)
    for seed in range(1, 60, 2):
        rng = random.Random(seed)
        driver = Driver(beside=True)
        check_case(case(seed), partial(any_strategy, rng), driver=driver)


@pytest.mark.parametrize("name", STRATEGIES)
def test_pairs__that_become_recursive_and_cease_to_be__are_counted_as_they_are(name: str) -> None:
    """A rule that stays may be a pair at the bottom, a rule above it, or part of a cycle."""
    asserted = frozenset(facts("A(a) B(b) D(d) E(e) q(d, a) q(e, e)"))
    above = [
        "",
        ":A[?x] :- :D[?x], :q[?x, ?x] .",  # all are in a cycle
        ":B[?x] :- :q[?x, ?y] .",  # some are not at the bottom any more
        ":C[?x] :- :D[?x], :q[?y, ?x] .",
        ":E[?x] :- :D[?x] .",
    ]
    for first in range(len(above)):
        driver = Driver(pairs=True)
        for more in [*above[first:], *above[first::-1], *above]:
            rules = program(CHAIN + more)
            driver.step(asserted, (), rules, strategy(name))
            check_state(driver, rules, asserted, more)


def test_rules__of_pairs__are_those_they_were_made_of() -> None:
    driver = Driver(beside=True)
    rules, beside = driver.apart(read("@prefix : <http://e/> . " + CHAIN))
    assert rules == Program()
    assert Program(beside.rules()) == read("@prefix : <http://e/> . " + CHAIN)
    assert (np.diff(beside.keys.astype(np.int64)) > 0).all()


def test_pairs__are_taken_out_of_a_program__but_for_loops_and_what_is_not_alone() -> None:
    text = CHAIN + ":A[?x] :- :A[?x] . :E[?x], :F[?x] :- :D[?x] . :q[?x, ?y] :- :p[?x, ?y] ."
    program = read("@prefix : <http://e/> . " + text)
    driver = Driver()
    made = Compiled(program, driver.ids, pairs=True)
    assert len(names_of(made)) == 0  # a class below itself is a cycle: nothing above it is known
    made = Compiled(
        program - read("@prefix : <http://e/> . :A[?x] :- :A[?x] ."), driver.ids, pairs=True
    )
    assert len(names_of(made)) == 3
    assert sorted(len(rule.body) for rule in made.rules) == [1, 1, 1]
    assert made.bottom is not None
    assert set(made.bottom.rules(made.bottom.keys)) <= set(program.rules)


def test_pairs__too_few__stay_rules(tune: Callable[..., None]) -> None:
    tune(RULES, many_subclasses=4)
    made = Compiled(read("@prefix : <http://e/> . " + CHAIN), Driver().ids, pairs=True)
    assert made.bottom is None and len(made.rules) == 3


def test_store__with_pairs__rules_that_come_and_go() -> None:
    prefix = "@prefix : <http://e/> . "
    with Store() as store:
        store.load(prefix + ":x a :A . :y a :C . :z :p :y .", format="turtle")
        store.reason(rules=prefix + CHAIN + ":A[?x] :- :p[?x, ?y] .")
        assert store.count("inferred") == 8
        store.remove_rules(prefix + ":C[?x] :- :B[?x] .")
        assert store.count("inferred") == 4
        assert store.audit().ok
        store.add_rules(prefix + ":C[?x] :- :A[?x], :B[?x] .")
        assert store.count("inferred") == 8
        store.remove_rules(prefix + ":A[?x] :- :p[?x, ?y] .")
        assert store.count("inferred") == 4
        assert store.audit().ok
        assert len(store.program) == 3

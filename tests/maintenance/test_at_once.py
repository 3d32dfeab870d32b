"""Updates in which several atoms of one instance change at once, and what reports say of facts that
go and come back: each instance is counted once, whichever of its atoms it is found by."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from tests.evaluate.test_plentiful import run as run_plentiful
from tests.maintenance.checking import check_state
from tests.maintenance.driver import Driver
from tests.maintenance.naive import Fact
from tests.maintenance.notation import facts, program
from tests.maintenance.test_update import run
from triplestore.maintenance.strategies import STRATEGIES, strategy
from triplestore.relations.thresholds import RELATIONS

NAMES = "ABDE"
STATES = tuple(product((False, True), repeat=len(NAMES)))

ALWAYS = " :C[?x] :- :T[:root, ?x] ."
"""Facts that stay: only their counters would show an instance that was counted twice."""

NONRECURSIVE = ":C[?x] :- :A[?x], :B[?x], NOT :D[?x], NOT :E[?x] ."
RECURSIVE = ":C[?y] :- :C[?x], :A[?y], NOT :D[?y], :T[?x, ?y], NOT :E[?y], :B[?y] ."
AGGREGATED = ":N[?g, ?n] :- AGGREGATE(:T[?g, ?x], :A[?x], NOT :D[?x] ON ?g BIND count(?x) AS ?n) ."


def every_transition() -> tuple[set[Fact], set[Fact]]:
    """Individuals for each two of all combinations of four classes: before, and after."""
    before, after = set(), set()
    for number, (one, other) in enumerate(product(STATES, STATES)):
        for states, found in ((one, before), (other, after)):
            classes = (name for name, there in zip(NAMES, states, strict=True) if there)
            for name in classes:
                found |= facts(f"{name}(i{number})")
    return before, after


@pytest.mark.parametrize("rules", [NONRECURSIVE, NONRECURSIVE + ALWAYS, RECURSIVE, AGGREGATED])
@pytest.mark.parametrize("name", STRATEGIES)
def test_all_atoms_of_instances_change_at_once(name: str, rules: str) -> None:
    before, after = every_transition()
    edges = " ".join(f"T(root, i{i})" for i in range(len(STATES) ** 2))
    always = facts(f"C(root) {edges}") if "T[" in rules else set()
    driver = Driver()
    driver.step(before | always, (), program(rules), strategy(name))
    driver.step(after - before, before - after, None, strategy(name))
    check_state(driver, program(rules), frozenset(after | always), name)


@pytest.mark.parametrize("name", ["dred", "dred_c", "bf", "fbf_c", "rematerialise", "mixed"])
def test_facts_that_come_beside_what_was_there(name: str, tune: Callable[..., None]) -> None:
    tune(RELATIONS, run_keys=0)
    run(500, 8, name)
    run_plentiful(1, 1, name)
    if name == "mixed":
        return
    driver, rules = Driver(), program(":T[?x, ?z] :- :T[?x, ?y], :T[?y, ?z] .")
    chain = [facts(f"T(n{i}, n{i + 1})") for i in range(12)]
    driver.step(chain[0] | chain[5], (), rules, strategy(name))
    driver.step(set().union(*chain), (), None, strategy(name))
    check_state(driver, rules, frozenset(set().union(*chain)), name)


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_report__what_goes_and_comes_back__is_not_in_it(name: str) -> None:
    rules = program(":B[?y] :- :B[?x], :T[?x, ?y] . :B[?x] :- :A[?x] .")
    driver = Driver()
    given = facts("A(a) A(c) T(a,b) T(b,c) T(c,a) T(c,d) T(b,e)")
    driver.step(given, (), rules, strategy(name))
    closure = driver.step(facts("T(d,b) A(f)"), facts("A(a) T(a,b) T(b,e)"), None, strategy(name))
    (report,) = (one for one in closure.strata if one.number == 1)
    assert (report.gone, report.added) == (1, 1)
    after = given - facts("A(a) T(a,b) T(b,e)") | facts("T(d,b) A(f)")
    check_state(driver, rules, frozenset(after), name)

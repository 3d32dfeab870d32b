"""Closures that other recursive rules go through: exact under every strategy, and by differences.

`check_grounds` asserts after every step what is kept of them; the oracle says what follows.
"""

from __future__ import annotations

import random

import pytest

from tests.maintenance.checking import check_state
from tests.maintenance.driver import Driver
from tests.maintenance.leaps import LeapingCase, check_grounds, leaping_case
from tests.maintenance.notation import facts, key, program
from triplestore.maintenance.changed_rows import Closure
from triplestore.maintenance.strategies import STRATEGIES, strategy
from triplestore.maintenance.thresholds import MAINTENANCE

TRANS = ":R[?x, ?z] :- :R[?x, ?y], :R[?y, ?z] . "
SAME = ":E[?x, ?y] :- :R[?x, ?y], :R[?y, ?x] . :R[?x, ?y] :- :E[?x, ?y] . "


def run(first: int, count: int, name: str) -> int:
    """Run some cases, beginning with a seed; returns the number of edges that recursion made."""
    found = 0
    for seed in range(first, first + count):
        rng = random.Random(seed)
        case = leaping_case(rng)
        few, many = rng.choice((0, 1 << 12)), rng.choice((0, 3, 1 << 12))
        with MAINTENANCE.changed(few_new_edges=few, many_goals=many):
            found += _run(case, rng, name, seed)
    return found


def _run(case: LeapingCase, rng: random.Random, name: str, seed: int) -> int:
    found = 0
    driver = Driver(rng.choice(("levels", "levels", "one")), modules=True)
    driver.ids([key("a"), key("b")])  # a query's own ids, once given, are not the dictionary's
    for number, (rules, held, step) in enumerate(case.states()):
        names = list(STRATEGIES) if name == "mixed" else [name]
        if name == "mixed":
            driver.modules = rng.random() < 0.9
            names += ["dred_c"] * len(names)
        how = strategy(rng.choice(names))
        if step is None:
            driver.step(held, (), rules, how)
        else:
            changed = rules if step.rules or (name == "mixed" and rng.random() < 0.2) else None
            driver.step(step.added, step.removed, changed, how)
        where = f"seed {seed} after step {number}"
        check_state(driver, rules, held, where)
        found += check_grounds(driver, where)
    return found


@pytest.mark.parametrize("name", [*STRATEGIES, "mixed"])
def test_leaping__random_schedules__equal_the_oracle(name: str) -> None:
    edges = run(0, 16 if name in ("dred_c", "mixed") else 5, name)
    assert edges or name not in ("dred_c", "mixed")


@pytest.mark.long
@pytest.mark.parametrize("part", range(40))
def test_leaping__many_random_schedules__equal_the_oracle(part: int) -> None:
    run(1_000 + part * 250, 250, ("mixed", "dred_c")[part % 2])


# -- what it costs ---------------------------------------------------------------------------------


def changed(driver: Driver, text: str, removed: bool) -> Closure:
    ends = ((), facts(text)) if removed else (facts(text), ())
    return driver.step(*ends, None, strategy("dred_c"))


def considered(closure: Closure) -> int:
    """The instances of rules, and the pairs, that an update looked at."""
    return sum(closure.instances.values())


@pytest.mark.parametrize("around", [":R[?y, ?x] :- :R[?x, ?y], :A[?x] . ", SAME])
def test_leaping__an_edge_of_a_chain_that_goes_and_comes__costs_what_changes(around: str) -> None:
    driver = Driver(modules=True)
    edges = " ".join(f"R(n{i}, n{i + 1})" for i in range(40))
    driver.step(facts(edges), (), program(TRANS + around), strategy("dred_c"))
    closure = changed(driver, "R(n1, n2)", True)
    assert sum(one.gone for one in closure.strata) == 2 * 39
    assert considered(closure) < 4 * 78  # by the rule it would be one for each node in between
    closure = changed(driver, "R(n1, n2)", False)
    assert sum(one.added for one in closure.strata) == 2 * 39
    assert considered(closure) < 4 * 78
    check_state(driver, program(TRANS + around), frozenset(facts(edges)), "at the end")


def test_leaping__what_has_another_way__is_not_looked_at() -> None:
    """An edge with a way around it: nothing is lost, and nothing is fired."""
    driver = Driver(modules=True)
    edges = " ".join(f"R(n{i}, n{i + 1}) R(n{i}, n{i + 2})" for i in range(100))
    driver.step(facts(edges), (), program(TRANS + SAME), strategy("dred_c"))
    assert considered(changed(driver, "R(n50, n52)", True)) == 0


def test_leaping__a_circle_of_rules_does_not_hold_itself_up() -> None:
    """E and R derive each other: when what began it goes, nothing is left."""
    text = TRANS + ":E[?y, ?x] :- :R[?x, ?y], :A[?x] . :R[?y, ?x] :- :E[?x, ?y] ."
    held = facts("R(a, b) R(b, c) E(d, c) A(a) A(b) A(c) A(d)")
    driver = Driver(modules=True)
    driver.step(held, (), program(text), strategy("dred_c"))
    assert check_grounds(driver, "at first") > 0
    for gone in ("R(a, b)", "E(d, c)", "A(b)", "R(b, c)"):
        changed(driver, gone, True)
        held -= facts(gone)
        check_state(driver, program(text), frozenset(held), f"without {gone}")
        check_grounds(driver, f"without {gone}")


def test_leaping__an_axiom_that_comes_elsewhere__leaves_the_closure_in_place() -> None:
    """Rules of other strata come and go: what is known of this one is still right."""
    driver = Driver(modules=True)
    held = facts("R(a, b) R(b, c) R(c, d)")
    driver.step(held, (), program(TRANS + SAME), strategy("dred_c"))
    (before,) = driver.tables.schemes.values()
    above = TRANS + SAME + ":A[?x] :- :R[?x, ?y] ."
    driver.step((), (), program(above), strategy("dred_c"))
    (after,) = driver.tables.schemes.values()
    assert after.ground.sure is before.ground.sure
    driver.step((), (), program(above + ":R[?y, ?x] :- :R[?x, ?y], :B[?x] ."), strategy("dred_c"))
    driver.step(facts("B(a)"), facts("R(b, c)"), None, strategy("dred_c"))
    text = above + ":R[?y, ?x] :- :R[?x, ?y], :B[?x] ."
    check_state(driver, program(text), frozenset(facts("R(a, b) R(c, d) B(a)")), "at the end")


def test_leaping__a_rule_that_recurses_no_more__makes_its_edges_sure() -> None:
    other = ":E[?x, ?y] :- :R[?x, ?y], :R[?y, ?x] ."
    rest = TRANS.replace(" . ", ", FILTER(!SAMETERM(?x, ?z)) . ") + ":R[?x, ?y] :- :E[?x, ?y] . "
    driver = Driver(modules=True)
    driver.step(facts("R(a, b) E(b, c)"), (), program(rest + other), strategy("dred_c"))
    assert check_grounds(driver, "at first") == 1
    driver.step(facts("R(c, d)"), (), program(rest), strategy("dred_c"))
    assert check_grounds(driver, "without the rule") == 0

"""Compare the engine with the oracle along a random schedule."""

from __future__ import annotations

from collections.abc import Callable

from tests.engine.driver import Driver
from tests.engine.naive import Fact, counts, naive
from tests.engine.programs import Case
from triplestore.datalog.program import Program
from triplestore.datalog.simple import simplify
from triplestore.datalog.stratify import Method
from triplestore.engine.stratum import Strategy
from triplestore.errors import ProgramError
from triplestore.tables import EXPLICIT, INFERRED


def engine_takes(case: Case) -> bool:
    """Whether the engine evaluates all programs of a case: it refuses negations under a filter that
    need a guard which recurses."""
    try:
        for rules, _ in case.states():
            simplify(rules)
    except ProgramError:
        return False
    return True


def check_case(
    case: Case,
    next_strategy: Callable[[], Strategy],
    strata: Method = "levels",
    driver: Driver | None = None,
) -> None:
    """Assert that after every step closure, statuses and counters are those from scratch."""
    driver = driver or Driver(strata)
    before: Program | None = None
    for number, (program, explicit) in enumerate(case.states()):
        changed = program if before is None or program != before else None
        before = program
        if number == 0:
            driver.step(explicit, (), changed, next_strategy())
        else:
            step = case.steps[number - 1]
            driver.step(step.additions, step.deletions, changed, next_strategy())
        check_state(driver, program, explicit, f"seed {case.seed} after step {number}")


def check_state(driver: Driver, program: Program, explicit: frozenset[Fact], where: str) -> None:
    """Assert that what the driver holds is what follows."""
    assert driver.compiled is not None
    got = driver.facts()
    want = naive(program, explicit).facts
    assert want - got.keys() == set(), f"{where}: facts are missing"
    assert got.keys() - want == set(), f"{where}: facts do not follow"
    by_rule = counts(driver.compiled.rules, explicit, driver.compiled.stratification).nonrecursive
    for fact, (status, count) in got.items():
        assert status == (EXPLICIT if fact in explicit else INFERRED), (where, fact)
        assert count == by_rule.get(fact, 0), (where, fact)

"""`auto`: exact whatever it chooses, also when it changes its mind; and it says why."""

from __future__ import annotations

import pytest

from tests.engine.checking import check_case, check_state
from tests.engine.driver import Driver
from tests.engine.notation import facts, program
from tests.engine.programs import random_case
from triplestore.datalog.simple import simplify
from triplestore.engine.strategies import auto
from triplestore.engine.strategies.auto import Auto
from triplestore.errors import ProgramError

RULES = ":B[?y] :- :B[?x], :T[?x, ?y] . :C[?x] :- :B[?x], NOT :D[?x] ."


def chain(length: int) -> str:
    return " ".join(f"T(n{i}, n{i + 1})" for i in range(length)) + " B(n0)"


@pytest.mark.parametrize("first", [400, 430])
def test_auto__that_always_changes_its_mind__equals_the_oracle(first: int) -> None:
    for seed in range(first, first + 30):
        case = random_case(seed)
        try:
            for one, _ in case.states():
                simplify(one)
        except ProgramError:  # refused by the engine
            continue
        check_case(case, lambda: Auto(clock=lambda: -1e9))


def test_auto__when_time_is_up__undoes_the_stratum_and_rematerialises() -> None:
    driver = Driver()
    rules = program(RULES)
    explicit = frozenset(facts(chain(20)))
    driver.step(explicit, (), rules, Auto())
    gone = frozenset(facts("T(n5, n6)"))
    closure = driver.step((), gone, None, Auto(clock=lambda: -1e9))
    assert [report.strategy for report in closure.strata if report.number] == ["rematerialise"] * 2
    assert "took more than" in closure.strata[1].why
    check_state(driver, rules, explicit - gone, "after the change of mind")


def test_auto__large_changes__are_rematerialised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "LEAST", 0.0)
    driver = Driver()
    rules = program(RULES)
    explicit = frozenset(facts(chain(200)))
    driver.step(explicit, (), rules, Auto())
    assert driver.compiled is not None
    for cost in driver.compiled.costs.values():
        cost.full, cost.per_change = 1e-9, {"fbfc": 1.0, "dredc": 1.0}
    gone = frozenset(facts(chain(100))) - frozenset(facts("B(n0)"))
    closure = driver.step((), gone, None, Auto())
    report = next(r for r in closure.strata if r.number == 1)
    assert report.strategy == "rematerialise"
    assert "changes would take" in report.why
    check_state(driver, rules, explicit - gone, "after a large change")


def test_auto__small_changes__are_maintained_and_say_so() -> None:
    driver = Driver()
    explicit = frozenset(facts(chain(20)))
    first = driver.step(explicit, (), program(RULES), Auto())
    assert {r.strategy for r in first.strata if r.number} == {"semi-naive"}
    patient = Auto(clock=lambda: 1e9)  # time is never up
    closure = driver.step((), facts("T(n19, n20)"), None, patient)
    names = {r.number: r.strategy for r in closure.strata}
    assert names[1] == "bfc"  # recursive
    assert names[2] == "dredc"  # not recursive: counters are exact
    assert all("changes, at most" in r.why for r in closure.strata if r.number)


def test_auto__few_changes_that_take_too_long_again_and_again__are_tried_less() -> None:
    driver = Driver()
    explicit = frozenset(facts(chain(40)))
    driver.step(explicit, (), program(RULES), Auto())
    hasty, patient = Auto(clock=lambda: -1e9), Auto(clock=lambda: 1e9)

    def why(edge: int, strategy: Auto, *, away: bool = True) -> str:
        changed = facts(f"T(n{edge}, n{edge + 1})")
        added, deleted = ((), changed) if away else (changed, ())
        closure = driver.step(added, deleted, None, strategy)
        return next(report.why for report in closure.strata if report.number == 1)

    tried = ["took more" in why(edge, hasty) for edge in range(39, 28, -1)]
    assert tried == [True, True, False, False, True, *[False] * 4, True, False]
    assert "at most" in why(29, patient, away=False), "what comes is learned apart"
    assert "time and again" in why(28, patient)
    for edge in range(27, 20, -1):
        why(edge, patient)  # the 8 that are not tried end here
    assert "at most" in why(20, patient)
    assert "took more" in why(19, hasty), "one that worked: the next is tried"
    assert "took more" in why(18, hasty)
    check_state(driver, program(RULES), frozenset(facts(chain(18) + " T(n29, n30)")), "at the end")

"""`auto`: exact whatever it chooses, also when it changes its mind; and it says why."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.maintenance.checking import check_case, check_state
from tests.maintenance.driver import Driver
from tests.maintenance.notation import facts, program
from tests.maintenance.programs import random_case
from triplestore.errors import ProgramError
from triplestore.maintenance import auto
from triplestore.maintenance.auto import Auto
from triplestore.maintenance.budget import Clocks, Overrun
from triplestore.maintenance.steps.stratum import Strategy, StratumUpdate
from triplestore.maintenance.thresholds import MAINTENANCE
from triplestore.rules.simplify import simplify

RULES = ":B[?y] :- :B[?x], :T[?x, ?y] . :C[?x] :- :B[?x], NOT :D[?x] ."


def no_time() -> Clocks:
    """A clock by which time is always up."""
    return -1e9, -1e9


def all_time() -> Clocks:
    """A clock by which time is never up."""
    return 1e9, 1e9


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
        check_case(case, lambda: Auto(clock=no_time))


def test_auto__when_time_is_up__undoes_the_stratum_and_rematerialises() -> None:
    driver = Driver()
    rules = program(RULES)
    explicit = frozenset(facts(chain(20)))
    driver.step(explicit, (), rules, Auto())
    gone = frozenset(facts("T(n5, n6)"))
    closure = driver.step((), gone, None, Auto(clock=no_time))
    assert [report.strategy for report in closure.strata if report.number] == ["rematerialise"] * 2
    assert "took more than" in closure.strata[1].why
    check_state(driver, rules, explicit - gone, "after the change of mind")


def test_auto__where_half_of_all_goes__it_is_done_anew() -> None:
    driver, rules = Driver(), program(RULES)
    explicit = frozenset(facts(chain(200)))
    driver.step(explicit, (), rules, Auto())
    gone = frozenset(facts(chain(101))) - frozenset(facts("B(n0)"))
    closure = driver.step((), gone, None, Auto(clock=all_time))
    assert [r.strategy for r in closure.strata if r.number] == ["rematerialise"] * 2
    assert {r.why for r in closure.strata if r.number} == {"50% of the asserted facts go"}
    check_state(driver, rules, explicit - gone, "after a large change")


@pytest.mark.parametrize(("each", "name"), [(1.0, "rematerialise"), (0.0, "dred_c")])
def test_auto__what_is_known_to_take_longer__is_done_anew(
    each: float, name: str, tune: Callable[..., None]
) -> None:
    tune(MAINTENANCE, least_seconds=0.0)
    driver, rules = Driver(), program(RULES)
    explicit = frozenset(facts(chain(200)))
    driver.step(explicit, (), rules, Auto())
    assert driver.compiled is not None
    cost = driver.compiled.costs[2]
    cost.of(5).each["dred_c"] = each
    gone = frozenset(facts("T(n194, n195)"))
    closure = driver.step((), gone, None, Auto(clock=all_time))
    last = closure.strata[-1]
    assert (last.number, last.strategy) == (2, name)
    assert ("took longer before" in last.why) == (name == "rematerialise")
    assert cost.of(5).each["dred_c"] < each or not each, "it is doubted, and tried again some day"
    check_state(driver, rules, explicit - gone, "after one edge")


COUNT = ":N[?x, ?n] :- AGGREGATE(:T[?x, ?y] ON ?x BIND count(?y) AS ?n) ."
ONE_STRATUM = {
    "recursive": (":B[?y] :- :B[?x], :T[?x, ?y] .", "T(a,b)"),
    "negated": (":C[?x] :- :B[?x], NOT :D[?x] .", "B(a) D(a) D(b)"),
    "counted": (COUNT, "T(a,b)"),
}


@pytest.mark.parametrize(("name", "coming"), [("recursive", "B(a)"), ("negated", "B(b)")])
def test_auto__what_only_brings_facts__is_never_done_anew(name: str, coming: str) -> None:
    rules, given = ONE_STRATUM[name]
    driver = Driver()
    driver.step(facts(given), (), program(rules), Auto())
    closure = driver.step(facts(coming), (), None, Auto(clock=no_time))
    assert [r.why for r in closure.strata if r.number] == ["1 change, and nothing is lost"]
    check_state(driver, program(rules), frozenset(facts(given) | facts(coming)), name)


def test_auto__a_rule_more_beside_aggregates__is_never_done_anew() -> None:
    driver = Driver()
    given = facts("T(a,b) B(a)")
    driver.step(given, (), program(COUNT), Auto())
    more = program(COUNT + " :C[?x] :- :B[?x] .")
    closure = driver.step((), (), more, Auto(clock=no_time))
    assert {r.strategy for r in closure.strata if r.number} == {"dred_c"}
    check_state(driver, more, frozenset(given), "one rule more")


@pytest.mark.parametrize(
    ("name", "added", "deleted"),
    [
        ("recursive", "", "T(a,b)"),
        ("recursive", "T(b,c)", "B(a)"),
        ("negated", "D(c)", ""),  # it takes C(c) away
        ("negated", "", "B(c)"),
        ("counted", "T(a,c)", ""),  # one more is another number
        ("counted", "", "T(a,b)"),
    ],
)
def test_auto__what_takes_facts_away__may_be_done_anew(name: str, added: str, deleted: str) -> None:
    rules, given = ONE_STRATUM[name][0], facts(ONE_STRATUM[name][1] + " B(a) B(c)")
    driver = Driver()
    driver.step(given, (), program(rules), Auto())
    closure = driver.step(facts(added), facts(deleted), None, Auto(clock=no_time))
    assert [r.strategy for r in closure.strata][-1] == "rematerialise"
    check_state(driver, program(rules), (given - facts(deleted)) | facts(added), name)


def test_auto__where_most_is_dropped__it_is_done_anew(
    monkeypatch: pytest.MonkeyPatch, tune: Callable[..., None]
) -> None:
    tune(MAINTENANCE, least_seconds=0.0)
    monkeypatch.setitem(auto.STRATEGIES, "bf_c", InVain)
    driver, rules = Driver(), program(ONE_STRATUM["recursive"][0])
    explicit = facts(chain(400))
    driver.step(explicit, (), rules, Auto())
    for edge, name in ((390, "dred_c"), (30, "rematerialise")):
        gone = facts(f"T(n{edge}, n{edge + 1})")
        explicit -= gone
        closure = driver.step((), gone, None, Auto(clock=all_time))
        assert [r.strategy for r in closure.strata][-1] == name
        check_state(driver, rules, frozenset(explicit), name)


class InVain(Strategy):
    """Takes longer than it may."""

    def run(self, update: StratumUpdate) -> tuple[str, str]:
        raise Overrun


def test_auto__what_a_negation_loses__brings_facts() -> None:
    rules, given = ONE_STRATUM["negated"]
    driver = Driver()
    driver.step(facts(given), (), program(rules), Auto())
    closure = driver.step((), facts("D(a)"), None, Auto(clock=no_time))
    assert [r.strategy for r in closure.strata][-1] == "dred_c"
    check_state(driver, program(rules), facts(given) - facts("D(a)"), "C(a) holds")


def test_auto__rules_that_go__may_be_done_anew() -> None:
    both = program(":B[?y] :- :B[?x], :T[?x, ?y] . :B[?y] :- :S[?y] .")
    given = facts("T(a,b) S(a)")
    driver = Driver()
    driver.step(given, (), both, Auto())
    left = program(":B[?y] :- :B[?x], :T[?x, ?y] .")
    closure = driver.step((), (), left, Auto(clock=no_time))
    assert [r.strategy for r in closure.strata][-1] == "rematerialise"
    check_state(driver, left, given, "B is empty")


def test_auto__small_changes__are_maintained_and_say_so(tune: Callable[..., None]) -> None:
    tune(MAINTENANCE, least_seconds=0.0)  # as if there were much to be saved by a search
    driver = Driver()
    explicit = frozenset(facts(chain(20)))
    first = driver.step(explicit, (), program(RULES), Auto())
    assert {r.strategy for r in first.strata if r.number} == {"semi-naive"}
    patient = Auto(clock=all_time)  # time is never up
    closure = driver.step((), facts("T(n19, n20)"), None, patient)
    names = {r.number: r.strategy for r in closure.strata}
    assert names[1] == "bf_c"  # recursive
    assert names[2] == "dred_c"  # not recursive: counters are exact
    assert all(", within " in r.why for r in closure.strata if r.number)


def test_auto__few_changes_that_take_too_long_again_and_again__are_tried_less() -> None:
    driver = Driver()
    explicit = frozenset(facts(chain(40)))
    driver.step(explicit, (), program(RULES), Auto())
    hasty, patient = Auto(clock=no_time), Auto(clock=all_time)

    def why(edge: int, strategy: Auto, *, away: bool = True) -> str:
        changed = facts(f"T(n{edge}, n{edge + 1})")
        added, deleted = ((), changed) if away else (changed, ())
        closure = driver.step(added, deleted, None, strategy)
        return next(report.why for report in closure.strata if report.number == 1)

    tried = ["took more" in why(edge, hasty) for edge in range(39, 28, -1)]
    assert tried == [True, True, False, False, True, *[False] * 4, True, False]
    assert "nothing is lost" in why(29, hasty, away=False)
    assert "of this size took longer" in why(28, patient)
    for edge in range(27, 20, -1):
        why(edge, patient)  # the 8 that are not tried end here
    assert "within" in why(20, patient)
    assert "took more" in why(19, hasty), "one that worked: the next is tried"
    assert "took more" in why(18, hasty)
    check_state(driver, program(RULES), frozenset(facts(chain(18) + " T(n29, n30)")), "at the end")


@pytest.mark.parametrize(("taken", "failures"), [(1e-6, 1), (1000.0, 0)])
def test_auto__a_trial_that_ended_too_early__says_nothing(taken: float, failures: int) -> None:
    """What was judged by a wrong idea of rematerialising is tried again at once."""
    driver, rules = Driver(), program(RULES)
    driver.step(facts(chain(40)), (), rules, Auto())
    now = [-1e9]

    def slow() -> Clocks:  # every read of it is some seconds later
        now[0] += taken
        return now[0], now[0]

    closure = driver.step((), facts("T(n39, n40)"), None, Auto(clock=slow))
    assert "took more" in closure.strata[1].why
    assert driver.compiled is not None
    assert driver.compiled.costs[1].of(1).patience.failures == failures


@pytest.mark.parametrize(
    ("more", "tried"),
    [
        ("T(n9, n6) B(n9)", "bf_c took"),  # B(n6) still follows: overdeletion would be in vain
        ("", "dred_c took"),
    ],
)
def test_auto__a_search_that_proves_much__is_not_followed_by_overdeletion(
    more: str, tried: str, tune: Callable[..., None]
) -> None:
    tune(MAINTENANCE, least_seconds=0.0)
    driver, rules = Driver(), program(ONE_STRATUM["recursive"][0])
    held, gone = facts(f"{chain(8)} {more}"), facts("T(n5, n6)")
    driver.step(held, (), rules, Auto())
    closure = driver.step((), gone, None, Auto(clock=no_time))
    assert closure.strata[-1].why.startswith(tried)
    check_state(driver, rules, held - gone, "done anew")

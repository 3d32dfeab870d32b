"""Rules that go on by themselves: many rounds as one call, and nothing differs but the time."""

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
from triplestore.kernels.rules import fire as kernels
from triplestore.maintenance.steps import many_rounds
from triplestore.maintenance.strategies import STRATEGIES, strategy
from triplestore.maintenance.thresholds import MAINTENANCE

BACK_AND_FORTH = ":p[?y, ?x] :- :p[?x, ?y], :q[?x, ?y] ."  # two rounds are all it has
CLIMBS = [
    BACK_AND_FORTH,
    ":A[?y] :- :A[?x], :p[?x, ?y] .",
    ":A[?x] :- :p[?x, ?y], :A[?y] .",
    ":p[?x, ?z] :- :p[?x, ?y], :q[?y, ?z] .",
    ":p[?z, ?y] :- :q[?x, ?z], :p[?x, ?y] .",
    ":p[?y, ?z] :- :p[?x, ?y], :q[?x, ?z] .",
    ":p[:a, ?z] :- :p[:a, ?y], :q[?y, ?z] .",
    ":p[?z, :n2] :- :p[?y, :n2], :q[?z, ?y] .",
    ":p[?z, ?z] :- :p[?y, ?y], :q[?y, ?z] .",
    "[?x, a, ?d] :- [?x, a, ?c], :p[?c, ?d] .",
    "[?y, a, ?c] :- [?x, a, ?c], :p[?x, ?y] .",
    # several
    ":A[?y] :- :A[?x], :p[?x, ?y] . :A[?y] :- :A[?x], :q[?x, ?y] .",
    ":p[?x, ?z] :- :p[?x, ?y], :q[?y, ?z] . :p[?z, :n2] :- :p[?y, :n2], :q[?z, ?y] .",
    ":B[?y] :- :A[?x], :p[?x, ?y] . :A[?y] :- :B[?x], :q[?x, ?y] .",
    ":B[?y] :- :A[?x], :p[?x, ?y] . :C[?y] :- :B[?x], :q[?x, ?y] . :A[?x] :- :q[?x, ?y], :C[?y] .",
    ":A[?y] :- :A[?x], :p[?x, ?y] . :A[?y] :- :A[?x], :q[?x, ?y] . :A[?y] :- :A[?x], :r[?x, ?y] .",
    # beside rules that look at other things
    ":A[?y] :- :A[?x], :p[?x, ?y] . :q[?x, ?y] :- :A[?x], :p[?x, ?y] .",
    ":A[?y] :- :A[?x], :p[?x, ?y] . :B[?x] :- :p[?x, ?y], NOT :A[?y] .",
    ":B[?y] :- :B[?x], :q[?x, ?y] . :A[?y] :- :B[?x], :p[?x, ?y] . :p[?x, ?x] :- :A[?x] .",
]
REFUSED = [
    " ".join(f":A[?y] :- :A[?x], :{name}[?x, ?y] ." for name in "pqrsu"),  # too many
    ":A[?y] :- :A[?x], :p[?x, ?y] . :p[?y, ?x] :- :A[?x], :p[?x, ?y] .",
    ":p[?x, ?z] :- :p[?x, ?y], :p[?y, ?z] .",  # what the rule looks up is not as it was
    "[?x, a, ?d] :- [?x, a, ?c], :p[?c, ?d] . :p[?x, ?x] :- :B[?x] .",
    ":p[?x, ?z] :- :p[?x, ?y], :q[?y, ?z], :B[?x] .",
    ":B[?y] :- :A[?x], :p[?x, ?y] . :A[?y] :- :B[?x], :q[?x, ?y] . :q[?x, ?x] :- :B[?x] .",
    ":A[?y] :- :A[?x], :p[?x, ?y], FILTER(?x != ?y) .",
]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch, tune: Callable[..., None]) -> list[many_rounds.Rounds]:
    """Rounds done so from the first one on; what each call came to."""
    found: list[many_rounds.Rounds] = []
    call = many_rounds._call

    def noted(*arguments: Any) -> many_rounds.Rounds:
        found.append(call(*arguments))
        return found[-1]

    tune(MAINTENANCE, rounds_before_kernel=0)
    monkeypatch.setattr(many_rounds, "_call", noted)
    monkeypatch.setattr(many_rounds, "loaded_kernels", lambda: kernels)
    return found


def random_facts(seed: str, size: int = 24) -> list[str]:
    """Edges that lead on, so that there are many rounds; some of them further, or back."""
    rng = random.Random(seed)
    ahead = [(name, x, x + 1) for name in "pq" for x in range(size)]
    other = [(rng.choice("pq"), rng.randrange(size), rng.randrange(size)) for _ in range(5)]
    made = {f"{name}(n{x}, n{y})" for name, x, y in [*ahead, *other]}
    return sorted(
        {*made, "A(n0)", "A(n9)", "B(n1)", "p(n2, n2)", "p(n21, n2)", "p(a, n0)", "p(A, n0)"}
    )


def counted(text: str, name: str) -> list[dict[str, int]]:
    """A closure, deletions and additions under a strategy, all checked; what was considered."""
    rules, held = program(text), random_facts(text)
    driver, now, rng = Driver(), set(held), random.Random(text)
    done = [driver.step(facts(" ".join(held)), (), rules, strategy(name))]
    for step in range(6):
        gone = [] if step % 3 == 1 else rng.sample(sorted(now), 4)
        back = [] if step % 3 == 0 else rng.sample(held, 4)
        now = (now - set(gone)) | set(back)
        done.append(driver.step(facts(" ".join(back)), facts(" ".join(gone)), None, strategy(name)))
        check_state(driver, rules, frozenset(facts(" ".join(now))), f"{text} without {gone}")
    return [
        {**one.work.run.instances, "fetched": one.work.run.fetched, "rounds": one.rounds}
        for one in done
    ]


@pytest.mark.parametrize("name", ["dred", "dred_c", "rematerialise", "counting"])
@pytest.mark.parametrize("text", [*CLIMBS, *REFUSED])
def test_climb__of_every_kind__concludes_what_rounds_do(
    text: str, name: str, calls: list[many_rounds.Rounds], tune: Callable[..., None]
) -> None:
    together = counted(text, name)
    assert (text in REFUSED) == (not calls)
    if calls:
        assert max(len(call.ends) for call in calls) > 2 * (text != BACK_AND_FORTH)
    tune(MAINTENANCE, rounds_before_kernel=1 << 60)
    assert counted(text, name) == together


@pytest.mark.parametrize(("room", "long"), [(4, 4096), (1 << 14, 1), (8, 2), (64, 3)])
def test_climb__without_room_or_rounds_enough__goes_on(
    room: int, long: int, calls: list[many_rounds.Rounds], tune: Callable[..., None]
) -> None:
    tune(MAINTENANCE, kernel_room=room, kernel_rounds=long, kernel_round_facts=room)
    for text in CLIMBS[:7]:
        counted(text, "dred_c")
    assert any(len(call.left) for call in calls)


def test_climb__has_room_for_the_rows_of_all_rules() -> None:
    assert many_rounds.RULES == kernels.RULES


def test_climb__begins_after_some_rounds__and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many_rounds, "loaded_kernels", lambda: kernels)
    called: list[int] = []
    call = many_rounds._call
    monkeypatch.setattr(many_rounds, "_call", lambda *given: (called.append(1), call(*given))[1])
    for length, calls in ((MAINTENANCE.rounds_before_kernel - 2, 0), (60, 1)):
        chain = facts(f"A(n0) {' '.join(f'p(n{i}, n{i + 1})' for i in range(length))}")
        driver = Driver()
        closure = driver.step(chain, (), program(CLIMBS[1]), strategy("dred_c"))
        assert closure.strata[-1].rounds == length + 1
        assert closure.work.run.instances == {"insertion": length}
        assert len(called) == calls
        check_state(driver, program(CLIMBS[1]), frozenset(chain), f"{length}")


@pytest.mark.parametrize("stays", ["A(n30)", "q(b, n30) B(b)", ""])
def test_climb__of_a_deletion__ends_at_what_has_another_derivation(
    stays: str, calls: list[many_rounds.Rounds]
) -> None:
    rules = program(CLIMBS[1] + " :A[?y] :- :B[?x], :q[?x, ?y] .")
    chain = facts(f"A(n0) {stays} {' '.join(f'p(n{i}, n{i + 1})' for i in range(60))}")
    driver, gone = Driver(), facts("p(n9, n10)")
    driver.step(chain, (), rules, strategy("dred_c"))
    calls.clear()
    closure = driver.step((), gone, None, strategy("dred_c"))
    check_state(driver, rules, frozenset(chain - gone), stays)
    lost = 20 if stays else 51
    assert closure.strata[-1].gone == lost
    assert closure.work.run.instances["deletion"] == lost + bool(stays)
    assert sum(len(call.ends) for call in calls) >= lost - 1


def test_climb__of_a_deletion__does_not_follow_what_comes(calls: list[many_rounds.Rounds]) -> None:
    rules, driver = program(CLIMBS[1]), Driver()
    chain = facts(f"A(n0) {' '.join(f'p(n{i}, n{i + 1})' for i in range(20))}")
    driver.step(chain, (), rules, strategy("dred_c"))
    calls.clear()
    gone, come = facts("p(n3, n4)"), facts("p(n9, m0) p(m0, m1)")
    closure = driver.step(come, gone, None, strategy("dred_c"))
    assert (closure.strata[-1].gone, closure.strata[-1].added) == (17, 0)
    assert closure.work.run.instances["deletion"] == 17
    assert calls
    check_state(driver, rules, frozenset(chain - gone | come), "without n3 to n4")


@pytest.mark.parametrize("seed", range(40))
def test_random_schedules__with_climbs(seed: int, calls: list[many_rounds.Rounds]) -> None:
    rng, case = random.Random(seed), random_case(700 + seed)
    if engine_takes(case):
        check_case(case, lambda: strategy(rng.choice(list(STRATEGIES))))


def test_random_schedules__have_climbs(calls: list[many_rounds.Rounds]) -> None:
    found: Counter[bool] = Counter()
    for seed in range(700, 720):
        case = random_case(seed)
        before = len(calls)
        if engine_takes(case):
            check_case(case, lambda: strategy("dred_c"))
        found[len(calls) > before] += 1
    assert found[True]

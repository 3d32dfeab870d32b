"""What `auto` learns, and what follows from it: plans for few and many changes, noise."""

from __future__ import annotations

import time

import pytest

from triplestore.kernels.jit import Kernel
from triplestore.maintenance.budget import Clocks, Overrun, ReasoningBudget, between, clocks
from triplestore.maintenance.costs import Cost, Patience, Size, smoothed
from triplestore.maintenance.thresholds import MAINTENANCE

BOTH = ("bf_c", "dred_c")


def test_time__is_the_least_of_two_clocks() -> None:
    assert between((1.0, 5.0), (3.0, 6.0)) == 1.0  # others had the processor
    assert between((1.0, 5.0), (2.0, 7.0)) == 1.0  # there were several
    assert between((2.0, 2.0), (1.0, 3.0)) == 0.0


@pytest.mark.parametrize(
    ("overrun", "up"),
    [((-1e9, -1e9), True), ((-1e9, 1e9), False), ((1e9, -1e9), False), ((1e9, 1e9), False)],
)
def test_budget__is_up_when_both_clocks_say_so(overrun: Clocks, up: bool) -> None:
    budget = ReasoningBudget(overrun=overrun)
    if up:
        with pytest.raises(Overrun):
            budget.check()
    else:
        budget.check()


def test_time__loading_kernels_is_no_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def compiled(kernel: Kernel[[], None]) -> object:
        until = time.process_time() + 0.05
        while time.process_time() < until:
            pass
        return kernel.py_func

    monkeypatch.setenv("TRIPLESTORE_KERNELS", "numba")
    monkeypatch.setattr(Kernel, "_compile", compiled)
    started = clocks()
    Kernel(lambda: None, ("void()",))()
    assert between(started, clocks()) < 0.04


def test_smoothed__one_accident_does_not_count_for_much() -> None:
    known = smoothed(None, 1.0)
    assert known == 1.0
    assert smoothed(known, 1000.0) < 2.0
    for _ in range(20):
        known = smoothed(known, 10.0)
    assert known == pytest.approx(10.0, rel=0.01), "but what stays so is believed"


def test_plan__of_nothing_known__is_a_short_search_and_then_deletion() -> None:
    assert Size().plan(BOTH, 2, 1.0) == [("bf_c", 1.0), ("dred_c", 1.0)]
    assert Size().plan(BOTH, MAINTENANCE.many_changes, 1.0) == [("dred_c", 1.0)]
    assert Size().plan(("dred_c",), 2, 1.0) == [("dred_c", 1.0)]
    least = MAINTENANCE.least_seconds
    assert Size().plan(BOTH, 2, 5 * least) == [("bf_c", 5 * least), ("dred_c", 5 * least)]
    assert Size().plan(BOTH, 2, least) == [("dred_c", least)], "nothing could be saved"


def test_plan__of_one_that_works__tries_the_other_for_less() -> None:
    size = Size()
    size.learn("dred_c", 2, 0.5)
    assert size.plan(BOTH, 2, 1.0) == [("bf_c", MAINTENANCE.trying_again * 0.5), ("dred_c", 1.0)]
    size.learn("bf_c", 2, 2 * MAINTENANCE.trying_again * 0.5)
    size.updates = 1
    assert size.plan(BOTH, 2, 1.0) == [("dred_c", 1.0)]
    size.learn("bf_c", 2, 0.0)
    size.learn("bf_c", 2, 0.0)
    assert size.plan(BOTH, 2, 1.0) == [("bf_c", 1.0)]


def test_plan__what_is_not_best__is_tried_now_and_then() -> None:
    size = Size({"bf_c": 0.1, "dred_c": 0.2})
    tried = []
    for size.updates in range(1, 2 * MAINTENANCE.again + 1):
        tried.append([name for name, _ in size.plan(BOTH, 1, 1.0)])
    assert tried[MAINTENANCE.again - 1] == ["dred_c", "bf_c"]
    assert tried.count(["bf_c"]) == 2 * MAINTENANCE.again - 1


def test_plan__of_the_only_one__is_none_when_it_is_too_dear() -> None:
    size = Size({"dred_c": 2.0})
    assert size.plan(("dred_c",), 1, 1.9) == []
    assert size.plan(("dred_c",), 1, 1.9) == [("dred_c", 1.9)], "doubted after a while"


def test_plan__what_is_too_dear__is_left_until_it_is_doubted() -> None:
    size = Size({"bf_c": 3.0, "dred_c": 2.0}, updates=1)
    tries = [size.plan(BOTH, 1, 1.0) for _ in range(4)]
    assert tries[:2] == [[], []]
    assert tries[2] == [("dred_c", 1.0)]


def test_plan__after_failures__one_after_the_other() -> None:
    size = Size(patience=Patience(failures=2))
    found = [size.plan(BOTH, 2, 1.0) for _ in range(3)]
    assert found == [[("dred_c", 1.0)], [("bf_c", 1.0)], [("dred_c", 1.0)]]


def test_cost__where_fewer_changes_failed__more_are_not_tried_for_a_while() -> None:
    cost = Cost()
    few = cost.of(2)
    few.updates, few.patience = 2, Patience(2, 3)
    assert [cost.has_failed_with_fewer(50) for _ in range(4)] == [True, True, False, False]
    few.patience = Patience(2, 3)
    assert not cost.has_failed_with_fewer(1), "of fewer it says nothing"
    assert not cost.has_failed_with_fewer(3), "those are of its own size"
    cost.of(50).updates = 1
    assert not cost.has_failed_with_fewer(50), "it is known better"


def test_cost__of_rematerialising__falls_with_what_is_left() -> None:
    cost = Cost(full=1e-6)
    some = [cost.rematerialising(10, 1e6, True, share) for share in (0.0, 0.5, 1.0)]
    assert some[0] == pytest.approx(1.0 + 10 * MAINTENANCE.family_seconds)
    fixed = 10 * MAINTENANCE.family_seconds
    assert some[2] == pytest.approx(1e6 * MAINTENANCE.compared_seconds + fixed)
    assert some[0] > some[1] > some[2]


def test_cost__measured__predicts_the_same_again() -> None:
    for share in (0.0, 0.2):
        cost = Cost()
        cost.learn_full(0.5, 20, 1e6, share)
        assert cost.rematerialising(20, 1e6, True, share) == pytest.approx(0.5)
    before = cost.full
    cost.learn_full(0.001, 20, 1e6, 0.9)
    assert cost.full == before, "what is left of little says nothing"


def test_cost__of_a_first_closure__is_replaced_by_what_is_measured() -> None:
    cost = Cost()
    cost.learn_closure(0.1, 20, 1e6)
    comparing = 1e6 * MAINTENANCE.comparing_seconds
    assert cost.rematerialising(20, 1e6, True, 0.0) == pytest.approx(0.1 + comparing)
    cost.learn_full(0.5, 20, 1e6, 0.0)
    assert cost.rematerialising(20, 1e6, True, 0.0) == pytest.approx(0.5)
    cost.learn_full(0.1, 20, 1e6, 0.0)
    assert cost.rematerialising(20, 1e6, True, 0.0) > 0.3, "from now on one among others"


def test_cost__unmeasured_recursion__is_taken_to_cost_more() -> None:
    assert Cost().rematerialising(5, 1e4, True, 0.0) > 4 * Cost().rematerialising(
        5, 1e4, False, 0.0
    )
    assert MAINTENANCE.allowed < 1.0

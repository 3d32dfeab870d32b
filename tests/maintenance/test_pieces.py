"""Joins of very many rows are concluded piece by piece: nothing differs but the room they take."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tests.maintenance.checking import check_case, check_state, engine_takes
from tests.maintenance.driver import Driver
from tests.maintenance.notation import facts, program
from tests.maintenance.programs import random_case
from triplestore import Store
from triplestore.errors import BudgetError
from triplestore.evaluate import evaluation
from triplestore.evaluate.conclusions import Heads
from triplestore.evaluate.thresholds import EVALUATION
from triplestore.maintenance.strategies import STRATEGIES, strategy

HUB = " ".join(f"p(n{i}, h) q(h, m{i}) r(m{i}, n{i})" for i in range(30))
RULES = (
    ":A[?y] :- :p[?x, ?h], :q[?h, ?y] . :s[?x, ?y] :- :p[?x, ?h], :q[?h, ?y], NOT :r[?y, ?x] . "
    ":B[?x] :- :B[?x], :p[?x, ?h], :q[?h, ?y] . :t[?x, ?x, ?y] :- :A[?x], :A[?y], :A[?z] . "
    ":p[?y, ?h] :- :p[?x, ?h], :q[?h, ?y] ."
)


@pytest.fixture
def pieces(monkeypatch: pytest.MonkeyPatch, tune: Callable[..., None]) -> list[int]:
    """Pieces of few rows; how many conclusions went to the sums each time."""
    monkeypatch.setattr(evaluation, "fire_small", lambda *_: None)  # it has its own limits
    tune(EVALUATION, piece_rows=5, few_joined=1)
    found: list[int] = []
    whole = Heads.sum_up

    def sum_up(self: Heads, others: Heads) -> None:
        found.append(sum(len(part) for parts in others.values() for part in parts))
        whole(self, others)

    monkeypatch.setattr(Heads, "sum_up", sum_up)
    return found


@pytest.mark.parametrize("name", STRATEGIES)
def test_joins_in_pieces__on_a_hub(name: str, pieces: list[int]) -> None:
    driver, rules = Driver(), program(RULES)
    held = facts(HUB + " B(n3)")
    driver.step(held, (), rules, strategy(name))
    check_state(driver, rules, frozenset(held), "at first")
    assert len(pieces) > 100 and max(pieces) <= 60  # a single row may have as many matches
    for change in ("p(n1, h)", "q(h, m1) q(h, m2) r(m5, n5)", HUB):
        driver.step((), facts(change), None, strategy(name))
        held -= facts(change)
        check_state(driver, rules, frozenset(held), f"without {change}")
        driver.step(facts(change), (), None, strategy(name))
        held |= facts(change)
        check_state(driver, rules, frozenset(held), f"with {change}")


@pytest.mark.parametrize("seed", range(12))
def test_joins_in_pieces__on_random_schedules(seed: int, pieces: list[int]) -> None:
    rng = random.Random(seed)
    case = random_case(seed)
    if engine_takes(case):
        check_case(case, lambda: strategy(rng.choice(list(STRATEGIES))))


def test_joins_in_pieces__still_have_a_budget(pieces: list[int]) -> None:
    prefix = "@prefix : <http://ex.org/> .\n"
    store = Store()
    store.load(prefix + "".join(f":n{i} :p :h . :h :q :m{i} .\n" for i in range(30)), "ttl")
    rules = prefix + ":s[?x, ?y] :- :p[?x, ?h], :q[?h, ?y] ."
    with pytest.raises(BudgetError, match="bytes at once"):
        store.reason(rules=rules, tuning={"max_bytes": 600 * 16})
    assert len(store) == 60 and 0 < sum(pieces) < 900  # it stopped on the way
    pieces.clear()
    with pytest.raises(BudgetError, match="more than 500 facts"):
        store.reason(rules=rules, tuning={"max_facts": 500})
    assert len(store) == 60 and 0 < sum(pieces) < 900
    assert store.reason(rules=rules, tuning={"max_bytes": 900 * 16}).inferred == 900


def test_budget_of_facts__counts_only_those_that_are_new(pieces: list[int]) -> None:
    prefix = "@prefix : <http://ex.org/> .\n"
    store = Store()
    store.load(prefix + "".join(f":n{i} :p :h . :h :q :m{i} .\n" for i in range(30)), "ttl")
    one, other = (f":s[?x, ?y] :- :p[?x, ?h], :q[?h, ?y], :q[{z}, ?y] ." for z in ("?h", "?z"))
    assert store.reason(rules=prefix + one).inferred == 900
    pieces.clear()
    report = store.reason(rules=prefix + other, tuning={"max_facts": 1})  # concludes them again
    assert sum(pieces) >= 900 and (report.inferred, report.inferred_added) == (900, 0)

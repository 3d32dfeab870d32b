"""Where reasoning in the store ends before its end, and what is told of it."""

from __future__ import annotations

import io

import pytest

from tests.reasoning.families import ANCESTORS, ENDLESS, PREFIX, family, parents, quad
from triplestore import Store
from triplestore.errors import BudgetError, CancelledError, TimeLimitError
from triplestore.maintenance.strategies import STRATEGIES


@pytest.fixture
def store() -> Store:
    return family()


# -- budgets --------------------------------------------------------------------------------------


def test_budget__that_is_exceeded_leaves_the_last_commit(store: Store) -> None:
    store.reason(tuning={"max_facts": 40})
    commit = store.commit
    with pytest.raises(BudgetError, match="more than 40 facts"):
        store.reason(rules=ENDLESS)
    chain = [quad(f"n{i} parent n{i + 1}") for i in range(20)]
    with pytest.raises(BudgetError, match="more than 40 facts"):
        store.extend(chain)
    assert store.commit == commit and len(store) == 5
    with pytest.raises(TimeLimitError, match=r"nothing has changed; raise .*--max-seconds"):
        store.reason(rules=ENDLESS, tuning={"max_facts": None, "max_seconds": 0.05})
    with pytest.raises(BudgetError):
        store.reason(rules=ENDLESS, tuning={"max_facts": None, "max_bytes": 10_000})
    assert store.commit == commit
    assert store.extend(chain[:3]).added == 3


@pytest.mark.parametrize("modules", ["auto", "off"])
@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_budget_of_facts__is_for_new_ones_whatever_the_strategy(
    strategy: str, modules: str
) -> None:
    store = Store()
    store.extend([quad(f"n{i} parent n{i + 1}") for i in range(30)])
    store.reason(
        rules=ANCESTORS + "\n:kin[?x, ?y] :- :ancestor[?x, ?y] .",
        tuning={"strategy": strategy, "modules": modules},
    )
    store.reason(tuning={"max_facts": 60})
    end, middle = quad("n29 parent n30"), quad("n15 parent n16")
    assert store.remove(end).inferred_removed == 60
    assert store.add(end).inferred_added == 60  # what is left is derived anew by some, and not new
    assert store.remove(middle).inferred_removed == 2 * 16 * 15
    with pytest.raises(BudgetError, match="more than 60 facts"):
        store.add(middle)
    stated = [quad(f"x{i} ancestor y{i}") for i in range(60)]
    assert store.extend(stated).inferred_added == 60  # 60 times kin; nobody makes what is stated
    assert store.audit()


def test_cancel__stops_and_leaves_the_last_commit(store: Store) -> None:
    calls = []

    def cancel() -> bool:
        calls.append(1)
        return len(calls) > 5

    with pytest.raises(CancelledError):
        store.reason(rules=ENDLESS, cancel=cancel)
    assert len(store) == 5 and len(store.program) == 2


# -- reports --------------------------------------------------------------------------------------


def test_report__says_what_was_done(store: Store) -> None:
    with store.transaction() as t:
        assert t.report is None
        t.add(parents("cd")[0])
    report = t.report
    assert (report.explicit, report.inferred, report.inferred_added) == (3, 6, 3)
    assert report.rounds > 0 and report.rows_fetched > 0
    assert report.derivation_count == sum(report.derivations.values()) > 0
    assert [stratum.number for stratum in report.strata][-1] == 1
    text = str(report)
    assert "3 explicit, 6 inferred (3 new, 0 gone)" in text and "stratum 1" in text
    assert report.as_dict()["inferred"] == 6


def test_progress__is_shown_on_stderr(
    store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from triplestore.reasoning import progress

    ticks = iter(range(0, 10_000, 7))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(ticks)))
    shown = io.StringIO()
    monkeypatch.setattr("sys.stderr", shown)
    store.reason(rules=PREFIX + ":Person[?x] :- :ancestor[?x, ?y] .", progress=True)
    assert "stratum" in shown.getvalue()

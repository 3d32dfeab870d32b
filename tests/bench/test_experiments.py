"""The shared parts of the experiments on maintenance, and the claims of their reports."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench import experiments, literature
from bench.experiments import Choice, break_even, choices, mean_interval, nested_sizes
from bench.harness import Harness, MeasurementError, Result
from bench.inputs import datasets
from bench.inputs.datasets import dataset, draw
from bench.reasoners import REASONERS, base, runs
from bench.reasoners.program import Relation, translate
from bench.reasoners.task import Task
from bench.report import BenchReport, ReportTable
from bench.runs.maintained import AUTO, INCREMENTAL, REMATERIALISE, STRATEGIES, Done
from bench.workloads import maintenance, rulecount, scalability
from triplestore.datalog.text import read
from triplestore.errors import TimeLimitError, UsageError


def claims(report: BenchReport) -> dict[str, bool]:
    return {claim.text: claim.holds for claim in report.claims}


def test_examples_in_docstrings() -> None:
    tested = doctest.testmod(experiments)
    assert tested.attempted and not tested.failed


def test_mean_interval__is_that_of_the_papers() -> None:
    mean = mean_interval([2.0, 4.0, 4.0, 6.0])
    assert mean.value == 4 and mean.half == pytest.approx(1.96 * np.std([2, 4, 4, 6], ddof=1) / 2)
    assert mean_interval([3.0]).half == 0


@pytest.mark.parametrize("crossing", [10, 333, 700, 990])
def test_break_even__finds_where_the_two_cross(crossing: int) -> None:
    asked: list[int] = []

    def incremental(size: int) -> float:
        asked.append(size)
        return 1.0 + 3 * size

    found = break_even(incremental, lambda size: 1 + 3 * crossing, 1000, steps=20, tolerance=1e-3)
    assert abs(found - crossing) <= 1
    assert asked[0] == 500  # half of all facts


def test_break_even__ends_after_its_steps_or_when_times_are_close() -> None:
    asked: list[int] = []

    def slow(size: int) -> float:
        asked.append(size)
        return 1e9

    assert break_even(slow, lambda size: 1.0, 1 << 20) < 1 << 10
    assert len(asked) == 10
    assert break_even(lambda size: 1.02, lambda size: 1.0, 1000) == 500  # within 2.5 %


def test_nested_sizes__keep_the_ends_when_thinned() -> None:
    sizes = nested_sizes(range(1000, 9000, 1000), 12)
    assert len(sizes) == 12 and sizes == sorted(set(sizes))
    assert (sizes[0], sizes[-1]) == (250, 8000)
    assert nested_sizes([1]) == [1]


def test_choices__compare_auto_with_the_best_other() -> None:
    (choice,) = choices("here", {AUTO: 3.0, "dred": 2.0, "bf": 4.0})
    assert choice == Choice("here", 3.0, 2.0, "dred") and choice.ratio == 1.5
    assert choices("here", {"dred": 2.0}) == [] and choices("here", {AUTO: 2.0}) == []


# -- data --------------------------------------------------------------------------------------


def test_dataset__refuses_what_it_does_not_know() -> None:
    for name in ("nothing", "deep", "recursive-1", "go-1-2-3"):
        with pytest.raises(MeasurementError, match="no dataset"):
            dataset(name)


def test_dataset__is_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "FOLDER", tmp_path)
    made = dataset("deep-3-2")
    assert len(made.program()) == 10
    assert made.path.read_text().count("\n") == 3  # the instance and two that nothing is about
    before = made.path.stat().st_mtime_ns
    assert dataset("deep-3-2").path.stat().st_mtime_ns == before


@pytest.mark.parametrize("kind", datasets.KINDS)
def test_draw__gives_more_of_the_same(kind: str) -> None:
    s, p, o = (np.arange(start, start + 50, dtype=np.uint32) for start in (10, 0, 11))
    small, large = (draw(kind, (s, p, o), size, seed=3).tolist() for size in (5, 20))
    assert small == large[:5] and len(set(large)) == 20
    assert draw(kind, (s, p, o), 20, seed=4).tolist() != large


def test_draw__walks_from_objects_to_subjects() -> None:
    s, p, o = (np.arange(start, start + 50, dtype=np.uint32) for start in (10, 0, 11))
    walk = draw("walk", (s, p, o), 10, seed=1)
    assert np.count_nonzero(np.diff(walk) == 1) > 5  # each leads to the next, until the end


# -- reports -----------------------------------------------------------------------------------


def found(seconds: float, inferred: int = 5, derivations: int = 9) -> dict[str, Any]:
    part = {
        "seconds": [seconds, seconds],
        "commit": [seconds * 2] * 2,
        "inferred": [inferred, inferred],
        "derivations": [derivations, derivations],
        "phases": {"deletion": derivations},
        "fetched": 3.0,
        "strategies": ["dred_c"],
    }
    return {"uniform": {"delete": part, "add": part}}


def test_collected__keeps_each_sample_and_the_mean_of_phases() -> None:
    done = [
        Done(1.0, 2.0, {"deletion": 4}, 10, 1, ["dred"], 7),
        Done(3.0, 4.0, {"deletion": 2, "insertion": 6}, 20, 1, ["dred_c"], 8),
    ]
    kept = maintenance.collected(done)
    assert kept["seconds"] == [1.0, 3.0] and kept["derivations"] == [4, 8]
    assert kept["phases"] == {"deletion": 3, "insertion": 3}
    assert kept["fetched"] == 15 and kept["strategies"] == ["dred", "dred_c"]


def test_claim_agreement__notices_a_strategy_that_changes_something_else() -> None:
    report = BenchReport("x", "")
    maintenance.claim_agreement("d", {"dred": found(1), "bf": found(2)}, report)
    maintenance.claim_agreement("e", {"dred": found(1), "bf": found(2, inferred=6)}, report)
    assert list(claims(report).values()) == [True, False]


def test_claim_agreement__looks_at_the_samples_that_all_have() -> None:
    report = BenchReport("x", "")
    short = found(1)
    short["uniform"]["add"]["inferred"] = [5]
    maintenance.claim_agreement("d", {"dred": found(1), "bf": short}, report)
    assert list(claims(report).values()) == [True]


class FakeStore:
    """Stands for `Maintained`: facts in a set, strategies that may be late or not exist."""

    def __init__(self) -> None:
        self.facts = set("abc")
        self.used: list[str] = []

    def count(self, facts: str = "all") -> int:
        return len(self.facts)

    def use(self, strategy: str, seconds: float | None = None) -> None:
        self.used.append(strategy)
        if strategy == "none":
            raise UsageError("no strategy none")

    def remove(self, quads: list[str]) -> Done:
        self.facts -= set(quads)
        if self.used[-1] == "late":
            raise TimeLimitError("late")
        return Done(0.1, 0.2, {}, 0, 0, [], 1)

    def add(self, quads: list[str]) -> Done:
        self.facts |= set(quads)
        return Done(0.3, 0.4, {}, 0, 0, [], 1)


def test_turns__rotate_and_leave_out_those_that_cannot() -> None:
    store: Any = FakeStore()
    turns = maintenance.Turns(store, ["dred", "none", "late", "bf"], 10)
    assert set(turns.take(0, ["a"])) == {"dred", "bf"}
    assert turns.absent == {"none": "no strategy none", "late": "over 10 s"}
    assert store.facts == set("abc")
    store.used.clear()
    assert list(turns.take(3, ["a"])) == ["bf", "dred"] == store.used
    turns.left["bf"] = 0
    assert set(turns.take(4, ["b"])) == {"dred"}


def test_turns__have_all_their_seconds_again_for_samples_of_another_kind() -> None:
    store: Any = FakeStore()
    turns = maintenance.Turns(store, ["dred", "none"], 10)
    turns.take(0, ["a"])
    turns.last["dred"], turns.left["dred"] = 3.0, 2.9
    assert turns.take(1, ["a"]) == {}
    turns.begin()
    assert set(turns.take(2, ["a"])) == {"dred"}
    assert store.used.count("none") == 1


def test_turns__notice_a_store_that_is_not_as_it_was() -> None:
    store: Any = FakeStore()
    turns = maintenance.Turns(store, ["dred"], 10)
    with pytest.raises(AssertionError, match="not as it was"):
        turns.take(0, ["z"])


def test_claim_share__compares_the_best_with_rematerialising() -> None:
    report = BenchReport("x", "")
    known = {REMATERIALISE: found(10), "dred": found(5), "dred_c": found(0.19)}
    maintenance.claim_share("lubm50", known, report)
    maintenance.claim_share("lubm50", {**known, "dred_c": found(0.21)}, report)
    maintenance.claim_share("lubm10", known, report)
    assert [claim.holds for claim in report.claims] == [True, False]
    assert report.claims[0].measured == "dred_c: 1.90%"


def test_claim_choices__ignores_what_is_over_in_no_time() -> None:
    report = BenchReport("x", "")
    fine = [Choice("a", 0.010, 0.010, "dred")] * 9
    maintenance.claim_choices([*fine, Choice("b", 0.004, 0.001, "dred")], report)
    assert list(claims(report).values()) == [True, True]
    report = BenchReport("x", "")
    maintenance.claim_choices([*fine, Choice("b", 0.030, 0.010, "dred")], report)
    assert list(claims(report).values()) == [True, False]
    assert "(b)" in report.claims[1].measured


def test_strategies_table__has_a_row_for_those_that_failed() -> None:
    known = {REMATERIALISE: found(10), AUTO: found(5)}
    table = maintenance.strategies_table("d", "uniform", "delete", known, {"bf": "over 1 s"}, 1000)
    assert [row[0] for row in table.rows] == [REMATERIALISE, "auto (dred_c)", "bf: over 1 s"]
    assert table.rows[1][1] == 2 and table.rows[1][4] == "2 x"


def test_literature__stands_below_ours() -> None:
    seconds = {"counting": 6.0, "dred": 4.0, "fbf": 2.0, "dred_c": 1.0, "bf": 3.0, "bf_c": 0.5}
    for table in (
        literature.deletion_table({"ours": (seconds, seconds)}),
        literature.counters_table({"ours": seconds}),
        literature.large_table({"ours": (0.5, {**seconds, REMATERIALISE: 1.0})}),
        literature.large_table({"ours": (0.5, dict(seconds))}),  # rematerialising took too long
        literature.break_even_table({"ours": {"dred": 0.25}}, list(INCREMENTAL)),
    ):
        assert table.rows[0][0] == "ours" and len(table.rows) == 8
        assert any(isinstance(cell, float | str) for cell in table.rows[0][1:])
    rows = literature.counters_table({"ours": seconds}).rows
    assert rows[0][1:] == [4.0, 6.0, 2.0]
    assert rows[1][1] == pytest.approx(1185.87 / 179.24)


def test_strategies__are_named_as_in_the_literature_tables() -> None:
    assert {"counting", "dred", "fbf", "bf", "dred_c", "bf_c"} <= set(STRATEGIES)


def test_sizes_table__has_a_column_for_each_strategy() -> None:
    timings = {"dred": {10: 0.1, 20: 0.2}, AUTO: {10: 0.3, 20: 0.4}}
    table = scalability.sizes_table("t", timings, [10, 20], 40)
    assert table.rows == [
        [10, "25.0%", pytest.approx(100), pytest.approx(300)],
        [20, "50.0%", pytest.approx(200), pytest.approx(400)],
    ]


def test_as_data__has_an_edge_for_each_rule() -> None:
    made = datasets.made("deep", [2])
    columns = rulecount.as_data(made)
    (clause,) = translate(read(rulecount.GENERAL), columns.numbers, "typed")
    assert [pattern.relation.name for pattern in clause.body] == ["type", "p2"]
    rows = set(zip(columns.s.tolist(), columns.p.tolist(), columns.o.tolist(), strict=True))
    assert len(rows) == 1 + 7 and 2 not in columns.s and 2 not in columns.o
    classes, at = {o for _, p, o in rows if p == 1}, len(rows)
    while at != len(classes):  # every class is above the asserted one
        at = len(classes)
        classes |= {o for s, p, o in rows if p == 2 and s in classes}
    assert len(classes) == 8


def test_compare__says_why_a_reasoner_has_no_result(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[str] = []

    def fake(case: Any) -> dict[str, Any]:
        name = case.arguments["reasoner"]
        asked.append(name)
        if name == "clingo":
            raise MeasurementError("clingo failed (1):\n...\nMemoryError")
        return {"total s": 40.0 if name == "duckdb" else 1.0, "facts": 3}

    monkeypatch.setattr(base, "run_once", fake)
    monkeypatch.setattr(runs, "missing", lambda reasoner: "gone" if reasoner.name == "Nemo" else "")
    for reasoner in REASONERS.values():
        monkeypatch.setattr(type(reasoner), "refuses", lambda self, task: None)
    given = Task(tmp_path, "t", "split", {Relation("c1", 1): 2})
    report = BenchReport("x", "")
    names = ["triplestore", "Nemo", "duckdb", "clingo"]
    harness = Harness(repeats=2, folder=tmp_path, verbose=False)
    compared = runs.compare(given, names, harness, report, 10)
    assert compared.absent == {"Nemo": "gone", "clingo": "failed: MemoryError"}
    assert asked == ["triplestore", "duckdb", "clingo", "triplestore"]  # 40 s are not repeated
    assert compared.agree() and len(report.runs) == 2
    compared.results["duckdb"].runs[0]["facts"] = 4
    assert not compared.agree()


def test_table_of__compares_with_ours(tmp_path: Path) -> None:
    def result(scale: float) -> Result:
        run = {
            "facts": 9, "import s": scale, "reason s": scale * 3, "parse s": 0.0,
            "total s": scale * 4, "reasoning peak bytes": 1e6 * scale,
        }  # fmt: skip
        return Result(None, "total s", [run])  # type: ignore[arg-type]

    given = Task(tmp_path, "t", "split", {Relation("c1", 1): 2})
    compared = runs.Compared(given, {"triplestore": result(1), "Nemo": result(5)}, {"clingo": "no"})
    table: ReportTable = runs.table_of("t", [compared])
    assert [row[1] for row in table.rows] == ["triplestore", "Nemo", "clingo: no"]
    assert table.rows[0][-3:] == [None, None, None] and table.rows[1][-3:] == ["5 x"] * 3

"""The bench of `auto`: its sizes, its table, and the measurement of every strategy."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from bench.inputs import datasets
from bench.report import BenchReport
from bench.runs.maintained import AUTO
from bench.workloads import choices
from bench.workloads.choices import STRATEGIES, choices_table, claim, measure, sizes_for


def test_sizes__are_few_and_shares_of_all() -> None:
    assert doctest.testmod(choices).failed == 0
    assert sizes_for(4) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "data",
    [
        "spread-20",
        pytest.param("sales-20", marks=pytest.mark.long),
        pytest.param("lines-200", marks=pytest.mark.long),
    ],
)
def test_measure__has_every_strategy_at_every_size(
    data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datasets, "FOLDER", tmp_path)
    made = measure(data, 1, 60.0)
    assert list(map(int, made["found"])) == sizes_for(made["facts"])
    assert made["late"] == []
    for taken in made["found"].values():
        assert taken.keys() == {*STRATEGIES, AUTO}
        assert len(taken[AUTO]) == 4
        assert all(second > 0 for pair in taken[AUTO] for second in pair)


def test_table__best_run_of_each_beside_first_and_median_of_auto() -> None:
    found = {
        "7": {
            "dred_c": [(0.02, 0.5), (0.01, 0.5)],
            "rematerialise": [(0.03, 0.9)],
            AUTO: [(0.04, 1.0), (0.01, 0.5), (0.02, 0.5), (0.09, 0.5)],
        }
    }
    table, first, then = choices_table("x, delete, of 9 facts", found, 0)
    assert table.rows == [[7, 30.0, 10.0, None, None, 4.0, 2.0, 9.0]]
    assert [(c.where, c.name, c.ratio) for c in (*first, *then)] == [
        ("x, delete 7", "dred_c", 4.0),
        ("x, delete 7", "dred_c", 2.0),
    ]
    report = BenchReport("", "", {})
    claim("then", then, report)
    assert [one.holds for one in report.claims] == [False, True]
    claim("nothing", [], report)
    assert len(report.claims) == 2

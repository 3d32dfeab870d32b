"""The harness: fresh processes, the best of several runs, and the reports."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from bench.__main__ import main, parser
from bench.child import Clock
from bench.harness import Case, Harness, MeasurementError, Result, machine, run_once
from bench.report import BenchReport, Plot, ReportTable, format_number, ratio, slope
from bench.workload import quantile
from bench.workloads import WORKLOADS, lookups


def who_am_i(megabytes: int = 0) -> dict[str, Any]:
    held = bytearray(megabytes << 20)
    for place in range(0, len(held), 4096):
        held[place] = 1
    return {"process": os.getpid(), "held": len(held)}


def fail() -> dict[str, Any]:
    raise RuntimeError("on purpose")


def variable(name: str) -> dict[str, Any]:
    return {"value": os.environ.get(name)}


def case(function: str, **arguments: Any) -> Case:
    return Case(f"tests.bench.test_harness:{function}", arguments, function)


def test_run_once__runs_in_a_process_of_its_own() -> None:
    runs = [run_once(case("who_am_i")) for _ in range(2)]
    assert len({run["process"] for run in runs} | {os.getpid()}) == 3


def test_run_once__measures_the_peak_of_the_child_alone() -> None:
    held = bytearray(os.urandom(1)) * (400 << 20)  # more than a child that does nothing needs
    small, large = (run_once(case("who_am_i", megabytes=size)) for size in (0, 100))
    assert len(held) > small["peak bytes"] + (100 << 20)
    assert 90 << 20 < large["peak bytes"] - small["peak bytes"] < 130 << 20


def test_run_once__passes_the_environment_on() -> None:
    changed = Case(
        "tests.bench.test_harness:variable", {"name": "BENCH_X"}, "x", {"BENCH_X": "set"}
    )
    assert run_once(changed)["value"] == "set"


def test_run_once__says_why_a_child_failed() -> None:
    with pytest.raises(MeasurementError, match="on purpose"):
        run_once(case("fail"))


def test_compare__runs_turn_by_turn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    order: list[str] = []

    def fake(case: Case) -> dict[str, Any]:
        order.append(case.label)
        return {"s": float(len(order))}

    monkeypatch.setattr("bench.harness.run_once", fake)
    harness = Harness(repeats=2, folder=tmp_path, verbose=False)
    one, two = harness.compare([Case("", {}, "one"), Case("", {}, "two")], main="s")
    assert order == ["one", "two", "one", "two"]
    assert (one["s"], two["s"]) == (1.0, 2.0)
    assert [run["s"] for run in two.runs] == [2.0, 4.0]


def test_result__takes_all_numbers_from_the_run_with_the_least_main_one() -> None:
    result = Result(Case("", {}, ""), "s", [{"s": 2, "mb": 1}, {"s": 1, "mb": 5}])
    assert (result["s"], result["mb"], result.least("mb")) == (1, 5, 1)


def test_clock__tells_wall_from_cpu_time() -> None:
    clock = Clock()
    with clock.part("sum"):
        sum(range(200_000))
    assert set(clock.seconds) == {"sum s", "sum cpu s"}
    assert clock.seconds["sum s"] > 0


def test_machine__names_versions() -> None:
    facts = machine(["pyoxigraph", "no-such-package"])
    assert facts["pyoxigraph"][0].isdigit()
    assert facts["no-such-package"] == "not installed"
    assert facts["cores"] >= 1


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.0, "0"), (0.01234, "0.0123"), (1.234, "1.23"), (123.4, "123"), (12345.6, "12,300")],
)
def test_format_number__keeps_three_digits(number: float, text: str) -> None:
    assert format_number(number) == text


def test_ratio__says_how_many_times_less_ours_is() -> None:
    assert ratio(2.0, 10.0) == "5 x"


def test_slope__leaves_the_fixed_part_out() -> None:
    rise, fixed = slope([(1, 5.0), (2, 7.0), (10, 23.0)])
    assert (rise, fixed) == pytest.approx((2.0, 3.0))


def test_quantile__of_sorted_values() -> None:
    values = [float(i) for i in range(100)]
    assert (quantile(values, 0.5), quantile(values, 0.99), quantile([7.0], 0.99)) == (50, 99, 7)


def test_report__has_claims_tables_and_all_runs(tmp_path: Path) -> None:
    report = BenchReport("mine", "A summary.", {"cores": 2})
    table = ReportTable("Times", ["peer", "s"])
    table.add("ours", 0.5)
    table.add("theirs", None)
    report.tables.append(table)
    report.claim("it is fast", "0.5 s", True)
    report.claim("it is small", "9 GB", False)
    report.keep([Result(Case("", {}, "ours"), "s", [{"s": 0.5}, {"s": 0.7}])])
    report.plots.append(Plot("line", "Line", "x", "y", {"ours": [(1, 1), (2, 2)]}))
    files = report.write(tmp_path)
    text = (tmp_path / "mine.md").read_text()
    assert "| ours | 0.5 |" in text
    assert "| it is small | 9 GB | **no** |" in text
    found = json.loads((tmp_path / "mine.json").read_text())
    assert found["runs"][0]["runs"] == [{"s": 0.5}, {"s": 0.7}]
    assert all(path.exists() for path in files)
    assert ("mine-line.svg" in text) == (tmp_path / "mine-line.svg").exists()


def test_table__refuses_a_row_of_another_width() -> None:
    with pytest.raises(ValueError, match="1 cells for 2 columns"):
        ReportTable("Times", ["peer", "s"]).add("ours")


@pytest.mark.parametrize("name", ["all", *WORKLOADS])
def test_command_line__knows_every_workload(name: str) -> None:
    assert parser().parse_args([name]).workload == name


def test_loading__runs_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bench.inputs.data.FOLDER", tmp_path / "data")
    arguments = ["loading", "--sizes", "1", "--peers", "pyoxigraph", "--repeats", "1", "--quiet"]
    folders = ["--results", str(tmp_path / "results"), "--scratch", str(tmp_path / "scratch")]
    assert main([*arguments, *folders]) == 0
    assert "| LUBM-like 1, Turtle | pyoxigraph | 120,487 |" in capsys.readouterr().out
    assert list((tmp_path / "scratch").iterdir()) == []


def test_lookups__sample_terms_that_are_rare_and_the_same_every_time() -> None:
    chosen = lookups.sample(200)
    assert chosen == lookups.sample(200)
    assert len(chosen) == 200
    assert not any(str(p).endswith(lookups.FREQUENT) for _, p, _ in chosen)

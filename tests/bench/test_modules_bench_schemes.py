"""The workload of schemes: its runs at small sizes, and the claims of its report."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.harness import Case, Harness, MeasurementError
from bench.reasoners.task import Task
from bench.report import BenchReport
from bench.runs import scheme_runs
from bench.runs.modular import AUTO, COMPRESSED, MODULE
from bench.shapes.graphs import bridge, graph
from bench.workloads import schemes
from bench.workloads.schemes import Measured
from triplestore.closures.symmetric_transitive.symmetric_closure import SymmetricClosure


@pytest.fixture(autouse=True)
def no_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test's process must not be limited, and need not warm up."""
    monkeypatch.setattr(scheme_runs, "MOST_BYTES", -1)
    monkeypatch.setattr(scheme_runs, "start", lambda: None)


def test_structure__measures_changes_that_were_checked() -> None:
    found = scheme_runs.structure("dag-80-300", "transitive", 40, 3, 1, True)
    assert found["edges"] == 300 and found["pairs"] > 300 and found["changed"] > 40
    assert {"build s", "delete s", "insert s", "expand s", "single delete s"} <= found.keys()


def test_listed__counts_every_pair_that_went() -> None:
    edges = graph("cycle-10")
    scheme = scheme_runs.build("transitive", edges)
    fewer, lost = scheme_runs.listed(scheme, edges[:1], edges[:0])
    assert lost == 100 - 45 and fewer.count() == 45
    assert scheme_runs.expanded(fewer) == 45


@pytest.mark.parametrize("way", [COMPRESSED, MODULE])
def test_engine__finds_what_the_scheme_finds(way: str) -> None:
    found = scheme_runs.engine("dag-80-300", "transitive", way, 40, 2, 60, 1)
    alone = scheme_runs.structure("dag-80-300", "transitive", 40, 1, 1, False)
    assert found["pairs"] == alone["pairs"] and found["static bytes"] > 0
    assert found["delete s"] > 0 and found["single insert commit s"] > 0


def test_engine__closes_components_too() -> None:
    found = scheme_runs.engine("tree-30", "symmetric", COMPRESSED, 5, 1, 60, 2)
    assert found["pairs"] == 30 * 30 and found["changed"] > 0


@pytest.mark.parametrize(("shape", "edges"), [("tree", 0), ("edges", 400)])
def test_clique__loses_pairs_by_one_edge_and_none_by_the_other(shape: str, edges: int) -> None:
    found = scheme_runs.clique(shape, 100, edges, 1)
    assert found["pairs"] == 100 * 100 and found["keep lost"] == 0
    assert found["split lost"] > 100
    if shape == "edges":
        assert found["split lost"] == 2 * 50 * 50


def test_halves__are_joined_by_the_bridge_alone() -> None:
    edges = graph("halves-40-200")
    parted = edges[edges != bridge(40)[0]]
    assert len(parted) == len(edges) - 1
    assert SymmetricClosure.build(parted).count() == 2 * 20 * 20
    assert SymmetricClosure.build(edges).count() == 40 * 40


def test_make_linear__is_the_same_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.inputs.data.FOLDER", tmp_path)
    task = Task.open(scheme_runs.make_linear("dag-20-50"))
    (rows,) = task.rows.values()
    columns = np.load(task.folder / "columns.npy")
    first = np.uint32(len(task.rules().splitlines()))
    assert rows == 50 and columns.shape == (3, 50) and columns[0].min() > first


def test_timed__is_the_least() -> None:
    calls: list[int] = []
    seconds, last = scheme_runs.timed(3, lambda x: calls.append(x) or len(calls), 7)
    assert calls == [7, 7, 7] and last == 3 and 0 <= seconds < 1


class FakeMeasurements(Harness):
    """Gives made-up runs."""

    def compare(self, cases: Any, main: str, repeats: int | None = None) -> Any:
        from bench.harness import Result

        return [Result(case, main, [self.made(case)]) for case in cases]

    def made(self, case: Case) -> dict[str, Any]:
        if case.function.endswith(":clique"):
            part = {f"{what} s": 0.1 for what in ("split", "keep", "split undone", "build")}
            return {
                **part,
                **dict.fromkeys(("100,000 pairs s", "successors of 10 s"), 0.6),
                **dict.fromkeys(("edges", "pairs", "split lost"), 9),
                **dict.fromkeys(("bytes", "peak bytes of closing", "peak bytes in all"), 4e7),
            }
        alone = case.function.endswith(":structure")
        return {
            **dict.fromkeys(("edges", "pairs", "changed"), 2_000_000_000),
            ("build s" if alone else "close s"): 1.0,
            **dict.fromkeys(("delete s", "insert s", "cpu s"), 0.5),
            **dict.fromkeys(("single delete s", "single insert s"), 0.2),
            ("bytes" if alone else "static bytes"): 1e7,
            ("peak bytes in all" if alone else "peak bytes of closing"): 3e9,
        }


def reported(*arguments: str) -> BenchReport:
    parser = argparse.ArgumentParser()
    schemes.options(parser)
    given = parser.parse_args(["--no-nemo", *arguments])
    report = BenchReport("schemes", "")
    harness = FakeMeasurements(verbose=False)
    for part in given.parts:
        schemes.PARTS[part](given, Measured(harness, report, 1))
    return report


def test_dag__claims_shares_of_the_first_closure() -> None:
    report = reported("--parts", "dag")
    holds = [claim.holds for claim in report.claims]
    assert holds == [True, True] + [True, False] * 6
    assert [row[1] for row in report.tables[0].rows[:4]] == [
        "the scheme alone",
        *(f"store, {way}" for way in (COMPRESSED, AUTO, "written out")),
    ]


@pytest.mark.parametrize(("clock", "cpu", "holds"), [(700, 700, True), (700, 200, False)])
def test_dag__claims_the_ratio_by_the_clock_and_by_cpu_seconds(
    clock: float, cpu: float, holds: bool
) -> None:
    measured = Measured(FakeMeasurements(verbose=False), BenchReport("x", ""), 1)
    runs = [measured.structure("d", 1, expand=False), *[measured.engine("d", "auto", 1)] * 2]
    nemo = {"reason s": clock, "reason cpu s": cpu / 2}  # ours: one second, half of it on the CPU
    schemes.claim_dag("d", runs[0], runs[1], runs[2], nemo, measured)
    assert measured.report.claims[0].holds is holds


def test_clique__claims_the_slowest_of_all() -> None:
    holds = [claim.holds for claim in reported("--parts", "clique").claims]
    assert holds == [False, True] * 2 + [False] * 2  # 0.6 s of look-ups, 1 s of closing


def test_broader__claims_only_of_the_large_network() -> None:
    report = reported("--parts", "broader", "--broader", "1426588")
    assert [claim.holds for claim in report.claims] == [True, True, True, False]
    assert report.tables[0].rows[0][2:5] == [1.0, 3000.0, 10.0]


def test_nemo__that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schemes, "missing", lambda reasoner: "not installed")
    given = argparse.Namespace(nemo=True, nemo_seconds=1)
    measured = Measured(FakeMeasurements(verbose=False), BenchReport("x", ""), 1)
    assert schemes.nemo_seconds("dag-20-50", given, measured) == "not installed"
    monkeypatch.setattr(schemes, "missing", lambda reasoner: None)

    def late(case: Case) -> None:
        raise MeasurementError("x failed (-14):")

    monkeypatch.setattr(schemes, "run_once", late)
    monkeypatch.setattr(scheme_runs, "make_linear", lambda name: "")
    assert schemes.nemo_seconds("dag-20-50", given, measured) == "over 1 s"

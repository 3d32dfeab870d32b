"""The bench of Spark: sizes, tables and claims from runs as they come; the runs need Spark."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pytest

from bench.harness import Case, Harness
from bench.inputs.data import InputFile
from bench.runs.spark import parse_by_rdflib
from bench.workloads import spark
from triplestore.errors import UsageError


def test_sizes__have_units() -> None:
    assert spark.sizes("500k,1M,2.5M,7") == [500_000, 1_000_000, 2_500_000, 7]


def counted(shuffled: int) -> dict[str, Any]:
    return {"shuffled_bytes": shuffled, "written_bytes": 1, "spilled_bytes": 0, "skew": 1.0}


class FakeHarness(Harness):
    """A harness that runs nothing."""

    seconds = 4.0
    digest = "abc"

    def compare(self, cases: Any, main: str, repeats: int | None = None) -> Any:
        return [self.result(case) for case in cases]

    def result(self, case: Case) -> Any:
        from bench.harness import Result

        run: dict[str, Any] = {"import s": self.seconds, "digest": self.digest, "triples": 90}
        if "workers" in case.arguments:
            stage = {"stage": "terms", "seconds": 3.0, "spark": counted(500)}
            run |= {"statements": 100, "stages": [stage]}
        return Result(case, "import s", [run])


def test_report__has_a_row_for_each_way_and_stage(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    source = InputFile("x", tmp_path / "x.nt", "ntriples", 1)
    monkeypatch.setattr(spark, "lubm_file", lambda universities: source)
    given = argparse.ArgumentParser()
    spark.options(given)
    report = spark.run(given.parse_args(["--sizes", "1k,2k"]), FakeHarness(folder=tmp_path))
    overview, stages = report.tables
    assert len(overview.rows) == 2 * 4
    assert overview.rows[1][1:6] == [100, 4.0, 25.0, 40_000.0, 5.0]
    where = [row[0] for row in stages.rows[:2]]
    assert where == ["1 univ., 1 workers: terms", "1 univ., 2 workers: terms"]
    assert all(claim.holds for claim in report.claims)
    assert any("flat" in claim.text for claim in report.claims)


def test_report__another_digest_is_a_claim_that_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Other(FakeHarness):
        def result(self, case: Case) -> Any:
            self.digest = case.label
            return super().result(case)

    monkeypatch.setattr(
        spark, "lubm_file", lambda universities: InputFile("x", tmp_path / "x.nt", "ntriples", 1)
    )
    given = argparse.ArgumentParser()
    spark.options(given)
    report = spark.run(given.parse_args(["--sizes", "1k"]), Other(folder=tmp_path))
    assert not all(claim.holds for claim in report.claims)


def test_report__without_java_says_that_nothing_was_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def none() -> None:
        raise UsageError("no Java here")

    monkeypatch.setattr("triplestore.loaders.spark.java.find_java", none)
    given = argparse.ArgumentParser()
    spark.options(given)
    report = spark.run(given.parse_args(["--sizes", "1k"]), FakeHarness(folder=tmp_path))
    assert report.summary.endswith("Not measured: no Java here")
    assert report.tables == []


@pytest.fixture(autouse=True)
def java_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triplestore.loaders.spark.java.find_java", lambda: None)


def test_parse_by_rdflib__counts_triples() -> None:
    pa = pytest.importorskip("pyarrow")
    lines = ["<http://e/a> <http://e/b> <http://e/c> .", "_:a <http://e/b> 'x' .".replace("'", '"')]
    batch = pa.RecordBatch.from_pydict({"value": lines})
    (found,) = parse_by_rdflib(iter([batch]))
    assert found.column(0).to_pylist() == [2]

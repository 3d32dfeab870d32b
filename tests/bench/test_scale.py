"""The workload of growing stores, on the smallest one: parts fit together, and claims are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.harness import Case, Result
from bench.inputs import lubm
from bench.report import BenchReport
from bench.runs import scaling
from bench.workloads import scale


def test_scale__parts_and_report(
    tmp_path: Path, shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ontology = str(shared_data / "lubm" / "univ-bench.owl")
    monkeypatch.setattr(scaling, "MANY", 50)
    monkeypatch.setattr(scaling, "SINGLE", 3)
    monkeypatch.setattr(scaling, "warm_up", lambda ontology: None)
    data, store = tmp_path / "data.nt", str(tmp_path / "store")
    lubm.write(data, 1)
    built = scaling.build(str(data), ontology, store)
    assert built["facts"] > built["asserted"] > 100_000
    written, asked = scaling.write(store, ontology, 1, 0), scaling.ask(store, ontology)
    runs = [{**found, "main": 1, "peak bytes": 1} for found in (built, written, asked)]
    results = [Result(Case("", {}, ""), "main", [run]) for run in runs]
    report = BenchReport("scale", "")
    sizes = [scale.Measured(number, *results) for number in (1, 2)]
    report.tables += [part(sizes) for part in (scale.build_table, scale.write_table)]
    report.tables += [scale.query_table(sizes), scale.growth_table(sizes, report)]
    scale.claim(report, sizes)
    assert all(claim.holds for claim in report.claims if "at most" in claim.text)
    assert "| q14 |" in report.markdown()


def test_draw__facts_are_asserted_and_different(tmp_path: Path) -> None:
    from triplestore import Store

    with Store(tmp_path / "db") as store:
        few = lubm.Profile(departments=(15, 15))
        for part in lubm.universities(1, profile=few):
            store.load("".join(lubm.ntriples_lines(part)), "nt")
    drawn = scaling.draw(str(tmp_path / "db"), 1, 7)
    chosen = [quad for part in drawn for quad in part]
    assert len(set(chosen)) == len(chosen) == 2 * scaling.MANY + scaling.SINGLE
    with Store.read_only(tmp_path / "db") as store:
        assert all(quad in store for quad in chosen[:50])

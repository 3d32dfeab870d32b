"""Shapes of graphs and settings, and the report of the workload of modules."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench import literature_modules
from bench.harness import MeasurementError
from bench.report import BenchReport
from bench.runs import module_runs
from bench.runs.modular import COMPRESSED, MODULE, RULES, WAYS, Modular
from bench.shapes import graphs, papers, real, universities
from bench.shapes.graphs import graph
from bench.shapes.papers import setting
from bench.workloads import modules
from triplestore.closures.symmetric_transitive.symmetric_closure import SymmetricClosure
from triplestore.closures.transitive.transitive_closure import TransitiveClosure

SMALL = ("dagr-60-200", "claros-3000", "skos-3100", "relations-1500")


def holds(report: BenchReport) -> list[bool]:
    return [claim.holds for claim in report.claims]


def test_examples_in_docstrings() -> None:
    for module in (graphs, papers, modules):
        tested = doctest.testmod(module)
        assert tested.attempted and not tested.failed


@pytest.mark.parametrize("name", ["dag-50-300", "tree-40", "network-40-90", "broader-3000"])
def test_graphs__are_simple_and_the_same_each_time(name: str) -> None:
    edges = graph(name)
    assert (edges[1:] > edges[:-1]).all() and (edges == graph(name)).all()
    first, second = edges >> np.uint64(32), edges & np.uint64(0xFFFFFFFF)
    assert first.min() >= 1 and second.min() >= 1 and (first != second).all()


def test_graphs__are_of_the_shape_their_names_say() -> None:
    dag = graph("dag-50-300")
    assert (dag >> np.uint64(32) < dag & np.uint64(0xFFFFFFFF)).all()
    for name in ("tree-40", "network-40-90", "cycle-40"):
        assert SymmetricClosure.build(graph(name)).count() == 40 * 40
    assert TransitiveClosure.build(graph("cycle-40")).count() == 40 * 40
    assert len(graph("broader-3000")) == pytest.approx(3000, rel=0.01)
    with pytest.raises(MeasurementError, match="graph star-3 is unknown"):
        graph("star-3")


def test_real__edges_are_those_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_data: Path
) -> None:
    monkeypatch.setattr(real, "FOLDER", tmp_path)
    edges = graph("stw")
    assert len(edges) == 13_252 and TransitiveClosure.build(edges).count() == 45_791
    assert (graph("stw") == edges).all()  # now from the kept file


@pytest.mark.parametrize("name", SMALL)
def test_settings__come_to_the_same_facts_in_all_ways(name: str) -> None:
    made = setting(name)
    counts = set()
    for way in WAYS:
        kept = Modular(made)
        kept.close(way)
        counts.add(kept.count())
    assert len(counts) == 1 and counts.pop() > len(made)


def test_settings__have_the_modules_of_the_originals() -> None:
    for name, owned in (("claros-3000", 29), ("skos-3100", 2), ("relations-1500", 33)):
        kept = Modular(setting(name))
        kept.close(MODULE)
        schemes: Any = kept.store._database.state.tables.schemes
        assert len(schemes) == owned, name


def test_grouped__connects_members_of_one_place_only() -> None:
    members, places = np.arange(1, 101, dtype=np.uint32), np.repeat(np.uint32([7, 8]), 50)
    s, o = universities.grouped(members, places, 20, "x")
    assert len(s) == 2 * (50 - 3) and ((s <= 50) == (o <= 50)).all()
    keys = s.astype(np.uint64) << np.uint64(32) | o
    assert SymmetricClosure.build(keys).count() == 2 * (20**2 + 20**2 + 10**2)


@pytest.mark.parametrize("way", [RULES, COMPRESSED])
def test_measure__deletes_and_states_again(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module_runs, "start", lambda: None)
    monkeypatch.setattr(module_runs, "MOST_BYTES", -1)
    run = module_runs.measure("dagr-60-1000", way, samples=2, facts=20, share=0.25, seconds=60)
    assert len(run["delete"]) == len(run["add"]) == 2 and "late" not in run
    assert [one["inferred"] for one in run["delete"]] == [one["inferred"] for one in run["add"]]
    assert run["left"] < run["facts"] and run["static bytes"] > 0


def test_measure__says_when_rules_are_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module_runs, "start", lambda: None)
    monkeypatch.setattr(module_runs, "MOST_BYTES", -1)
    run = module_runs.measure("dagr-200-2000", RULES, samples=1, facts=5, share=0.25, seconds=1e-6)
    assert "facts" not in run and "seconds" in run["late"]
    assert modules.mean(run, "close") is None


def test_queries__give_the_same_rows_in_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module_runs, "LOOKUPS", 100)
    monkeypatch.setattr(module_runs, "start", lambda: None)
    rows, scheme = (
        module_runs.queries("dagr-60-200", way, "p")["seconds"] for way in (MODULE, COMPRESSED)
    )
    assert {q: n for q, (_, n) in rows.items()} == {q: n for q, (_, n) in scheme.items()}
    assert rows["all pairs"][1] == rows["COUNT in SPARQL"][1] > 200


def run_of(seconds: float, facts: int = 9, inferred: int = 3) -> dict[str, Any]:
    done = [{"seconds": seconds, "commit": seconds, "instances": 1, "inferred": inferred}]
    return {
        "facts": facts,
        "stated": 4,
        "instances": 5,
        "close s": seconds,
        "closing peak bytes": 1e6,
        "static bytes": 2e6,
        "delete": done,
        "add": done,
        "large": done[0],
        "left": 1,
    }


def test_claim_agreement__notices_other_facts_and_other_changes() -> None:
    report = BenchReport("x", "")
    for other in (run_of(2), run_of(2, facts=8), run_of(2, inferred=4)):
        modules.claim_agreement("d", {RULES: run_of(1), MODULE: other}, report)
    modules.claim_agreement("d", {RULES: {"late": "late"}, MODULE: run_of(1)}, report)
    assert holds(report) == [True, False, False, True]


def test_claim_ratios__compares_the_largest_size_with_the_paper() -> None:
    report = BenchReport("x", "")
    slow = {RULES: run_of(1), MODULE: run_of(1)}
    fast = {RULES: run_of(1200), MODULE: run_of(1)}
    modules.claim_ratios({"claros-1": slow, "claros-2": fast}, report)
    modules.claim_ratios({"dagr-1-1": slow, "relations-1": slow}, report)
    modules.claim_ratios({"dagr-1-1": {MODULE: run_of(1)}}, report)
    assert holds(report) == [True] * 4 + [False] * 4


def test_claim_ratios__of_late_rules_claims_what_is_known() -> None:
    report = BenchReport("x", "")
    late = {**run_of(200), "delete": [], "add": [], "at least": {"delete": 50.0, "large": 60.0}}
    del late["large"]
    modules.claim_ratios({"dagr-1-1": {RULES: late, MODULE: run_of(1)}}, report)
    assert [claim.measured for claim in report.claims] == ["200 times", "over 50 times"]
    closing = {"late": "late", "close s": 90.0}
    assert modules.at_least({RULES: closing, MODULE: run_of(1)}) == (90.0, None, None, None)


def test_tables__have_ours_first() -> None:
    ways = {RULES: run_of(6), MODULE: run_of(3), COMPRESSED: run_of(1)}
    late = {**ways, RULES: {"late": "over"}}
    table = literature_modules.modules_table({"d": modules.ratios(ways), "e": modules.ratios(late)})
    assert table.rows[0] == ["d", 2, 2, 2, 2] and table.rows[1] == ["e", None, None, None, None]
    assert table.rows[2][1] == pytest.approx(3593.32 / 733.55)
    schemes = literature_modules.schemes_table({"d": modules.figures(ways)}).rows
    assert schemes[0][1:4] == [6, 1, 2] and schemes[0][-2:] == [6, 3]
    assert schemes[5][-2:] == [pytest.approx(3973.21 / 26.45), pytest.approx(36.04 / 26.45)]
    broader = literature_modules.broader_table([("first", 10, 1.0, 2.0, 3.0)])
    assert broader.rows[0][:3] == ["first", 10, 1.0] and len(broader.rows) == 7
    assert modules.updates_table({"d": late}).rows[0][-1] == "over"
    assert modules.settings_table({"d": ways}).rows == [["d", 4, 9, 2.25, 5, 5]]

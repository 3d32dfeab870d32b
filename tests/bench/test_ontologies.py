"""Ontologies with data for benches: the generated data, and the closure of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.inputs import ontology_files
from bench.runs import ontology_runs
from bench.workloads.ontologies import refusal

AXIOMS = """
<http://e/C> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <http://e/D> .
<http://e/a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/C> .
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "facts.ttl"
    path.write_text(AXIOMS)
    return str(path)


def test_edges__stay_within_groups_and_go_upwards() -> None:
    lines = list(ontology_files._edges(["http://e/p", "http://e/q"], 1000))
    assert len(lines) == 1000
    for line in lines:
        subject, _, target = (part.strip("<>").rpartition("/")[2] for part in line.split()[:3])
        (group, low), (same, high) = subject.split("-"), target.split("-")
        assert group == same
        assert int(low) < int(high)
    assert lines == list(ontology_files._edges(["http://e/p", "http://e/q"], 1000))


def test_run__loads_reasons_and_counts(file: str, tmp_path: Path) -> None:
    session = ontology_runs.OurOntologySession()
    session.load(file)
    session.reason("owl-rl")
    assert session.count() == 3


def test_changes__leave_everything_as_it_was(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ontology_runs, "MUCH", 10)
    found = ontology_runs.changes([file], "owl-rl", str(tmp_path), "http://e/D", "http://e/C", 2)
    assert found["closure"] == 3
    assert {"instance removed", "instance added", "axiom added", "axiom removed"} <= set(found)


def test_refusal__says_who_cannot() -> None:
    each = ontology_files.OntologyInput("much", (), "skos", 10**9)
    assert refusal("triplestore", each) is None
    assert refusal("owlrl", each) is not None


def test_measured__leave_a_wide_ontology_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "wide.ttl"
    ontology_runs.wide(path, 10, 5)
    found = ontology_runs.measured("triplestore", str(path))
    steps = ("triples removed", "triples stated again", "equivalent added", "equivalent removed")
    assert found["closure"] > 40
    assert all(found[f"{step} cpu s"] > 0 for step in steps)

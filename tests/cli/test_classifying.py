"""The command `classify`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.classification.medicine import MEDICINE, NONSENSE
from tests.cli.cli_helpers import run

FUNCTIONAL = """Prefix(:=<http://e/>)
Ontology(<http://e/o>
  Declaration(Class(:A)) Declaration(Class(:B)) Declaration(Class(:C))
  Declaration(ObjectProperty(:r))
  SubClassOf(:A ObjectSomeValuesFrom(:r :B))
  EquivalentClasses(:C ObjectSomeValuesFrom(:r :B)))
"""
OBO = """format-version: 1.2
ontology: x

[Term]
id: X:1
name: one

[Term]
id: X:2
name: two
is_a: X:1
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "medicine.ttl"
    path.write_text(MEDICINE)
    return path


def test_classify__prints_a_tree(file: Path) -> None:
    result = run("classify", str(file))
    assert result.exit_code == 0
    assert "  :CardiacDisease = :HeartDisease" in result.stdout.splitlines()
    assert "0 unsatisfiable" in result.stderr


def test_classify__writes_triples(file: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.nt"
    result = run("classify", str(file), "-o", str(output), "--axiom-generators", "subclass")
    assert result.exit_code == 0
    lines = output.read_text().splitlines()
    below = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
    assert f"<http://e/Endocarditis> {below} <http://e/CardiacDisease> ." in lines
    assert not any("equivalentClass" in line for line in lines)


def test_classify__roots_are_below_thing_if_asked(file: Path) -> None:
    arguments = ("--format", "nt", "--exclude-tautologies", "false")
    assert "owl#Thing" in run("classify", str(file), *arguments).stdout
    assert "owl#Thing" not in run("classify", str(file), "--format", "nt").stdout


def test_classify__json_has_everything(file: Path) -> None:
    found = json.loads(run("classify", str(file), "--format", "json").stdout)
    assert found["equivalent"] == [["http://e/CardiacDisease", "http://e/HeartDisease"]]


def test_classify__unsatisfiable_classes_fail_with_the_axioms(tmp_path: Path) -> None:
    path = tmp_path / "bad.ttl"
    path.write_text(MEDICINE + NONSENSE)
    result = run("classify", str(path))
    assert result.exit_code == 1
    assert "unsatisfiable: <http://e/Nonsense>" in result.stderr
    assert ":Tissue DisjointWith :Disease" in result.stderr


@pytest.mark.parametrize(("allowed", "status"), [("all", 0), ("asserted-only", 0), ("none", 1)])
def test_classify__equivalent_classes_allowed(file: Path, allowed: str, status: int) -> None:
    result = run("classify", str(file), "--equivalent-classes-allowed", allowed)
    assert result.exit_code == status


def test_classify__inferred_equivalents_are_not_asserted(tmp_path: Path) -> None:
    path = tmp_path / "same.ttl"
    path.write_text("""@prefix : <http://e/> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    :A rdfs:subClassOf :B . :B rdfs:subClassOf :A .""")
    result = run("classify", str(path), "--equivalent-classes-allowed", "asserted-only")
    assert result.exit_code == 1


def test_classify__unknown_generators_are_named(file: Path) -> None:
    result = run("classify", str(file), "--axiom-generators", "disjointclasses")
    assert result.exit_code == 2
    assert "disjointclasses" in result.stderr


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("o.ofn", FUNCTIONAL, '["http://e/A", "http://e/C"]'),
        ("o.obo", OBO, "X_2"),
    ],
)
def test_classify__reads_owl_syntaxes(tmp_path: Path, name: str, text: str, wanted: str) -> None:
    pytest.importorskip("pyhornedowl", reason="needs the extra owl")
    path = tmp_path / name
    path.write_text(text)
    result = run("classify", str(path), "--format", "json")
    assert result.exit_code == 0, result.stderr
    assert wanted in json.dumps(json.loads(result.stdout))


def test_classify__a_broken_file_is_named(tmp_path: Path) -> None:
    pytest.importorskip("pyhornedowl", reason="needs the extra owl")
    path = tmp_path / "broken.ofn"
    path.write_text("Ontology(")
    result = run("classify", str(path))
    assert result.exit_code == 1
    assert "broken.ofn" in result.stderr

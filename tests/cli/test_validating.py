"""The command `validate`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from triplestore.cli import main

DATA = """@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Pilot rdfs:subClassOf :Person . :ada a :Pilot ."""
SHAPES = """@prefix : <http://example.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
:S sh:targetClass :Person ; sh:property
    [ sh:path :name ; sh:minCount 1 ; sh:severity sh:Warning ] ,
    [ sh:path :age ; sh:minCount 1 ] ."""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    data, shapes = tmp_path / "data.ttl", tmp_path / "shapes.ttl"
    data.write_text(DATA)
    shapes.write_text(SHAPES)
    return data, shapes


def run(*arguments: object) -> tuple[int, str]:
    found = CliRunner().invoke(main, ["validate", *map(str, arguments)])
    return found.exit_code, found.stdout


def test_validate__fails_by_severity(files: tuple[Path, Path], tmp_path: Path) -> None:
    data, shapes = files
    status, text = run("-f", data, "-s", shapes)
    assert status == 1
    assert "does not conform: 1 Violation, 1 Warning" in text
    assert run("-f", data, "-s", shapes, "--fail-on", "never")[0] == 0
    less = tmp_path / "less.ttl"
    less.write_text(SHAPES.replace("[ sh:path :age ;", "[ sh:path :age ; sh:severity sh:Info ;"))
    assert run("-f", data, "-s", less)[0] == 0
    assert run("-f", data, "-s", less, "--fail-on", "warning")[0] == 1


def test_validate__reads_a_store_and_writes_formats(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    data, shapes = files
    location = tmp_path / "db"
    assert CliRunner().invoke(main, ["load", "-l", str(location), "-f", str(data)]).exit_code == 0
    status, text = run("-l", location, "-s", shapes, "--reason", "rdfs", "--format", "json")
    assert status == 1
    assert json.loads(text)["counts"] == {"Violation": 1, "Warning": 1}
    assert run("-l", location)[0] == 0
    assert run("-l", location, "-f", data)[0] == 2
    assert run()[0] == 2

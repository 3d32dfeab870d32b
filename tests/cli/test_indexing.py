"""The command `index-text`."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import Result

from tests.cli.cli_helpers import run
from triplestore import Store

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Store("s") as store:
        store.load(f'<http://e/a> <{LABEL}> "Solar panels"@en, "suns" .', "ttl")
        store.bind("rdfs", LABEL.removesuffix("label"))


def index_text(*arguments: str) -> Result:
    return run("index-text", "-l", "s", "--quiet", *arguments)


def found(word: str) -> int:
    query = f"PREFIX text: <http://jena.apache.org/text#> SELECT ?x {{ ?x text:query '{word}' }}"
    return run("query", "-l", "s", "--results-format", "csv", query).stdout.count("http://e/a")


def test_index_text__makes_shows_changes_and_drops() -> None:
    assert index_text().exit_code == 2
    assert "2 literals" in index_text("rdfs:label").stderr
    shown = index_text().stdout
    assert shown.startswith(f"literals of <{LABEL}>; stems of all languages; 2 literals, ")
    assert (found("panel"), found("sun")) == (1, 0)
    assert index_text("--all", "--language", "en", "--language", "=en").exit_code == 0
    assert index_text().stdout.startswith("all strings; stems of no tag, en; 2 literals, ")
    assert (found("panel"), found("sun")) == (1, 1)
    assert index_text(LABEL, "--no-stems").exit_code == 0
    assert (found("panel"), found("panels")) == (0, 1)
    assert "no stems; 2 literals" in run("info", "-l", "s").stdout
    assert index_text("--drop").exit_code == 0
    assert index_text().exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--drop", "--all"), "give no properties"),
        (("--all", "rdfs:label"), "give properties, or --all"),
        (("--language", "en"), "which properties?"),
        (("--all", "--language", "en", "--no-stems"), "give --language, or --no-stems"),
        (("label",), "not an absolute IRI"),
        (("--all", "--language", "xx"), "language 'xx' has no stemmer"),
    ],
)
def test_index_text__says_what_is_wrong(arguments: tuple[str, ...], problem: str) -> None:
    done = index_text(*arguments)
    assert done.exit_code in (1, 2)
    assert problem in done.stderr

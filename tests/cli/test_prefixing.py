"""The command `prefix`."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from triplestore import Store
from triplestore.cli import main


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Store("s") as store:
        store.bind("ex", "http://ex.org/")
        store.bind("", "http://other.org/#")


def prefix(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["prefix", "-l", "s", *arguments])


def known() -> dict[str, str]:
    with Store.read_only("s") as store:
        return dict(store.prefixes)


def test_prefix__lists_and_shows() -> None:
    assert prefix().stdout == ": <http://other.org/#>\nex: <http://ex.org/>\n"
    assert prefix("ex").stdout == prefix("ex:").stdout == "http://ex.org/\n"
    assert prefix(":").stdout == "http://other.org/#\n"


def test_prefix__adds_changes_and_removes() -> None:
    assert prefix("foaf", "http://xmlns.com/foaf/0.1/").exit_code == 0
    assert prefix("ex:", "http://new.org/").exit_code == 0
    assert prefix("--remove", ":").exit_code == 0
    assert known() == {"ex": "http://new.org/", "foaf": "http://xmlns.com/foaf/0.1/"}


def test_prefix__all_of_it_or_nothing() -> None:
    assert prefix("--remove", "ex", "--remove", "none").exit_code == 2
    assert "ex" in known()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none",), "does not have the prefix none:"),
        (("a b", "http://e/"), "is not the name of a prefix"),
        (("ex", "no iri"), "is not an absolute IRI"),
        (("ex:a", "http://e/"), "is not the name of a prefix"),
    ],
)
def test_prefix__faults(arguments: tuple[str, ...], message: str) -> None:
    result = prefix(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_prefix__creates_no_store() -> None:
    result = CliRunner().invoke(main, ["prefix", "-l", "none", "ex", "http://e/"])
    assert result.exit_code == 1
    assert not Path("none").exists()

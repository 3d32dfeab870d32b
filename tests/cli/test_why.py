"""The commands about inferred facts: `why`, and `verify --closure`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from triplestore import NamedNode, Store
from triplestore.cli import main
from triplestore.relations import INFERRED, ChangedRows, Changes

FAMILY = """@prefix : <http://ex.org/> .
:ada :parent :bob . :bob :parent :cy . :cy a :Person .
"""
RULES = """@prefix : <http://ex.org/> .
rule "base" :ancestor[?x, ?y] :- :parent[?x, ?y] .
rule "step" :ancestor[?x, ?z] :- :ancestor[?x, ?y], :parent[?y, ?z] .
:Leaf[?x] :- :Person[?x], NOT :parent[?x, ?y] .
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("family.ttl").write_text(FAMILY)
    Path("rules.dlog").write_text(RULES)
    assert run("load", "-l", "s", "-f", "family.ttl", "--quiet").exit_code == 0
    assert run("reason", "-l", "s", "--rules", "rules.dlog", "--quiet").exit_code == 0
    return tmp_path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.mark.parametrize(
    "fact", [":ada :ancestor :cy", "<http://ex.org/ada> :ancestor :cy .", ":ancestor[:ada, :cy]"]
)
def test_why__prints_the_proof(folder: Path, fact: str) -> None:
    result = run("why", "-l", "s", fact)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert (
        result.stdout
        == """\
:ancestor[:ada, :cy]
│  by rule step (rules.dlog:3:1)
│  :ancestor[?x, ?z] :- :ancestor[?x, ?y], :parent[?y, ?z] .
│  ?x = :ada, ?y = :bob, ?z = :cy
├─ :ancestor[:ada, :bob]
│  │  by rule base (rules.dlog:2:1)
│  │  :ancestor[?x, ?y] :- :parent[?x, ?y] .
│  │  ?x = :ada, ?y = :bob
│  └─ :parent[:ada, :bob]  (stated)
└─ :parent[:bob, :cy]  (stated)
"""
    )


def test_why__absent_facts__says_what_is_missing(folder: Path) -> None:
    result = run("why", "-l", "s", ":bob a :Leaf")
    assert result.exit_code == 0
    assert "no match: :Person[:bob]" in result.stdout
    answer = json.loads(run("why", "-l", "s", ":bob a :Leaf", "--format", "json").stdout)
    assert answer["holds"] is False
    assert answer["attempts"][0]["here"] == ":Person[:bob]"


def test_why__formats(folder: Path) -> None:
    proof = json.loads(run("why", "-l", "s", ":cy a :Leaf", "--format", "json").stdout)
    assert proof["holds"] is True and proof["height"] == 1
    assert run("why", "-l", "s", ":cy a :Leaf", "--format", "dot").stdout.startswith("digraph")
    assert run("why", "-l", "s", ":cy a :Leaf", "--format", "mermaid").stdout.startswith("flow")
    refused = run("why", "-l", "s", ":bob a :Leaf", "--format", "dot")
    assert refused.exit_code == 2 and "no proof to draw" in refused.stderr


def test_why__refuses_texts_that_are_not_facts(folder: Path) -> None:
    for fact, reason in (
        (":ada :ancestor ?x", "found '?x'"),
        ("x:ada :ancestor :cy", "unknown prefix 'x:'"),
        (":ancestor[:ada, ?x]", "?x is a variable"),
        (":ancestor[:ada, :cy] :- :parent[:ada, :cy]", "that is a rule"),
        (":Leaf[:ada] . :Leaf[:bob]", "expected one fact"),
    ):
        result = run("why", "-l", "s", fact)
        assert result.exit_code == 1
        assert "is not a fact: " in result.stderr and reason in result.stderr


def test_why__takes_no_lock_and_changes_nothing(folder: Path) -> None:
    def files() -> dict[Path, bytes]:
        return {file: file.read_bytes() for file in Path("s").rglob("*") if file.is_file()}

    with Store("s"):  # which has the lock
        before = files()
        assert run("why", "-l", "s", ":nobody :ancestor :nothing").exit_code == 0
        assert files() == before


def test_verify__closure_that_is_right__passes(folder: Path) -> None:
    for option in ("--closure", "--thorough"):
        result = run("verify", "-l", "s", option, "--quiet")
        assert result.exit_code == 0
        assert "and 4 inferred facts: the closure is exact" in result.stdout


def test_verify__closure_that_is_wrong__names_what_is(folder: Path) -> None:
    with Store("s") as store:
        names = (NamedNode(f"http://ex.org/{name}") for name in ("bob", "ancestor", "ada"))
        a, p, c = store.lookup_ids(names)
        rows = ChangedRows.of(([p], [a], [c]), INFERRED, 0, np.zeros(1, np.uint32))
        with store._database.writing():
            store._database.commit([Changes(facts=rows)])
    assert run("verify", "-l", "s", "--quiet").exit_code == 0
    result = run("verify", "-l", "s", "--closure", "--quiet")
    assert result.exit_code == 1
    assert "does not follow from stated facts: :ancestor[:bob, :ada]" in result.stdout
    with Store.read_only("s") as store:
        assert store.verify() == []
        assert store.verify(closure=True) == result.stdout.splitlines()

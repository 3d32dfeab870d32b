"""The commands `branch`, `what-if`, `log` and `show`, and `query --at`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from triplestore import Store

from .cli_helpers import run

QUERY = "SELECT ?x { ?x a :Animal }"
DATA = "@prefix : <http://ex.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Store("s") as store:
        store.load(DATA + ":Cat rdfs:subClassOf :Animal . :tom a :Cat .", "ttl")
        store.reason("rdfs")
        store.keep_history()
    Path("more.ttl").write_text(DATA + ":kit a :Cat .")
    Path("more.dlog").write_text("PREFIX : <http://ex.org/> :Pet[?x] :- :Cat[?x] .")


def test_branch__is_made_queried_compared_and_committed() -> None:
    done = run("branch", "-l", "s", "try", "-f", "more.ttl", "--rules", "more.dlog")
    assert done.exit_code == 0
    assert "added 1" in done.stdout
    assert "<http://ex.org/Pet>" in done.stdout
    assert ":kit" in run("branch", "-l", "s", "try", "-q", QUERY).stdout
    assert ":kit" not in run("query", "-l", "s", QUERY).stdout
    (listed,) = json.loads(run("branch", "-l", "s", "--format", "json").stdout)
    assert (listed["name"], listed["base"], listed["edits"]) == ("try", 3, 1)
    done = run("branch", "-l", "s", "try", "--commit", "--message", "A kitten")
    assert done.exit_code == 0
    assert ":kit" in run("query", "-l", "s", QUERY).stdout
    assert "no branches" in run("branch", "-l", "s").stderr
    assert "A kitten" in run("log", "-l", "s", "-n", 1).stdout


def test_branch__that_conflicts_is_committed_only_with_rebase() -> None:
    assert run("branch", "-l", "s", "try", "-f", "more.ttl").exit_code == 0
    assert run("load", "-l", "s", "-f", "more.ttl", "--quiet").exit_code == 0
    done = run("branch", "-l", "s", "try", "--commit")
    assert done.exit_code == 1
    assert "was added" in done.stderr
    assert "1 commits behind" in run("branch", "-l", "s").stdout
    assert run("branch", "-l", "s", "try", "--commit", "--rebase").exit_code == 0


def test_branch__is_deleted() -> None:
    run("branch", "-l", "s", "try", "-f", "more.ttl")
    assert run("branch", "-l", "s", "try", "--delete").exit_code == 0
    done = run("branch", "-l", "s", "try", "--delete")
    assert (done.exit_code, "'try' does not exist" in done.stderr) == (1, True)


def test_what_if__says_what_would_fall() -> None:
    done = run("what-if", "-l", "s", "--without", ":tom a :Cat", "--format", "json")
    said = json.loads(done.stdout)
    assert (len(said["removed"]), len(said["inferred_removed"])) == (1, 1)
    done = run("what-if", "-l", "s", "--add", "more.ttl")
    assert "inferred 1" in done.stdout
    assert "survive" in done.stderr
    assert run("what-if", "-l", "s", "--remove-graph", "http://ex.org/none").exit_code == 1


def test_log_and_show__tell_what_commits_did() -> None:
    run("load", "-l", "s", "-f", "more.ttl", "--quiet")
    newest, _ = json.loads(run("log", "-l", "s", "--format", "json").stdout)
    assert (newest["commit"], newest["added"], newest["inferred_added"]) == (4, 1, 1)
    shown = run("show", "-l", "s", 4).stdout.splitlines()
    assert len(shown) == 3
    assert sum(line.endswith("# inferred") for line in shown) == 1
    said = json.loads(run("show", "-l", "s", 4, "--format", "json").stdout)
    assert len(said["quads_added"]) == 2
    assert run("show", "-l", "s", 3).exit_code == 0
    assert run("show", "-l", "s", 99).exit_code == 1
    assert ":kit" not in run("query", "-l", "s", "--at", 3, QUERY).stdout
    assert run("query", "-l", "s", "--at", 1, QUERY).exit_code == 1


def test_log__sets_what_is_kept() -> None:
    assert run("log", "-l", "s", "--keep-commits", 1, "--keep-days", 2).exit_code == 0
    assert len(run("log", "-l", "s").stdout.splitlines()) == 1
    assert run("log", "-l", "s", "--keep", "none").exit_code == 0
    assert "no history" in run("log", "-l", "s").stderr
    assert run("log", "-l", "s", "--keep", "none", "--keep-size", "1M").exit_code == 1

"""The commands `diff` and `retract`: what they print, write and return."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result
from comparison.repository import NEW, OLD, make_repository, write

from triplestore import Store
from triplestore.cli import main


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)))


def test_diff__prints_a_report_and_writes_others(tmp_path: Path) -> None:
    old, new = write(tmp_path / "old", OLD), write(tmp_path / "new", NEW)
    names = ["a.md", "a.json", "a.sarif", "a.html", "a.txt"]
    reports = [part for name in names for part in ("--report", tmp_path / name)]
    done = run("diff", old, new, "--reason", "owl-rl", "--cache", tmp_path / "cache", *reports)
    assert done.exit_code == 0, done.output
    assert "onto.ttl:7  + :Animal rdfs:subClassOf :Being" in done.stdout
    assert json.loads((tmp_path / "a.json").read_text())["metrics"]["added"] == 3
    assert all((tmp_path / name).stat().st_size for name in names)


def test_diff__fails_on_a_condition(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "work")
    options = ["-C", repository, "--reason", "owl-rl", "--no-cache"]
    failing = run("diff", "main..topic", *options, "--fail-on", "violations>0")
    assert failing.exit_code == 1
    assert "the condition holds: violations>0" in failing.stderr
    assert run("diff", "main..topic", *options, "--fail-on", "violations>1").exit_code == 0


def test_diff__tells_a_mistake_in_a_condition_before_the_work(tmp_path: Path) -> None:
    done = run("diff", tmp_path / "no", tmp_path / "no", "--no-cache", "--fail-on", "violation>0")
    assert done.exit_code == 1
    assert "did you mean 'violations'" in done.stderr


def test_diff__refuses_an_unknown_kind_of_report(tmp_path: Path) -> None:
    done = run("diff", tmp_path, tmp_path, "--report", "a.pdf")
    assert done.exit_code == 2
    assert ".sarif" in done.stderr


def make_store(folder: Path) -> Path:
    with Store(folder) as store:
        store.load(NEW["onto.ttl"], "ttl")
        store.load(NEW["data/people.nt"], "nt")
        store.reason("owl-rl")
    return folder


def test_retract__lists_removals_and_changes_nothing(tmp_path: Path) -> None:
    place = make_store(tmp_path / "a.db")
    done = run("retract", "-l", place, "violation:1", "--format", "json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["applied"] is None
    with Store.read_only(place) as store:
        assert len(store.violations()) == 1


def test_retract__applies_one(tmp_path: Path) -> None:
    place = make_store(tmp_path / "a.db")
    done = run("retract", "-l", place, ":tom a :Being", "--apply", 1)
    assert done.exit_code == 0, done.output
    with Store.read_only(place) as store:
        assert not store.why(":tom a :Being")


def test_retract__fails_if_all_is_protected(tmp_path: Path) -> None:
    place = make_store(tmp_path / "a.db")
    done = run("retract", "-l", place, ":tom a :Being", "--protect-graph", "default")
    assert done.exit_code == 1
    assert "protected" in done.stdout
    assert run("retract", "-l", place, "violation:9").exit_code == 2
    assert run("retract", "-l", place, ":tom a :Dog").exit_code == 1

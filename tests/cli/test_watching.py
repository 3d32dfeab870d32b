"""The command `watch`."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from triplestore import Store

from .cli_helpers import run

QUERY = "SELECT ?x { ?x a :Cat }"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Store("s") as store:
        store.bind("", "http://ex.org/")
        store.update("INSERT DATA { :tom a :Cat }")


def test_watch__prints_rows_that_come_and_go_while_another_process_writes() -> None:
    def write() -> None:
        with Store("s") as store:
            store.update("INSERT DATA { :kit a :Cat }")
            store.update("DELETE DATA { :tom a :Cat }")

    writer = threading.Timer(0.5, write)
    writer.start()
    done = run("watch", "-l", "s", "--every", 0.02, "--seconds", 2, QUERY)
    writer.join()
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[:2] == ["commit 2", "+ <http://ex.org/tom>"]
    assert sorted(line for line in lines[2:] if line[0] in "+-") == [
        "+ <http://ex.org/kit>",
        "- <http://ex.org/tom>",
    ]


def test_watch__writes_lines_of_json_and_reads_the_query_from_standard_input() -> None:
    done = run("watch", "-l", "s", "--json", "--seconds", 0, "--every", 0.02, stdin=QUERY)
    (line,) = done.stdout.splitlines()
    assert json.loads(line)["added"] == [[{"type": "uri", "value": "http://ex.org/tom"}]]
    nothing = run("watch", "-l", "s", "--no-initial", "--seconds", 0, "--every", 0.02, QUERY)
    assert (nothing.exit_code, nothing.stdout) == (0, "")


def test_watch__continues_after_a_commit() -> None:
    with Store("s") as store:
        store.update("INSERT DATA { :kit a :Cat }")
    done = run("watch", "-l", "s", "--since", 2, "--seconds", 0, "--every", 0.02, QUERY)
    assert done.stdout.splitlines() == ["commit 3", "+ <http://ex.org/kit>"]


def test_watch__says_what_it_cannot_follow() -> None:
    done = run("watch", "-l", "s", "ASK { ?s ?p ?o }")
    assert done.exit_code == 1
    assert "only the rows of a SELECT" in done.stderr

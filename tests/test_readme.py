"""The examples of the README are run, from top to bottom, in one empty folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.page_examples import blocks, check, run_command

README = Path(__file__).resolve().parent.parent / "README.md"


def test_readme__examples_are_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    problems = check(README.read_text(), tmp_path)
    assert not problems, "\n".join(problems)


def test_readme__names_every_command() -> None:
    from triplestore.cli import main

    text = README.read_text()
    assert [name for name in main.commands if f"`{name}`" not in text] == []


def test_readme__example_for_spark_is_that_of_the_page_about_spark() -> None:
    """The page's is run where there is Java."""
    page = (README.parent / "docs" / "how-to" / "spark.md").read_text()
    (example,) = (one.content for one in blocks(page) if one.title == "frames.py")
    assert f"```python\n{example}```\n" in README.read_text()


def test_check__notices_wrong_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    wrong = "```python\n>>> 1 + 1\n3\n```\n```console\n$ triplestore --version\nnonsense\n```\n"
    assert len(check(wrong, tmp_path)) == 2
    right = wrong.replace("3\n", "2\n").replace("nonsense", "triplestore, version ...")
    assert check(right, tmp_path) == []


def test_run_command__of_a_slow_machine_has_no_progress_in_what_it_prints(tmp_path: Path) -> None:
    facts = "<x:a> <x:made> <x:b> ."
    assert (
        run_command(f"triplestore load -l new.db --format nt --quiet <<< '{facts}'", "", tmp_path)
        == []
    )
    rules = ":Old[?x] :- :made[?x, ?y] ."
    command = f"triplestore reason -l new.db --rules - --dry-run <<< '@prefix : <x:> . {rules}'"
    expected = "rules           1\n...\ndry run: nothing was changed\n"
    assert run_command(command, expected, tmp_path) == []
    assert run_command(command, expected, tmp_path, first="0.0") != []  # this would be in it

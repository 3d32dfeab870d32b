"""The examples of the README are run, from top to bottom, in one empty folder.

Python blocks are doctests. In console blocks the lines after `$ triplestore ...` must be what that
command prints, on both streams; other commands (git, make, pip) are for the reader. Lines of
progress, which come where a command takes longer than usual, are put off for ever.
"""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

README = Path(__file__).resolve().parent.parent / "README.md"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
ENTRY = (
    "import sys; from triplestore.cli import main; from triplestore.reasoning import progress; "
    "progress.FIRST = {first}; main(sys.argv[1:])"
)
NEVER = 'float("inf")'


def blocks(text: str) -> Iterator[tuple[str, str, int]]:
    """(language, content, line) of each fenced block."""
    for match in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        yield match[1], match[2], text[: match.start()].count("\n") + 2


def run_python(source: str, line: int, names: dict[str, object]) -> list[str]:
    example = doctest.DocTestParser().get_doctest(source, names, "README.md", str(README), line - 1)
    problems: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(example, out=problems.append, clear_globs=False)
    names.update(example.globs)
    return problems


def commands(source: str) -> Iterator[tuple[str, str]]:
    """(command line, what it prints) of a console block."""
    for part in re.split(r"^\$ ", source, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        yield command, expected


def run_command(command: str, expected: str, folder: Path, first: str = NEVER) -> list[str]:
    if not command.startswith("triplestore "):
        return []
    entry = ENTRY.format(first=first)
    shell = f'triplestore() {{ {sys.executable!r} -c {shlex.quote(entry)} "$@"; }}; {command}'
    run = subprocess.run(["bash", "-c", shell], cwd=folder, capture_output=True, text=True)
    got = run.stdout + run.stderr
    if doctest.OutputChecker().check_output(expected, got, FLAGS):
        return []
    return [f"$ {command}\nExpected:\n{expected}Got:\n{got}"]


def check(text: str, folder: Path) -> list[str]:
    problems: list[str] = []
    names: dict[str, object] = {}
    for language, content, line in blocks(text):
        if language == "python":
            problems += run_python(content, line, names)
        elif language == "console":
            for command, expected in commands(content):
                problems += run_command(command, expected, folder)
    return problems


def test_readme__examples_are_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    problems = check(README.read_text(), tmp_path)
    assert not problems, "\n".join(problems)


def test_readme__names_every_command() -> None:
    from triplestore.cli import main

    text = README.read_text()
    assert [name for name in main.commands if f"`{name}`" not in text] == []


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

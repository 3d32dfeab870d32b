"""The examples of a page of documentation are run, from top to bottom, in one folder.

Python blocks are doctests. In console blocks the lines after `$ triplestore ...` (or `$ curl ...`,
`$ python ...`) must be what that command prints, on both streams; other commands (git, make, pip)
are for the reader, and one that ends in ` &` runs until the page ends. A block with a title is a
file of that name, and a block of rules is checked. Lines of progress, which come where a command
takes longer than usual, are put off for ever.
"""

from __future__ import annotations

import doctest
import re
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
ENTRY = (
    "import sys; from triplestore.cli import main; from triplestore.reasoning import progress; "
    "progress.FIRST = {first}; main(sys.argv[1:])"
)
NEVER = 'float("inf")'
OURS = ("triplestore ", "curl ", "python ")
PORT = "7878"
"""The port that pages name. A free one takes its place."""


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    title: str | None
    content: str
    line: int


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks with a language."""
    fence = r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$'
    for match in re.finditer(fence, text, re.DOTALL | re.MULTILINE):
        yield Block(match[1], match[2], match[3], text[: match.start()].count("\n") + 2)


def run_python(source: str, line: int, names: dict[str, object], page: str) -> list[str]:
    example = doctest.DocTestParser().get_doctest(source, names, page, page, line - 1)
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


def shell_line(command: str, first: str = NEVER) -> list[str]:
    entry = ENTRY.format(first=first)
    return [
        "bash",
        "-c",
        f'triplestore() {{ {sys.executable!r} -c {shlex.quote(entry)} "$@"; }}; '
        f'python() {{ {sys.executable!r} "$@"; }}; {command}',
    ]


def run_command(command: str, expected: str, folder: Path, first: str = NEVER) -> list[str]:
    if not command.startswith(OURS):
        return []
    line = shell_line(command, first)
    run = subprocess.run(line, cwd=folder, capture_output=True, text=True)
    got = run.stdout + run.stderr
    if doctest.OutputChecker().check_output(expected, got, FLAGS):
        return []
    return [f"$ {command}\nExpected:\n{expected}Got:\n{got}"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return int(probe.getsockname()[1])


def start_server(command: str, folder: Path, port: int, running: ExitStack) -> None:
    """Start a command that ends in ` &`, and wait until its port answers."""
    entry = ENTRY.format(first=NEVER)
    line = [sys.executable, "-c", entry, *shlex.split(command.removesuffix(" &"))[1:]]
    process = subprocess.Popen(line, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    running.callback(process.wait)
    running.callback(process.terminate)
    assert process.stdout is not None
    running.callback(process.stdout.close)
    end = time.monotonic() + 30
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection(("localhost", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(f"$ {command}\ndoes not answer on port {port}")


def check(text: str, folder: Path, page: str = "README.md") -> list[str]:
    """What is not as the page says, each as a text."""
    # Late: checks without rules do not need it.
    from triplestore import check_rules

    problems: list[str] = []
    names: dict[str, object] = {}
    port = free_port()
    with ExitStack() as running:
        for block in blocks(text.replace(PORT, str(port))):
            if block.title:
                (folder / block.title).write_text(block.content, encoding="utf-8")
            elif block.language == "python":
                problems += run_python(block.content, block.line, names, page)
            elif block.language == "rules":
                problems += [f"{page}:{block.line}: {one}" for one in check_rules(block.content)]
            elif block.language == "console":
                for command, expected in commands(block.content):
                    if command.endswith(" &"):
                        start_server(command, folder, port, running)
                    else:
                        problems += run_command(command, expected, folder)
    return problems

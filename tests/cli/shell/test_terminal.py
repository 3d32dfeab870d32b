"""The command `shell`: statements from options and standard input, and a real terminal."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from triplestore import Store
from triplestore.cli import main
from triplestore.cli.shell.commands import session_of
from triplestore.cli.shell.session import Settings
from triplestore.cli.shell.terminal import converse

DATA = "@prefix : <http://ex.org/> . :ada :parent :bob . :bob :parent :cy ."


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    with Store("s.db") as store:
        store.load(DATA, "turtle")
    return tmp_path


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, ["shell", *arguments], input=stdin)


def test_shell__statements_from_options_and_standard_input(folder: Path) -> None:
    count = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
    first = run("s.db", "-c", "INSERT DATA { :cy :parent :dora }", "-c", count)
    assert first.exit_code == 0 and first.stdout.startswith("added 1\n")
    assert "│  3 │" in first.stdout
    second = run("-l", "s.db", "--read-only", "--ascii", stdin=f"{count}\nASK {{\n}}\n\n")
    assert "|  3 |" in second.stdout and second.stdout.endswith("true\n")


def test_shell__the_first_error_ends_it(folder: Path) -> None:
    result = run("s.db", stdin="SELCT * {}\nASK {}\n")
    assert result.exit_code == 1
    assert result.stdout == "" and "did you mean SELECT?" in result.stderr


def test_shell__without_a_directory_is_in_memory(folder: Path) -> None:
    assert run("-c", "SELECT * { ?s ?p ?o }").stdout == "no rows\n"


def test_shell__a_new_store_is_made_and_said(folder: Path) -> None:
    result = run("new.db", "-c", "ASK {}")
    assert "new.db is a new store" in result.stderr and Path("new.db").is_dir()


def test_shell__reads_while_another_process_writes(folder: Path) -> None:
    program = (
        "import sys; from triplestore import Store; s = Store('s.db'); print(); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdout is not None and other.stdin is not None
    with other:
        other.stdout.readline()
        result = run("s.db", "-c", "ASK { :ada :parent :bob }")
        other.stdin.close()
    assert result.stdout == "true\n" and "opened for reading only" in result.stderr


def test_shell__wrong_command_lines(folder: Path) -> None:
    assert run("s.db", "-l", "t.db").exit_code == 2
    assert run("--read-only").exit_code == 2
    assert run("none.db", "--read-only").exit_code == 1


def test_converse__collects_lines_and_survives_errors(capsys: pytest.CaptureFixture[str]) -> None:
    store = Store()
    store.load(DATA, "turtle")
    written: list[str] = []
    session = session_of(store, written.append, lambda: 40, Settings(timer=False, plain=True))
    asked: list[str] = []
    last = ["SELECT ?x {", " ?x :parent :cy }", "", "ASK {}", ".quit"]
    typed = iter(["", "SELECT ?x {", "STOP", "SELCT", *last])

    def read(prompt: str) -> str:
        asked.append(prompt)
        line = next(typed)
        if line == "STOP":
            raise KeyboardInterrupt
        return line

    converse(session, "s.db", read)
    assert asked[:3] == ["s.db> ", "s.db> ", " ...> "]
    assert written[0] == "" and "| :bob |" in written[1] and written[2] == "true"
    assert "error: expected a query" in capsys.readouterr().err


def test_converse__ends_at_the_end_of_input() -> None:
    def read(prompt: str) -> str:
        raise EOFError

    written: list[str] = []
    converse(session_of(Store(), written.append), "s", read)
    assert written == [""]


class Terminal:
    """The shell in a terminal of its own."""

    def __init__(self, *arguments: str) -> None:
        self.master, slave = pty.openpty()
        environment = {
            **os.environ, "TERM": "dumb", "TRIPLESTORE_HISTORY": "history", "COLUMNS": "60",
            "INPUTRC": "/dev/null",
        }  # fmt: skip
        command = [sys.executable, "-m", "triplestore.cli", "shell", *arguments]
        # A session of its own, whose terminal this is: Ctrl-C is typed, and becomes a signal there.
        self.process = subprocess.Popen(
            command, env=environment, preexec_fn=lambda: os.login_tty(slave)
        )
        os.close(slave)
        self.seen = ""

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def wait_for(self, text: str) -> None:
        end = time.monotonic() + 60
        while text not in self.seen:
            ready, _, _ = select.select([self.master], [], [], max(0, end - time.monotonic()))
            assert ready, f"no {text!r} in {self.seen!r}"
            self.seen += os.read(self.master, 4096).decode(errors="replace")
        self.seen = self.seen.partition(text)[2]

    def close(self) -> int:
        try:
            return self.process.wait(30)
        finally:
            self.process.kill()
            os.close(self.master)


def test_terminal__completes_and_remembers(folder: Path) -> None:
    pytest.importorskip("readline")
    terminal = Terminal("s.db")
    terminal.wait_for("s.db: 2 quads")
    terminal.wait_for("s.db> ")
    terminal.type("SELECT ?x { ?x :par\t")
    terminal.wait_for(":parent")
    terminal.type(" :cy }\r")
    terminal.wait_for(":bob")
    terminal.wait_for("1 row")
    terminal.wait_for("s.db> ")
    terminal.type(".pref\t\r")
    terminal.wait_for("http://ex.org/")
    terminal.wait_for("s.db> ")
    terminal.type(".quit\r")
    assert terminal.close() == 0
    remembered = Path("history").read_text().split("\n")
    assert "SELECT ?x { ?x :parent :cy }" in [line.replace("\\040", " ") for line in remembered]


def test_terminal__control_c_stops_what_runs_and_not_the_shell(folder: Path) -> None:
    lines = [f"<http://e/{i}> <http://e/q> <http://e/o> .\n" for i in range(3000)]
    with Store("s.db") as store:
        store.load("".join(lines), "nt")
    terminal = Terminal("s.db")
    terminal.wait_for("s.db> ")
    terminal.type("PREFIX e: <http://e/>\r")
    terminal.wait_for("s.db> ")
    terminal.type("SELECT * { ?a e:q ?b . ?c e:q ?b . ?d e:q ?b FILTER(STR(?a) < STR(?d)) }\r")
    time.sleep(2)
    terminal.type("\x03")
    terminal.wait_for("interrupted")
    terminal.wait_for("s.db> ")
    terminal.type("ASK { :ada :parent :bob }\r")
    terminal.wait_for("true")
    terminal.wait_for("s.db> ")
    terminal.type("\x04")
    assert terminal.close() == 0

"""Lines of progress: on a terminal, in a notebook, in a log."""

from __future__ import annotations

import io

import pytest

from triplestore import Store, live_line
from triplestore.live_line import LiveLine
from triplestore.loaders import Progress
from triplestore.reasoning import progress as reasoning_progress
from triplestore.reasoning.progress import ProgressLine


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class OutStream(io.StringIO):
    """The streams of a Jupyter kernel are of a class of `ipykernel.iostream`."""


OutStream.__module__ = "ipykernel.iostream"


def visible(written: str) -> str:
    """What a page shows of a line with carriage returns: later characters replace earlier ones."""
    line: list[str] = []
    for part in written.split("\r"):
        line[: len(part)] = part
    return "".join(line).rstrip()


@pytest.mark.parametrize(
    ("stream", "every"),
    [
        (Terminal(), live_line.ON_TERMINAL),
        (OutStream(), live_line.IN_NOTEBOOK),
        (io.StringIO(), live_line.IN_LOG),
    ],
)
def test_live_line__says_how_often(stream: io.StringIO, every: float) -> None:
    assert LiveLine(stream).every == every


def test_live_line__on_a_terminal_is_erased() -> None:
    stream = Terminal()
    line = LiveLine(stream)
    line.clear()  # nothing is there yet
    line.show("a long line")
    line.show("short")
    line.clear()
    line.clear()
    assert stream.getvalue() == "\r\x1b[Ka long line\r\x1b[Kshort\r\x1b[K"


def test_live_line__in_a_notebook_is_written_over() -> None:
    stream = OutStream()
    line = LiveLine(stream)
    line.show("a long line")
    assert visible(stream.getvalue()) == "a long line"
    line.show("short")
    assert visible(stream.getvalue()) == "short"
    line.clear()
    assert visible(stream.getvalue()) == ""
    assert "\x1b" not in stream.getvalue()
    assert "\n" not in stream.getvalue()


def test_live_line__in_a_log_stays() -> None:
    stream = io.StringIO()
    line = LiveLine(stream)
    line.show("one")
    line.show("two")
    line.clear()
    assert stream.getvalue() == "one\ntwo\n"


def test_progress__of_a_load_is_replaced_in_a_notebook() -> None:
    stream, now = OutStream(), iter([0.0, 1.0, 1.2, 2.0])
    progress = Progress(100, stream, clock=lambda: next(now))
    progress.update(25, 1000)
    progress.update(50, 1000)  # too soon
    progress.update(75, 4000)
    assert "75%" in visible(stream.getvalue())
    assert "25%" not in visible(stream.getvalue())
    assert stream.getvalue().count("statements") == 2
    progress.close()
    assert visible(stream.getvalue()) == ""


def test_progress__of_reasoning_is_replaced_in_a_notebook(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = OutStream()
    monkeypatch.setattr(reasoning_progress, "FIRST", 0.0)
    monkeypatch.setattr("sys.stderr", stream)
    line = ProgressLine()
    line("stratum 1 of 3")
    assert visible(stream.getvalue()) == "stratum 1 of 3"
    store = Store()
    store.load("<x:a> <x:b> <x:c> .", "nt")
    store.reason(rules="<x:d>[?x, ?y] :- <x:b>[?x, ?y] .", progress=True)
    line.close()
    assert visible(stream.getvalue()) == ""

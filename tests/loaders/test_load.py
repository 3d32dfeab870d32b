"""A load as a whole: ids, graphs, threads, being called off, and leaving nothing behind."""

from __future__ import annotations

import _thread
import io
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyoxigraph as ox
import pytest

from tests.loaders.loading_helpers import lines_of, loaded, path_taken, quads_of
from triplestore.errors import CancelledError, ParseError, UsageError
from triplestore.loaders import BadStatement, Progress, load
from triplestore.loaders.report import ReadOptions
from triplestore.loaders.work import Work
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.term_keys import key_of

BOTH = pytest.mark.parametrize("large", [True, False], ids=["blocks", "small"])
DATA = b"".join(
    b'<http://a/%d> <http://p/%d> "%d"@en .\n_:b%d <http://p/0> <http://a/%d> .\n'
    % (i % 999, i % 7, i, i % 99, i)
    for i in range(10_000)
)


# --- ids ----------------------------------------------------------------------------------------


@pytest.mark.slow_kernels
@BOTH
def test_ids__known_terms_keep_theirs_and_new_ones_follow_by_kind_and_bytes(large: bool) -> None:
    dictionary = Dictionary()
    known = [b"\x01http://p/3", b'\x0417"@en', b"\x02f5xb7"]
    ids = dictionary.encode_keys(known).tolist()
    with path_taken(large):
        result = load(DATA, dictionary, format="nt", first_file_number=5)
    assert dictionary.size == 3, "nothing changes before the caller wants it"
    result.add_terms(dictionary)
    assert dictionary.lookup_keys(known).tolist() == ids
    keys = [dictionary.key(i) for i in range(4, dictionary.size + 1)]
    assert keys == sorted(keys)
    used = np.unique(np.concatenate([result.s, result.p, result.o]))
    assert used.tolist() == list(range(1, dictionary.size + 1))


@pytest.mark.slow_kernels
def test_ids__do_not_depend_on_path_threads_or_blocks() -> None:
    def columns(**how: Any) -> tuple[list[bytes], list[list[int]]]:
        result, dictionary = loaded(DATA, format="nt", **how)
        keys = [dictionary.key(i) for i in range(1, dictionary.size + 1)]
        return keys, [column.tolist() for column in (result.s, result.p, result.o, result.g)]

    wanted = columns(large=False)
    for threads in (1, 2, 5):
        assert columns(large=True, threads=threads, block_bytes=1 << 13) == wanted


@pytest.mark.slow_kernels
def test_ids__several_files_come_in_their_order(tmp_path: Path) -> None:
    lines = DATA.splitlines(keepends=True)
    paths = []
    for i in range(7):
        paths.append(tmp_path / f"{i}.nt")
        paths[-1].write_bytes(b"".join(lines[i::7]))
    results = []
    for threads in (1, 4):
        result, dictionary = loaded(
            None, path=tmp_path, large=True, threads=threads, block_bytes=1 << 13
        )
        results.append([str(quad) for quad in quads_of(result, dictionary)])
        assert [file.statements for file in result.files] == [len(lines[i::7]) for i in range(7)]
        assert [file.size for file in result.files] == [path.stat().st_size for path in paths]
    assert results[0] == results[1]
    assert {quad.split()[0][:4] for quad in results[0] if quad[0] == "_"} == {
        f"_:f{number}" for number in range(1, 8)
    }


@BOTH
def test_ids__nothing_to_load(large: bool) -> None:
    for text in (b"", b"\n", b"# only a comment", b" \t\r\n\r"):
        result, dictionary = loaded(text, large=large, format="nt")
        assert len(result) == 0 == dictionary.size
        assert result.s.dtype == np.uint32


# --- graphs -------------------------------------------------------------------------------------

QUADS = b"<a:s> <a:p> <a:o> .\n<a:s> <a:p> <a:o> <a:g> .\n<a:s> <a:p> <a:o> _:g .\n"


@BOTH
@pytest.mark.parametrize("form", ["nq", "trig"])
def test_to_graph__takes_the_default_graph_and_leaves_named_ones(form: str, large: bool) -> None:
    text = QUADS if form == "nq" else b"<a:s> <a:p> <a:o> . <a:g> {<a:s> <a:p> <a:o>}"
    result, dictionary = loaded(text, large=large, format=form, to_graph=ox.NamedNode("a:x"))
    found = lines_of(result, dictionary)
    assert found[:2] == ["<a:s> <a:p> <a:o> <a:g>", "<a:s> <a:p> <a:o> <a:x>"]
    assert result.has_named
    assert (result.g != 0).all()


@BOTH
def test_to_graph__a_blank_node_is_the_callers(large: bool) -> None:
    result, dictionary = loaded(
        b"_:a <a:p> <a:o> .", large=large, format="nt", to_graph=ox.BlankNode("a")
    )
    assert lines_of(result, dictionary) == ["_:f1xa <a:p> <a:o> _:a"]


@BOTH
@pytest.mark.parametrize(
    ("form", "text", "line"),
    [("nq", QUADS, 2), ("trig", b"<a:s> <a:p> <a:o> .\n<a:g> {<a:s> <a:p> <a:o>}", 2)],
)
def test_named_graphs__are_refused_on_request(
    form: str, text: bytes, line: int, large: bool
) -> None:
    with pytest.raises(ParseError) as caught:
        loaded(text, large=large, format=form, named_graphs="refuse")
    assert caught.value.lineno == line
    plain = QUADS.splitlines()[0]
    assert len(loaded(plain, large=large, format=form, named_graphs="refuse")[0]) == 1


def test_named_graphs__only_two_ways() -> None:
    with pytest.raises(UsageError, match="keep"):
        load(b"", Dictionary(), format="nt", named_graphs="merge")


# --- lenient ------------------------------------------------------------------------------------


@BOTH
def test_lenient__problems_say_where_and_why(tmp_path: Path, large: bool) -> None:
    path = tmp_path / "a.nt"
    path.write_bytes(DATA[:5_000].rsplit(b"\n", 1)[0] + b"\n<a:b> <a:c>\n<a:b> <a:c> <d> .\n")
    lines = path.read_bytes().count(b"\n")
    result, _ = loaded(None, path=path, large=large, lenient=True)
    assert result.bad == 2 == result.files[0].bad
    first, second = result.problems
    assert first == BadStatement(
        str(path), lines - 1, 12,
        "expected an IRI <...>, a blank node _:..., a literal \"...\" or a triple term "
        "<<( ... )>> as the object, found the end of the line",
        "<a:b> <a:c>",
    )  # fmt: skip
    assert (second.line, second.column, second.text) == (lines, 13, "<a:b> <a:c> <d> .")
    assert str(first).startswith(f"{path}:{lines - 1}:12: expected an IRI")
    assert "2 bad" in result.summary()


@BOTH
def test_lenient__only_the_first_problems_are_kept(large: bool) -> None:
    result, _ = loaded(b"nonsense\n" * 5_000, large=large, format="nt", lenient=True)
    assert result.bad == 5_000
    assert [problem.line for problem in result.problems] == list(range(1, 101))


# --- stopping -----------------------------------------------------------------------------------


class Endless(io.RawIOBase):
    """A document without end, or nearly so; tells when it was read from first."""

    def __init__(self, text: bytes) -> None:
        self.begun = threading.Event()
        self._text = text
        self._at = 0
        self._left = 1 << 31

    def read(self, size: int = -1) -> bytes:
        self.begun.set()
        self._left -= size
        if self._left < 0:
            raise AssertionError("it was not stopped")
        first, self._at = self._at, (self._at + size) % len(self._text)
        return (self._text * (size // len(self._text) + 2))[first : first + size]


@pytest.fixture
def no_threads_left() -> Iterator[None]:
    yield
    # A load waits 0.2 s for a thread that is reading; in plain Python a block takes longer.
    for thread in threading.enumerate():
        if thread.name.startswith("load-"):
            thread.join(timeout=10)
            assert not thread.is_alive()


@pytest.mark.usefixtures("no_threads_left")
@pytest.mark.parametrize(
    ("form", "text"),
    [("nt", b"<a:b> <a:c> <a:d> .\n"), ("ttl", b"<a:b> <a:c> <a:d> .\n"), ("ttl", b"# c\n")],
)
def test_cancel__stops_soon_and_changes_nothing(form: str, text: bytes) -> None:
    dictionary = Dictionary()
    stream = Endless(text)
    asked: list[float] = []

    def cancel() -> bool:
        if stream.begun.is_set():
            asked.append(time.monotonic())
        return len(asked) > 2

    with pytest.raises(CancelledError), path_taken(large=True, block_bytes=1 << 13):
        load(stream, dictionary, format=form, cancel=cancel, threads=2)
    assert time.monotonic() - asked[-1] < 60  # tells a hang; what it takes is measured elsewhere
    assert dictionary.size == 0


@pytest.mark.usefixtures("no_threads_left")
def test_interrupt__ends_all_threads() -> None:
    stream = Endless(b"<a:b> <a:c> <a:d> .\n")

    def interrupt() -> None:
        stream.begun.wait()
        time.sleep(0.1)
        _thread.interrupt_main()

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt), path_taken(large=True, block_bytes=1 << 13):
        load(stream, Dictionary(), format="nt", threads=2)


@pytest.mark.slow_kernels
@pytest.mark.usefixtures("no_threads_left")
def test_failure__leaves_the_dictionary_and_files_alone(tmp_path: Path) -> None:
    for i in range(6):
        (tmp_path / f"{i}.nt").write_bytes(DATA if i != 4 else DATA + b"<a:b> .\n")
    dictionary = Dictionary()
    dictionary.encode_keys([key_of(ox.NamedNode("http://a/1"))])
    with pytest.raises(ParseError) as caught, path_taken(large=True):
        load(None, dictionary, path=tmp_path, threads=3)
    assert caught.value.filename == str(tmp_path / "4.nt")
    assert caught.value.lineno == 20_001
    assert dictionary.size == 1


def test_failure__the_first_in_the_order_of_the_documents_is_raised() -> None:
    work = Work([], Dictionary(), ReadOptions())
    errors = {(1, 0): KeyError(), (0, 5): ValueError(), (0, 3): IndexError(), (2, 1): OSError()}
    for place, error in errors.items():
        work._fail(*place, error)
    with pytest.raises(IndexError):
        work.raise_failure()


# --- progress -----------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress__bar_rate_and_estimate_on_a_terminal() -> None:
    now = [0.0]
    screen = Terminal()
    bar = Progress(1_000, screen, clock=lambda: now[0])
    bar.update(100, 50)
    assert screen.getvalue() == "", "nothing before half a second"
    now[0] = 2.0
    bar.update(250, 3_000)
    text = screen.getvalue()
    assert "[######..................]  25%" in text
    assert "3,000 statements  1.5k/s  0:06 left" in text
    now[0] = 2.05
    bar.update(300, 4_000)
    assert screen.getvalue() == text, "not more than ten times a second"
    bar.close()
    assert screen.getvalue().endswith("\r\x1b[K")


def test_progress__lines_elsewhere_and_no_estimate_without_a_size() -> None:
    now = [0.0]
    log = io.StringIO()
    bar = Progress(None, log, clock=lambda: now[0])
    for second in range(1, 20):
        now[0] = float(second)
        bar.update(second * 100, (second - 1) * 2_000_000)
    bar.close()
    lines = log.getvalue().splitlines()
    assert lines[0] == "reading", "no rate of nothing"
    assert lines[1] == "10,000,000 statements  1.67M/s"
    assert len(lines) == 4


@pytest.mark.slow_kernels
def test_progress__is_kept_up_to_date_by_a_load() -> None:
    seen: list[tuple[int, int]] = []

    class Noting(Progress):
        def update(self, done: int, statements: int, note: str = "") -> None:
            seen.append((done, statements))

    bar = Noting(len(DATA), io.StringIO())
    with path_taken(large=True):
        load(DATA, Dictionary(), format="nt", progress=bar)
    assert seen[-1] == (len(DATA), 20_000)

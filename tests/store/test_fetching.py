"""LOAD over http from servers that send too much, too little, nothing, or elsewhere."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from triplestore import Store, TextLimits
from triplestore.errors import BudgetError, CancelledError, ParseError, TimeLimitError, UsageError

LINE = b"<a:s> <a:p> <a:o> .\n"
PATIENCE = 10  # seconds; generous


class _Hostile(BaseHTTPRequestHandler):
    """Answers by path, and notes how many bytes of its answers were taken."""

    server: _Server

    def do_GET(self) -> None:
        path, _, number = self.path[1:].partition("-")
        with contextlib.suppress(OSError):
            getattr(self, path)(int(number or 0))

    def _begin(self, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/n-triples")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def _endless(self) -> None:
        while not self.server.ending.is_set():
            self.wfile.write(LINE * 3_000)
            self.server.taken += 3_000 * len(LINE)

    def good(self, count: int) -> None:
        self._begin()
        self.wfile.write(LINE * count)

    def endless(self, _: int) -> None:
        self._begin()
        self._endless()

    def announced(self, _: int) -> None:
        self._begin(Content_Length=str(1 << 50))
        self._endless()

    def short(self, _: int) -> None:
        self._begin(Content_Length="1000")
        self.wfile.write(LINE)

    def silent(self, _: int) -> None:
        self.server.ending.wait(60)

    def drop(self, _: int) -> None:
        self._begin()
        while not self.server.ending.wait(0.02):
            self.wfile.write(b"#")

    def missing(self, _: int) -> None:
        self._begin(404)
        self._endless()

    def away(self, count: int) -> None:
        self._begin(302, Location=f"/away-{count - 1}" if count else "/good-1")

    def around(self, _: int) -> None:
        self._begin(302, Location="/around-0")

    def elsewhere(self, _: int) -> None:
        self._begin(302, Location="/good-1")
        self._endless()

    def no_http(self, _: int) -> None:
        self.wfile.write(b"\0" * 100)

    def log_message(self, *_: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Hostile)
        self.ending = threading.Event()
        self.taken = 0
        self.here = f"http://127.0.0.1:{self.server_port}/"


@pytest.fixture
def server() -> Iterator[_Server]:
    with _Server() as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        yield made
        made.ending.set()
        made.shutdown()
        thread.join()


def load(server: _Server, path: str, silent: bool = False, **options: object) -> Store:
    """A store after LOAD, which holds nothing but what was loaded also if it raises."""
    store = Store()
    word = "SILENT " if silent else ""
    try:
        store.update(f"LOAD {word}<{server.here}{path}>", load_from=[server.here], **options)
    except BaseException:
        assert len(store) == 0
        raise
    return store


@pytest.mark.parametrize("path", ["endless", "announced", "good-60"])
def test_size__more_than_the_limit_is_refused(server: _Server, path: str) -> None:
    limits = TextLimits(document=1_000)
    with pytest.raises(UsageError, match=r"more than 1,000 bytes.*TextLimits\(document="):
        load(server, path, limits=limits)
    assert len(load(server, path, silent=True, limits=limits)) == 0
    assert server.taken < 100 << 20
    assert len(load(server, "good-50", limits=limits)) == 1


def test_size__is_charged_to_the_budget(server: _Server) -> None:
    for silent in (False, True):
        with pytest.raises(BudgetError):
            load(server, "endless", silent, budget=1_000_000)
    assert server.taken < 100 << 20
    assert len(load(server, "good-1", budget=1_000_000)) == 1


@pytest.mark.parametrize("path", ["silent", "drop", "endless"])
@pytest.mark.parametrize("silent", [False, True])
def test_time__ends_waiting(server: _Server, path: str, silent: bool) -> None:
    began = time.monotonic()
    with pytest.raises(TimeLimitError):
        load(server, path, silent, timeout=0.15)
    assert time.monotonic() - began < PATIENCE


def test_cancel__ends_waiting_and_the_thread(server: _Server) -> None:
    flag = threading.Event()
    timer = threading.Timer(0.15, flag.set)
    timer.start()
    with pytest.raises(CancelledError):
        load(server, "drop", cancel=flag)
    timer.join()
    for thread in threading.enumerate():
        if thread.name == "fetch":
            thread.join(PATIENCE)
            assert not thread.is_alive()


def test_time__ends_parsing(tmp_path: Path) -> None:
    """What was fetched, or is in a file, is parsed within the same limits."""
    file = tmp_path / "a.nt"
    file.write_bytes(b"".join(b"<a:s> <a:p> <a:%d> .\n" % number for number in range(400_000)))
    store = Store()
    with pytest.raises(TimeLimitError):
        store.update(f"LOAD <{file.as_uri()}>", load_from=["file:"], timeout=0.02)
    assert len(store) == 0


def test_redirections__a_few_are_followed(server: _Server) -> None:
    assert len(load(server, "away-3")) == 1
    assert len(load(server, "elsewhere")) == 1
    for path in ("away-8", "around"):
        with pytest.raises(UsageError, match="302"):
            load(server, path)
    assert server.taken < 100 << 20


@pytest.mark.parametrize(
    ("path", "said"),
    [("short", "bytes early"), ("missing", "404"), ("no_http", "LOAD <")],
)
def test_answers__that_are_none_are_refused(server: _Server, path: str, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        load(server, path)
    assert len(load(server, path, silent=True)) == 0
    assert server.taken < 100 << 20


def test_server__that_is_not_there() -> None:
    with pytest.raises(UsageError, match="refused"):
        Store().update("LOAD <http://127.0.0.1:9/a>", load_from=["http://127.0.0.1:9/"])


def test_deep_documents__are_refused_as_those_of_files_are(server: _Server) -> None:
    def deep(handler: _Hostile, count: int) -> None:
        handler._begin()
        handler.wfile.write(b"<a:s> <a:p> " + b"<<( <a:s> <a:p> " * count)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_Hostile, "deep", deep, raising=False)
        with pytest.raises(ParseError, match="nested at most 100 deep"):
            load(server, "deep-1000")

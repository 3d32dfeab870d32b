"""Many queries, long ones, and the end of a server."""

from __future__ import annotations

import asyncio
import gc
import http.client
import json
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from triplestore import Store
from triplestore.errors import BudgetError, CancelledError, TimeLimitError
from triplestore.server.running import AnswerJob, AnswerOutput, JobPlace, Runner
from triplestore.server.serving import _listening
from triplestore.sparql.results.solutions import ResultRows

from .conftest import SLOW, Client, Reply, in_background, wait_until
from .conftest import numbers_query as many


def test_time_limit__is_a_504(serving: Callable[..., Client]) -> None:
    client = serving(seconds=0.3)
    reply = client.query(SLOW)
    assert reply.status == 504
    assert "time limit" in reply.text
    assert client.query("ASK {}").status == 200


def test_memory_limit__is_a_503(serving: Callable[..., Client]) -> None:
    client = serving(memory=200_000)
    reply = client.query(f"SELECT DISTINCT * {{ {{ {many(3)} }} }}")
    assert reply.status == 503
    assert "memory budget" in reply.text
    assert client.query("ASK {}").status == 200


def test_memory_limit__its_error_keeps_nothing(serving: Callable[..., Client]) -> None:
    client = serving(memory=200_000)
    gc.collect()
    gc.disable()
    try:
        for _ in range(4):
            assert client.query(f"SELECT DISTINCT * {{ {{ {many(3)} }} }}").status == 503
        wait_until(lambda: client.running() == 0)
        kept = [type(one) for one in gc.get_objects() if isinstance(one, BudgetError | ResultRows)]
    finally:
        gc.enable()
    assert kept == []


def test_threads__one_more_query_waits_and_is_refused(serving: Callable[..., Client]) -> None:
    client = serving(threads=1, wait=0.2, grace=0.2)
    thread = in_background(client, SLOW)
    wait_until(lambda: client.running() == 1)
    reply = client.query("ASK {}")
    assert reply.status == 503
    assert int(reply.headers["retry-after"]) > 0
    assert client.ask("/health").status == 200
    thread.join(0)


TURTLE = {"method": "POST", "content_type": "text/turtle"}


def test_changes__wait_for_another_writer_for_a_limited_time(
    serving: Callable[..., Client],
) -> None:
    client = serving(threads=1, update=True, wait=0.2)
    triple = "<http://ex.org/a> <http://ex.org/p> 1 ."
    before = len(client.store)
    with client.store.transaction():
        for reply in (
            client.update(f"INSERT DATA {{ {triple} }}"),
            client.ask("/store?default", **TURTLE, body=triple),
            client.ask("/store?default", method="DELETE"),
        ):
            assert (reply.status, reply.headers["retry-after"]) == (503, "5")
            assert "has been writing for over 0.2 seconds: try again later" in reply.text
        assert client.query("ASK {}").status == 200
    assert len(client.store) == before
    assert client.update(f"INSERT DATA {{ {triple} }}").status == 200


def test_changes__wait_no_longer_than_their_time_limit(serving: Callable[..., Client]) -> None:
    client = serving(update=True, wait=60.0, seconds=0.2)
    with client.store.transaction():
        assert client.update("INSERT DATA { :a :p 1 }").status == 503


ENDLESS = """@prefix : <http://ex.org/> .
:next[?x, ?y] :- :next[?z, ?x], BIND(IRI(CONCAT(STR(?x), "x")) AS ?y) .
"""


def test_changes__their_time_limit_includes_inference(serving: Callable[..., Client]) -> None:
    store = Store()
    store.reason(rules=ENDLESS, tuning={"max_seconds": 60})
    client = serving(store, update=True, seconds=0.5)
    triple = "<http://ex.org/a> <http://ex.org/next> <http://ex.org/b> ."
    for reply in (
        client.update(f"INSERT DATA {{ {triple} }}"),
        client.ask("/store?default", **TURTLE, body=triple),
    ):
        assert (reply.status, len(store)) == (504, 0)
        assert reply.text == "the change took more than 0.5 seconds; nothing has changed\n"


@pytest.mark.parametrize("kind", ["update", "graph"])
def test_changes__that_are_stopped_leave_the_store_as_it_was(
    serving: Callable[..., Client], kind: str
) -> None:
    store = Store()
    store.reason(rules=ENDLESS, tuning={"max_seconds": 60})
    client = serving(store, update=True)
    replies: list[Reply] = []
    triple = "<http://ex.org/a> <http://ex.org/next> <http://ex.org/b>"
    change: Callable[[], Reply] = partial(client.update, f"INSERT DATA {{ {triple} }}")
    if kind == "graph":
        change = partial(client.ask, "/store?default", **TURTLE, body=f"{triple} .")
    asking = threading.Thread(target=lambda: replies.append(change()))
    asking.start()
    wait_until(lambda: client.ask("/api/queries").text != "[]")
    time.sleep(0.3)  # by then it infers
    (running,) = json.loads(client.ask("/api/queries").text)
    assert running["kind"] == kind and ("INSERT" if kind == "update" else "POST") in running["text"]
    client.ask(f"/api/queries/{running['id']}", method="DELETE")
    asking.join()
    what = "change" if kind == "update" else "request"
    message = f"the {what} was stopped; nothing has changed\n"
    assert [(one.status, one.text) for one in replies] == [(503, message)]
    assert len(store) == 0


def test_client_that_goes__stops_its_query(serving: Callable[..., Client]) -> None:
    client = serving(seconds=60.0)
    connection = client.connection()
    connection.request("GET", "/query?" + urlencode({"query": SLOW}))
    wait_until(lambda: client.running() == 1)
    connection.close()
    wait_until(lambda: client.running() == 0)


def test_answers__stream_and_a_reader_that_goes_ends_them(serving: Callable[..., Client]) -> None:
    client = serving()
    connection = client.connection()
    parameters = urlencode({"query": many(4)})  # eight thousand million rows
    connection.request("GET", f"/query?{parameters}", headers={"accept": "text/csv"})
    answer = connection.getresponse()
    assert answer.status == 200
    assert answer.read(20).startswith(b"v0,v1,v2,v3\r\n")
    connection.close()
    answer.close()
    wait_until(lambda: client.running() == 0)


def test_output__ends_what_writes_to_it() -> None:
    loop = asyncio.new_event_loop()
    try:
        output = AnswerOutput(loop, seconds=60.0)
        assert output.write(b"x" * 100_000) == 100_000
        output.stop.set()
        with pytest.raises(CancelledError):
            output.write(b"x" * 100_000)
        late = AnswerOutput(loop, seconds=-1.0)
        assert late.is_over()
        with pytest.raises(TimeLimitError):
            late.write(b"x" * 100_000)
    finally:
        loop.close()


def test_answers__that_break_off_are_seen_to_be_incomplete(serving: Callable[..., Client]) -> None:
    serving().query(many(2))  # what is imported at the first answer may take as long as the limit
    client = serving(seconds=1.0)
    with pytest.raises((http.client.IncompleteRead, ConnectionError)):
        client.query(many(4))


def test_answers__are_whole_however_many_ask(serving: Callable[..., Client]) -> None:
    client = serving(threads=3)
    lengths: list[int] = []

    def ask() -> None:
        lengths.append(len(client.query(many(2)).text.splitlines()))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lengths == [90_001] * 8


def test_end__stops_what_runs(serving: Callable[..., Client]) -> None:
    client = serving(seconds=60.0, grace=0.2)
    in_background(client, SLOW)
    wait_until(lambda: client.running() == 1)
    # the fixture ends the server, and fails if that takes long


def test_end__answers_waiting_requests_with_503(
    serving: Callable[..., Client], capfd: pytest.CaptureFixture[str]
) -> None:
    client = serving(seconds=60.0, grace=0.2, threads=1)
    replies: list[Reply] = []
    threads = [
        threading.Thread(target=lambda: replies.append(client.query(SLOW))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    wait_until(lambda: client.running() == 1)
    client.end()
    for thread in threads:
        thread.join()
    assert [(reply.status, reply.text) for reply in replies] == [
        (503, "the server is shutting down\n")
    ] * 3
    assert "Traceback" not in capfd.readouterr().err


def test_client_that_goes_while_it_waits__is_not_answered(
    serving: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[JobPlace] = []
    start = Runner.start

    def noted(self: Runner, place: JobPlace, job: AnswerJob) -> asyncio.Future[None]:
        started.append(place)
        return start(self, place, job)

    monkeypatch.setattr(Runner, "start", noted)
    client = serving(seconds=0.6, threads=1)
    slow = in_background(client, SLOW)
    wait_until(lambda: client.running() == 1)
    for _ in range(5):
        connection = client.connection()
        connection.request("GET", "/query?query=ASK%20%7B%7D")
        time.sleep(0.02)
        connection.close()
    slow.join()
    assert client.query("ASK {}").status == 200
    assert len(started) == 2


def test_connections__answer_at_once() -> None:
    listening = _listening("localhost", 0)
    with listening, socket.create_connection(listening.getsockname()[:2]):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.proto == socket.IPPROTO_TCP  # asyncio switches off waiting for these


def test_body_that_ends_early__is_not_an_error_of_the_server(
    serving: Callable[..., Client], capfd: pytest.CaptureFixture[str]
) -> None:
    client = serving()
    with socket.create_connection(("localhost", client.port)) as connection:
        head = "POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n"
        connection.sendall(f"{head}Content-Type: application/sparql-query\r\n\r\nASK".encode())
        time.sleep(0.05)
    assert client.query("ASK {}").status == 200
    time.sleep(0.1)
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_command__serves_until_it_is_told_to_end(tmp_path: Path, number: signal.Signals) -> None:
    with Store(tmp_path / "s") as store:
        store.load("<http://ex.org/a> <http://ex.org/p> 1 .", "ttl")
    command = [sys.executable, "-m", "triplestore.cli", "serve", "-l", "s", "--bind", "localhost:0"]
    process = subprocess.Popen(
        [*command, "--allow-update"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    assert line.startswith("s is served at http://"), line
    address = line.split()[-1]
    query = urlencode({"query": "ASK { ?s ?p 1 }"})
    with urlopen(f"{address}/query?{query}", timeout=20) as answer:
        assert b"true" in answer.read()
    update = urlencode({"update": "INSERT DATA { <http://ex.org/b> <http://ex.org/p> 2 }"})
    with urlopen(f"{address}/update", data=update.encode(), timeout=20) as answer:
        assert answer.read() == b"added 1\n"
    process.send_signal(number)
    _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (0, "")
    with Store(tmp_path / "s") as store:  # the lock is free, and nothing is lost
        assert len(store) == 2


def test_command__says_what_is_wrong(tmp_path: Path) -> None:
    def ended(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "triplestore.cli", "serve", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        return done.returncode, done.stderr

    status, message = ended("-l", "none")
    assert status == 1
    assert not (tmp_path / "none").exists()
    with Store(tmp_path / "s"):
        pass
    status, message = ended("-l", "s", "--bind", "nonsense")
    assert status == 2
    assert "localhost:7878" in message


def test_waiting_requests__get_their_places_in_turn_and_none_is_lost(
    serving: Callable[..., Client],
) -> None:
    client = serving(threads=2, wait=30.0)
    chance = random.Random(3)
    statuses: list[int] = []

    def ask(number: int) -> None:
        with suppress(OSError, http.client.HTTPException):
            if number % 3 == 0:  # goes away while it waits or runs
                connection = client.connection()
                connection.request("GET", "/query?" + urlencode({"query": many(2)}))
                time.sleep(chance.random() / 20)
                connection.close()
            else:
                statuses.append(client.query("ASK {}").status)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(60)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [200] * 40
    wait_until(lambda: client.running() == 0)
    slow = [in_background(client, many(2)) for _ in range(2)]  # both places are still there
    wait_until(lambda: client.running() == 2 or not any(thread.is_alive() for thread in slow))
    for thread in slow:
        thread.join()

"""Limits of each client, and jobs that are listed and stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from triplestore.server import app
from triplestore.server.client_limits import ClientLimits
from triplestore.server.refusals import RefusedRequest
from triplestore.server.running import Runner
from triplestore.server.settings import Settings
from triplestore.server.watching.spans import Spans

from .conftest import SLOW, Client, Reply, basic, in_background, wait_until

ASK = {"query": "ASK {}"}


def test_per_client__further_queries_are_refused(
    serving: Callable[..., Client], users: Path
) -> None:
    client = serving(per_client=1, grace=0.2, seconds=3.0, users=users)
    thread = threading.Thread(
        target=lambda: client.ask("/query", {"query": SLOW}, authorization=basic("rita"))
    )
    thread.start()
    wait_until(lambda: '"running":1' in client.ask("/health", authorization=basic("ann")).text)
    reply = client.ask("/query", ASK, authorization=basic("rita"))
    assert reply.status == 429
    assert int(reply.headers["retry-after"]) > 0
    assert "at most 1 query" in reply.text
    # Limits are of users, not of addresses, where users log in.
    assert client.ask("/query", ASK, authorization=basic("wim")).status == 200
    thread.join()
    assert client.ask("/query", ASK, authorization=basic("rita")).status == 200


def test_per_client__queries_that_fail_count_no_longer(serving: Callable[..., Client]) -> None:
    client = serving(per_client=1)
    for text in ("nonsense", "SELECT", "ASK {}"):
        assert client.query(text).status != 429


def test_rate__is_kept_on_average() -> None:
    now = [0.0]
    limits = ClientLimits(0, 2.0, lambda: now[0])
    allowed = 0
    for step in range(1000):  # ten queries a second, for 100 seconds
        now[0] = step / 10
        try:
            limits.enter("a")
        except RefusedRequest as error:
            assert error.status == 429 and int(error.headers["retry-after"]) >= 1
        else:
            allowed += 1
            limits.leave("a")
    assert 200 <= allowed <= 204
    limits.enter("b")


def test_rate__does_not_count_the_small_requests_of_the_page() -> None:
    limits = ClientLimits(0, 1.0, lambda: 0.0)
    for _ in range(100):
        limits.enter("a", rated=False)
    limits.enter("a")
    limits.enter("a")
    with pytest.raises(RefusedRequest):
        limits.enter("a")


def test_limits__take_bounded_memory() -> None:
    limits = ClientLimits(1, 1.0)
    for number in range(10_100):
        limits.enter(str(number))
        limits.leave(str(number))
    assert (len(limits._counts), len(limits._tokens)) == (0, 10_000)


def test_jobs__are_listed_and_stopped(
    serving: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Runner] = []

    class Noted(Runner):
        def __init__(self, settings: Settings, spans: Spans | None = None) -> None:
            super().__init__(settings, spans)
            made.append(self)

    monkeypatch.setattr(app, "Runner", Noted)
    client = serving(seconds=60.0)
    replies: list[Reply] = []
    thread = threading.Thread(target=lambda: replies.append(client.query(SLOW)))
    thread.start()
    wait_until(lambda: client.running() == 1)
    (runner,) = made
    (job,) = runner.jobs()
    assert (job.kind, job.text, job.user, job.client) == ("query", SLOW, None, "127.0.0.1")
    assert job.seconds >= 0
    assert not runner.stop_job("none")
    assert runner.stop_job(job.id)
    thread.join()
    assert (replies[0].status, replies[0].text) == (503, "the query was stopped\n")
    wait_until(lambda: runner.jobs() == [])


def test_waiting_queries__of_one_client_leave_places_to_others(
    serving: Callable[..., Client], users: Path
) -> None:
    client = serving(per_client=2, threads=1, wait=10.0, seconds=1.0, users=users)
    threads = [in_background(client, SLOW) for _ in range(2)]
    assert client.ask("/query", ASK, authorization=basic("wim")).status == 200
    for thread in threads:
        thread.join()

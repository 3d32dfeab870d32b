"""Streams of changes over HTTP: events, resuming, refusals, and what ends them."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from triplestore import Store
from triplestore.errors import LostPlaceError
from triplestore.live.subscription import Subscription
from triplestore.live.thresholds import LIVE
from triplestore.server import Settings, event_streams
from triplestore.server.access.users_file import UserRecord, Users, read_users, write_users
from triplestore.server.serving import AnnouncedServer, configured

from .conftest import Client, basic, wait_until

Serving = Callable[..., Any]
CATS = "SELECT ?x { ?x a <http://ex.org/Cat> }"


def write(store: Store, *names: str, kind: str = "Cat") -> None:
    store.update(
        "PREFIX : <http://ex.org/> INSERT DATA { "
        + "".join(f":{n} a :{kind} . " for n in names)
        + "}"
    )


class Stream:
    """An open stream, read event by event."""

    def __init__(self, client: Any, path: str, headers: dict[str, str] | None = None) -> None:
        self.connection = client.connection()
        self.connection.request("GET", path, headers=headers or {})
        self.answer: http.client.HTTPResponse = self.connection.getresponse()

    @property
    def status(self) -> int:
        return self.answer.status

    def lines(self) -> Iterator[str]:
        while line := self.answer.readline():
            yield line.decode().rstrip("\n")

    def event(self) -> dict[str, Any]:
        """The next event with data; an empty dict at the end."""
        found: dict[str, Any] = {}
        for line in self.lines():
            if not line and "data" in found:
                return {**found, "data": json.loads(found["data"])}
            name, _, value = line.partition(": ")
            if line and not line.startswith(":"):
                found[name] = value
        return {}

    def close(self) -> None:
        self.answer.close()
        self.connection.close()


def names(rows: list[list[dict[str, str]]]) -> list[str]:
    return sorted(row[0]["value"].rpartition("/")[2] for row in rows)


def path_of(query: str, **parameters: str) -> str:
    return "/subscribe?" + urlencode({"query": query, **parameters})


def test_subscribe__sends_all_rows_first_and_then_changes(serving: Serving) -> None:
    client = serving()
    write(client.store, "tom")
    stream = Stream(client, path_of(CATS))
    assert stream.answer.getheader("content-type") == "text/event-stream; charset=utf-8"
    first = stream.event()
    assert (first["event"], names(first["data"]["added"])) == ("rows", ["tom"])
    assert first["data"]["vars"] == ["x"]
    write(client.store, "kit", "pat")
    client.store.update("DELETE DATA { <http://ex.org/tom> a <http://ex.org/Cat> }")
    second, third = stream.event(), stream.event()
    assert (names(second["data"]["added"]), second["data"]["removed"]) == (["kit", "pat"], [])
    assert (names(third["data"]["removed"]), third["data"]["added"]) == (["tom"], [])
    assert int(third["id"]) == third["data"]["commit"] == client.store.commit
    stream.close()


def test_subscribe__continues_from_the_last_event(serving: Serving) -> None:
    client = serving()
    write(client.store, "tom")
    stream = Stream(client, path_of(CATS))
    place = stream.event()["id"]
    stream.close()
    write(client.store, "kit")
    write(client.store, "pat")
    for headers, more in (({"Last-Event-ID": place}, {}), ({}, {"since": place})):
        again = Stream(client, path_of(CATS, **more), headers)
        assert names(again.event()["data"]["added"]) == ["kit", "pat"]
        again.close()


def test_subscribe__refuses_what_it_cannot_follow(serving: Serving) -> None:
    client = serving()
    for path, status, words in (
        ("/subscribe", 400, "parameter `query` is missing"),
        (path_of("ASK { ?s ?p ?o }"), 400, "only the rows of a SELECT"),
        (path_of("SELECT * { ?s ?p"), 400, "found the end of the text"),
        (path_of("SELECT (NOW() AS ?n) { ?s ?p ?o }"), 400, "another value each time"),
        (path_of(CATS, since="999"), 410, "not known yet"),
        (path_of(CATS, since="-1"), 400, "number of a commit"),
        (path_of(CATS, since="0"), 410, "not kept any more"),
    ):
        reply = client.ask(path)
        assert reply.status == status, path
        assert words in reply.text


def test_changes__lists_asserted_and_inferred_facts(serving: Serving) -> None:
    client = serving()
    start = client.store.commit
    client.store.update("INSERT DATA { <http://ex.org/x> <http://ex.org/sees> <http://ex.org/y> }")
    stream = Stream(client, f"/changes?since={start}")
    event = stream.event()
    assert (event["event"], event["id"]) == ("changes", str(start + 1))
    found = [
        (row["p"]["value"].rpartition("/")[2], row["inferred"]) for row in event["data"]["added"]
    ]
    assert sorted(found) == [("seen", True), ("sees", False)]
    client.store.update("DELETE DATA { <http://ex.org/x> <http://ex.org/sees> <http://ex.org/y> }")
    assert len(stream.event()["data"]["removed"]) == 2
    stream.close()


def test_changes__as_lines_that_end_with_the_past(
    serving: Serving, tune: Callable[..., None]
) -> None:
    tune(LIVE, event_quads=2)
    client = serving()
    start = client.store.commit
    write(client.store, "a", "b", "c")
    client.store.update("INSERT DATA { GRAPH <http://ex.org/g> { <http://ex.org/a> a 1 } }")
    reply = client.ask(f"/changes?since={start}&follow=false", accept="application/x-ndjson")
    lines = [json.loads(line) for line in reply.body.splitlines()]
    assert [(line["commit"] - start, len(line["added"]), line["more"]) for line in lines] == [
        (1, 2, True),
        (1, 1, False),
        (2, 1, False),
    ]
    assert lines[2]["added"][0]["g"]["value"] == "http://ex.org/g"
    assert client.ask("/changes?since=0").status == 410


def test_changes__a_part_of_a_commit_is_no_place(
    serving: Serving, tune: Callable[..., None]
) -> None:
    tune(LIVE, event_quads=2)
    client = serving()
    start = client.store.commit
    write(client.store, "a", "b", "c")
    stream = Stream(client, f"/changes?since={start}")
    assert "id" not in stream.event()
    assert stream.event()["id"] == str(start + 1)
    stream.close()


def test_streams__of_a_slow_client_say_that_it_lost_its_place(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(self: Subscription, timeout: float | None = None) -> None:
        raise LostPlaceError("the subscriber is too slow", 7)

    client = serving()
    monkeypatch.setattr(Subscription, "next", slow)
    stream = Stream(client, path_of(CATS))
    event = stream.event()
    assert (event["event"], event["data"]["lost"], event["data"]["commit"]) == ("lost", True, 7)
    assert stream.event() == {}
    stream.close()


def test_streams__end_with_the_server_and_with_the_store(serving: Serving) -> None:
    client = serving(grace=1)
    streams = [Stream(client, path_of(CATS)), Stream(client, "/changes")]
    streams[0].event()
    client.store.close()
    assert [stream.event() for stream in streams] == [{}, {}]
    for stream in streams:
        stream.close()


def test_streams__do_not_keep_the_server_from_ending() -> None:
    store = Store()
    config = configured(store, Settings(grace=60))
    config.port = 0
    addresses: list[str] = []
    server = AnnouncedServer(config, addresses.append)
    thread = threading.Thread(target=server.run)
    thread.start()
    wait_until(lambda: server.started)
    port = server.servers[0].sockets[0].getsockname()[1]
    stream = Stream(Client(port, store, lambda: None), "/changes")
    server.should_exit = True
    thread.join(20)
    assert not thread.is_alive()
    assert stream.event() == {}
    stream.close()


def test_streams__send_comments_while_nothing_happens(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_streams, "KEEP_ALIVE_SECONDS", 0.05)
    client = serving()
    stream = Stream(client, path_of(CATS, initial="false"))
    lines = stream.lines()
    while next(lines) != ": ":
        pass
    assert next(lines) == f"id: {client.store.commit}"
    stream.close()


def test_streams__are_limited(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_streams, "MOST_STREAMS", 1)
    client = serving()
    stream = Stream(client, "/changes")
    refused = client.ask("/changes")
    assert (refused.status, refused.headers["retry-after"]) == (503, "30")
    stream.close()


def test_streams__of_one_client_are_limited(serving: Serving) -> None:
    client = serving(per_client=1)
    stream = Stream(client, "/changes")
    assert client.ask("/changes").status == 429
    stream.close()
    wait_until(lambda: client.ask("/changes?follow=false").status == 200)


def test_streams__of_a_reader_follow_another_writer(serving: Serving, tmp_path: Path) -> None:
    with Store(tmp_path / "store") as writer:
        write(writer, "tom")
        with Store.read_only(tmp_path / "store") as reader:
            client = serving(reader)
            stream = Stream(client, path_of(CATS))
            assert names(stream.event()["data"]["added"]) == ["tom"]
            write(writer, "kit")
            assert names(stream.event()["data"]["added"]) == ["kit"]
            stream.close()


def test_streams__need_a_login_where_the_server_asks_for_one(serving: Serving, users: Path) -> None:
    client = serving(users=users)
    assert client.ask(path_of(CATS)).status == 401
    assert client.ask("/changes").status == 401
    stream = Stream(client, path_of(CATS), {"Authorization": "Bearer ts_rita"})
    assert stream.status == 200
    stream.close()


def session_of(client: Client, name: str) -> dict[str, str]:
    """The cookie of a new session."""
    body = json.dumps({"name": name, "password": f"{name}-secret"})
    sent = {"method": "POST", "body": body, "content_type": "application/json"}
    reply = client.ask("/api/login", **sent)
    assert reply.status == 200
    return {"Cookie": reply.headers["set-cookie"].partition(";")[0]}


def removed(known: Users, rita: UserRecord) -> Users:
    return known.without("rita")


def with_another_role(known: Users, rita: UserRecord) -> Users:
    return known.changed(replace(rita, role="write"))


def with_other_stores(known: Users, rita: UserRecord) -> Users:
    return known.changed(replace(rita, stores=("museum",)))


def with_another_password(known: Users, rita: UserRecord) -> Users:
    return known.changed(replace(rita, password=known.records["wim"].password))


def without_tokens(known: Users, rita: UserRecord) -> Users:
    return known.changed(replace(rita, tokens={}))


@pytest.mark.parametrize(
    ("change", "ended"),
    [
        (removed, {"session", "password", "token"}),
        (with_another_role, {"session", "password", "token"}),
        (with_other_stores, {"session", "password", "token"}),
        (with_another_password, {"session", "password"}),
        (without_tokens, {"token"}),
    ],
)
def test_streams__end_when_the_user_has_lost_a_right(
    serving: Serving,
    users: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Users, UserRecord], Users],
    ended: set[str],
) -> None:
    monkeypatch.setattr(event_streams, "CHECK_SECONDS", 0.05)
    client = serving(users=users)
    ways = {
        "session": session_of(client, "rita"),
        "password": {"Authorization": basic("rita")},
        "token": {"Authorization": "Bearer ts_rita"},
    }
    path = path_of(CATS, initial="false")
    streams = {way: Stream(client, path, headers) for way, headers in ways.items()}
    other = Stream(client, path, {"Authorization": "Bearer ts_wim"})
    known = read_users(users)
    write_users(users, change(known, known.records["rita"]))
    assert [streams[way].event() for way in sorted(ended)] == [{}] * len(ended)
    write(client.store, "tom")
    for way, stream in {**streams, "other": other}.items():
        assert way in ended or names(stream.event()["data"]["added"]) == ["tom"]
        stream.close()


def test_streams__end_with_their_session(
    serving: Serving, users: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_streams, "CHECK_SECONDS", 0.05)
    client = serving(users=users, session_seconds=1.0)
    began = time.monotonic()
    stream = Stream(client, "/changes", session_of(client, "rita"))
    assert stream.event() == {}
    assert time.monotonic() - began >= 1.0
    stream.close()
    left = session_of(client, "rita")
    stream = Stream(client, "/changes", left)
    assert client.ask("/api/logout", method="POST", **left).status == 200
    assert stream.event() == {}
    assert client.ask("/changes", **left).status == 401
    stream.close()

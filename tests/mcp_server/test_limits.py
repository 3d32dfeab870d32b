"""Limits of calls: of time, when a client gives up, and one change at a time."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_server.agent_client import Agent, text_of
from pyoxigraph import Literal, NamedNode, Quad

from triplestore import Store
from triplestore.browse.preview import preview_update
from triplestore.errors import CancelledError, LockedError
from triplestore.mcp_server import agent_tools, change_tools, create_server
from triplestore.mcp_server.agent_tools import AT_ONCE
from triplestore.mcp_server.overview_tools import answer_description, answer_search
from triplestore.mcp_server.reasoning_tools import answer_violations, answer_why, answer_why_not
from triplestore.mcp_server.session import AgentSession
from triplestore.mcp_server.settings import AgentSettings
from triplestore.thread_limits import limited, limits

FAMILY = "http://ex.org/family#"


def test_reading__does_not_wait_for_a_change_that_is_tried(store: Store) -> None:
    session = AgentSession(store, AgentSettings())
    with session.changing(None, threading.Event()):
        done: list[int] = []
        other = threading.Thread(target=lambda: done.append(len(session.reading().snapshot)))
        other.start()
        other.join(20)
    assert done == [len(store)]


def test_change__waits_for_another_one_until_its_time_is_over_or_it_is_given_up(
    store: Store,
) -> None:
    session, given_up = AgentSession(store, AgentSettings()), threading.Event()
    given_up.set()
    found: list[Exception] = []

    def change(seconds: float, cancel: threading.Event) -> None:
        try:
            with session.changing(seconds, cancel):
                pass
        except (CancelledError, LockedError) as error:
            found.append(error)

    with session.changing(None, threading.Event()):
        for arguments in ((0.01, threading.Event()), (30.0, given_up)):
            other = threading.Thread(target=change, args=arguments, daemon=True)
            other.start()
            other.join(20)
            assert not other.is_alive()
    assert [type(error) for error in found] == [LockedError, CancelledError]
    assert "another change has been running for over 0.01 seconds" in str(found[0])


READS = {
    "describe_store": {},
    "search_terms": {"text": "ada"},
    "why": {"fact": ":bob a :Person"},
    "why_not": {"fact": ":bob a :Stone"},
    "violations": {},
    "query": {"query": "SELECT * { ?s ?p ?o }"},
    "preview_update": {"update": "INSERT DATA { :bob a :Stone }"},
}


@pytest.mark.parametrize("tool", READS)
def test_call__ends_when_its_time_is_over(store: Store, tool: str) -> None:
    store.update("INSERT DATA { :ada a :Stone }")
    error = Agent(store, seconds=1e-9).error(tool, **READS[tool])
    assert "time limit" in error or "took more than" in error
    assert "ask for less" in error


@pytest.mark.parametrize("tool", ["describe_store", "preview_update"])
def test_call__that_is_given_up_stops(
    store: Store, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.update("INSERT DATA { :ada a :Stone }")

    def given_up() -> threading.Event:
        made = threading.Event()
        made.set()
        return made

    monkeypatch.setattr(agent_tools, "threading", SimpleNamespace(Event=given_up))
    assert "the call was stopped before it ended" in Agent(store).error(tool, **READS[tool])


class Steps:
    """Limits that are never reached; `seen` are the steps before which they were looked at."""

    def __init__(self) -> None:
        self.seen: set[object] = set()

    def look(self, about: object) -> None:
        self.seen.add(about)

    def needs(self, size: int) -> None:
        pass


def test_calls__look_at_their_limits_before_each_long_step(store: Store) -> None:
    store.update("INSERT DATA { :ada a :Stone }")
    session, steps = AgentSession(store, AgentSettings()), Steps()
    reading = session.reading()
    with limited(steps):
        answer_description(session, reading)
        answer_search(session, reading, text="ada", kind="any", limit=1)
        answer_why(session, reading, ":bob a :Person", 5.0)
        answer_why_not(session, reading, ":cy a :Parent", 5.0)
        answer_violations(session, reading, 1, 0, None, 5.0)
    assert steps.seen >= {
        "describing a class",
        "describing a property",
        "looking at properties",
        "indexing labels and names",
        "searching for a proof",
        "looking for what a rule lacks",
        "reading violations",
    }


def test_preview_update__has_limits_after_the_change_as_well(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []

    def preview(*given: Any, **options: Any) -> dict[str, Any]:
        found.append(limits())
        return preview_update(*given, **options)

    monkeypatch.setattr(change_tools, "preview_update", preview)
    Agent(store).text("preview_update", update="INSERT DATA { :x :parent :y }")
    assert found != [None]


def test_update__is_not_stopped_after_its_commit(store: Store) -> None:
    """An error then would say that nothing was changed."""
    found = []
    store._note = lambda published: found.append(limits())
    assert Agent(store, update=True).data("update", update="INSERT DATA { :x :parent :y }")
    assert found == [None]


def test_proof__takes_no_longer_than_a_call_may(store: Store) -> None:
    session = AgentSession(store, AgentSettings(seconds=6.0))
    assert [session.proof_seconds(asked) for asked in (1.0, 30.0, -1.0)] == [1.0, 2.0, 2.0]


def test_call__that_is_given_up_stops_its_query(store: Store) -> None:
    store.extend(
        Quad(NamedNode(f"{FAMILY}n{n}"), NamedNode(f"{FAMILY}number"), Literal(n))
        for n in range(400)
    )
    server = create_server(store, AgentSettings(seconds=120))
    product = (
        "SELECT (COUNT(*) AS ?n) { ?a :number ?b . ?c :number ?d . ?e :number ?f . ?g :number ?h }"
    )

    async def run() -> str:
        async with Client(server) as client:
            for _ in range(2 * AT_ONCE):  # as many as run at once would block all others
                with anyio.move_on_after(0.3):
                    await client.call_tool("query", {"query": product})
            with anyio.fail_after(60):
                return text_of(await client.call_tool("query", {"query": "ASK {}"}))

    assert anyio.run(run) == "true"

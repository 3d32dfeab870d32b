"""A store served on a free port of this machine, and a client that asks it."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import pytest

pytest.importorskip("starlette", reason="the extra `server` is not installed")

import uvicorn

from triplestore import Store
from triplestore.server import Settings
from triplestore.server.serving import configured

DATA = """@prefix : <http://ex.org/> .
:ada :sees :bob ; :name "Ada"@en . :bob :sees :cy .
:g { :cy :sees :dora }
"""
RULES = "@prefix : <http://ex.org/> .\n:seen[?y, ?x] :- :sees[?x, ?y] .\n"


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0]


@dataclass
class Client:
    """Asks a server; every request uses a new connection."""

    port: int
    store: Store
    end: Callable[[], None]
    extra: dict[str, str] = field(default_factory=dict)

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("localhost", self.port, timeout=30)

    def ask(
        self,
        path: str,
        parameters: dict[str, Any] | list[tuple[str, str]] | None = None,
        *,
        method: str = "GET",
        body: str | bytes | None = None,
        **headers: str,
    ) -> Reply:
        if parameters:
            path += "?" + urlencode(parameters, doseq=True)
        connection = self.connection()
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            data = body.encode() if isinstance(body, str) else body
            connection.request(method, path, data, names)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, found, answer.read())
        finally:
            connection.close()

    def query(self, text: str, accept: str = "text/csv", **parameters: Any) -> Reply:
        return self.ask("/query", {"query": text, **parameters}, accept=accept)

    def update(self, text: str, **headers: str) -> Reply:
        sent = {"content_type": "application/sparql-update", **headers}
        return self.ask("/update", method="POST", body=text, **sent)

    def running(self) -> int:
        import json

        return int(json.loads(self.ask("/health").text)["running"])


@contextmanager
def served(store: Store, **settings: Any) -> Iterator[Client]:
    config = configured(store, Settings(**settings))
    config.port, config.log_level = 0, "error"
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()

    def end() -> None:
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive(), "the server did not end"

    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.005)
        yield Client(server.servers[0].sockets[0].getsockname()[1], store, end)
    finally:
        end()


def example() -> Store:
    store = Store()
    store.load(DATA, "trig")
    store.reason(rules=RULES)
    return store


@pytest.fixture
def serving() -> Iterator[Callable[..., Client]]:
    """Serves the example, or another store, with any settings."""
    with ExitStack() as stack:

        def start(store: Store | None = None, **settings: Any) -> Client:
            return stack.enter_context(served(store or example(), **settings))

        yield start


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """The example, only to be read."""
    with served(example()) as made:
        yield made

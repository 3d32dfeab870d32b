"""A store served on a free port of this machine, and a client that asks it."""

from __future__ import annotations

import base64
import http.client
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

pytest.importorskip("starlette", reason="the extra `server` is not installed")


from triplestore import Store
from triplestore.server import Settings
from triplestore.server.access.passwords import ScryptCost, password_hash, token_hash
from triplestore.server.access.users_file import UserRecord, Users, write_users
from triplestore.server.serving import AnnouncedServer, configured

CHEAP = ScryptCost(n=16, r=1, p=1)
DATA = """@prefix : <http://ex.org/> .
:ada :sees :bob ; :name "Ada"@en . :bob :sees :cy .
:g { :cy :sees :dora }
"""
SEES = "SELECT ?y { <http://ex.org/ada> <http://ex.org/sees> ?y }"
SLOW = "SELECT (COUNT(*) AS ?n) { " + " ".join(f"?a{n} ?b{n} ?c{n} ." for n in range(20)) + " }"
RULES = "@prefix : <http://ex.org/> .\n:seen[?y, ?x] :- :sees[?x, ?y] .\n"


def numbers_query(columns: int) -> str:
    """A query for 300 ** columns rows."""
    numbers = " ".join(f"({number})" for number in range(300))
    values = " ".join(f"VALUES (?v{column}) {{ {numbers} }}" for column in range(columns))
    return f"SELECT * {{ {values} }}"


def wait_until(holds: Callable[[], bool]) -> None:
    for _ in range(1000):
        if holds():
            return
        time.sleep(0.01)
    raise AssertionError("it never came to hold")


def basic(name: str, password: str | None = None) -> str:
    """The header for a user; the password of each is the name and `-secret`."""
    both = f"{name}:{password if password is not None else name + '-secret'}"
    return "Basic " + base64.b64encode(both.encode()).decode()


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
        headers = {"content_type": "application/sparql-update", **headers}
        return self.ask("/update", None, method="POST", body=text, **headers)

    def running(self) -> int:
        import json

        return int(json.loads(self.ask("/health").text)["running"])


def in_background(client: Client, text: str) -> threading.Thread:
    def ask() -> None:
        with suppress(OSError, http.client.HTTPException):
            client.query(text)

    thread = threading.Thread(target=ask)
    thread.start()
    return thread


@contextmanager
def served(store: Store | dict[str, Store], **settings: Any) -> Iterator[Client]:
    config = configured(store, Settings(**settings))
    config.port, config.log_level = 0, "error"
    server = AnnouncedServer(config, lambda address: None)
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
        first = store if isinstance(store, Store) else next(iter(store.values()))
        yield Client(server.servers[0].sockets[0].getsockname()[1], first, end)
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

        def start(store: Store | dict[str, Store] | None = None, **settings: Any) -> Client:
            made = example() if store is None else store
            return stack.enter_context(served(made, **settings))

        yield start


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """The example, only to be read."""
    with served(example()) as made:
        yield made


@pytest.fixture
def users(tmp_path: Path) -> Path:
    """Three users whose passwords are their names and `-secret`, and tokens `ts_NAME`."""
    path = tmp_path / "users.toml"
    made = Users({})
    for name, role in (("rita", "read"), ("wim", "write"), ("ann", "admin")):
        kept = password_hash(f"{name}-secret", CHEAP)
        made = made.changed(UserRecord(name, role, kept, {"t": token_hash(f"ts_{name}")}))
    write_users(path, made)
    return path

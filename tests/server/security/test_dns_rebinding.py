"""A page whose name was made to resolve to this machine cannot use a server of this machine."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from server.conftest import SEES, Client

PATHS = ["/", "/query", "/sparql", "/update", "/store", "/store/a", "/health", "/ready"]
PATHS += ["/metrics", "/api/session", "/api/login", "/page/x.js", "/nowhere"]


@pytest.mark.parametrize("path", PATHS)
def test_foreign_host__is_refused_on_every_path(client: Client, path: str) -> None:
    for method in ("GET", "POST"):
        reply = client.ask(path, {"query": SEES}, method=method, host="rebound.example:7878")
        assert (reply.status, "bob" in reply.text) == (421, False)


@pytest.mark.parametrize(
    "host",
    [
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "evil.example#localhost",
        "evil.example:80@localhost",
        "localhost@evil.example",
        "[::1].evil.example",
        "0.0.0.0",
        "",
    ],
)
def test_foreign_host__that_looks_like_ours_is_refused(client: Client, host: str) -> None:
    assert client.ask("/health", host=host).status in (400, 421)


def test_forwarded_host__does_not_count(client: Client) -> None:
    headers = {"host": "evil.example", "x_forwarded_host": "localhost"}
    assert client.ask("/health", **headers).status == 421


def test_refusal__says_how_to_allow_a_proxy(client: Client) -> None:
    reply = client.ask("/health", host="data.example.org")
    assert "start the server with --allowed-host data.example.org" in reply.text


def test_forwarded_address__counts_only_behind_a_proxy_that_was_named(
    serving: Callable[..., Client],
) -> None:
    limited = {"per_client": 1, "rate": 0.001}
    alone, behind = serving(**limited), serving(allowed=frozenset({"localhost"}), **limited)
    statuses = [
        [
            client.ask("/query", {"query": "ASK {}"}, x_forwarded_for=f"192.0.2.{n}").status
            for n in range(3)
        ]
        for client in (alone, behind)
    ]
    assert statuses == [[200, 429, 429], [200, 200, 200]]

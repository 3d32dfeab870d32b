"""What each route requires: all routes of the application are found and asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from server.conftest import Client, example
from starlette.routing import BaseRoute, Mount, Route

from triplestore import Store
from triplestore.server import create_app

REQUIRED = {
    "GET /": "public",
    "GET /page/{name}": "public",
    "GET /health": "public",
    "GET /ready": "public",
    "GET /metrics": "read",
    "GET /api/session": "public",
    "POST /api/login": "public",
    "POST /api/logout": "public",
    "GET /query": "read",
    "POST /query": "read",
    "GET /update": "read",  # it describes the service; updates are sent by POST
    "POST /update": "write",
    "GET /sparql": "read",
    "POST /sparql": "write",
    "GET /store": "read",
    "PUT /store": "write",
    "POST /store": "write",
    "DELETE /store": "write",
    "GET /store/{graph:path}": "read",
    "PUT /store/{graph:path}": "write",
    "POST /store/{graph:path}": "write",
    "DELETE /store/{graph:path}": "write",
    "GET /subscribe": "read",
    "POST /subscribe": "read",
    "GET /changes": "read",
    "GET /validate": "read",
    "POST /validate": "read",
    "GET /api/store": "read",
    "GET /api/search": "read",
    "POST /api/complete": "read",
    "GET /api/resource": "read",
    "GET /api/resource/values": "read",
    "GET /api/why": "read",
    "GET /api/why-not": "read",
    "GET /api/tree": "read",
    "GET /api/tree/path": "read",
    "GET /api/report": "read",
    "GET /api/rules": "read",
    "PUT /api/rules": "write",
    "POST /api/rules/check": "read",
    "POST /api/rules/dry-run": "write",
    "POST /api/query": "read",
    "POST /api/explain": "read",
    "GET /api/queries": "read",
    "DELETE /api/queries/{name}": "read",
    "POST /api/preview": "write",
    "POST /api/commit": "write",
    "POST /api/load": "write",
    "POST /api/reason": "write",
    "GET /api/jobs": "read",
    "GET /api/jobs/{name}": "read",
    "DELETE /api/jobs/{name}": "write",
    "GET /api/dump": "read",
}
"""The role that each route requires; below a store's name the same."""


OF_SERVER = {"GET /health", "GET /ready", "GET /metrics"}
"""Routes that are not repeated below the names of stores."""

ALLOWED = {
    None: {"public"},
    "rita": {"public", "read"},
    "wim": {"public", "read", "write"},
    "ann": {"public", "read", "write"},
}


def routes_in(routes: Iterable[BaseRoute], before: str = "") -> Iterator[str]:
    for route in routes:
        if isinstance(route, Mount):
            yield from routes_in(route.routes, before + route.path)
        else:
            assert isinstance(route, Route)
            for method in (route.methods or set()) - {"HEAD"}:
                yield f"{method} {before}{route.path}"


def is_refused(client: Client, route: str, user: str | None, before: str = "") -> bool:
    """Whether a small request is refused because of its sender."""
    method, _, path = route.partition(" ")
    path = before + path.replace("{name}", "x").replace("{graph:path}", "x")
    if route == "GET /changes":
        path += "?follow=false"
    headers = {} if user is None else {"authorization": f"Bearer ts_{user}"}
    body = "{}"
    if route in ("POST /update", "POST /sparql"):
        headers["content_type"] = "application/sparql-update"
        body = "INSERT DATA { }"
    return client.ask(path, None, method=method, body=body, **headers).status in (401, 403)


def test_routes__each_is_in_the_table() -> None:
    assert sorted(routes_in(create_app(Store()).routes)) == sorted(REQUIRED)


def test_routes__of_several_stores_are_in_the_table() -> None:
    found = set(routes_in(create_app({"one": Store()}).routes))
    below = {route.replace(" /one/", " /") for route in found if " /one/" in route}
    assert below == set(REQUIRED) - OF_SERVER
    beside = {route for route in found if " /one/" not in route}
    assert {route for route in beside if REQUIRED[route] != "public"} == {"GET /metrics"}


@pytest.mark.parametrize("user", ALLOWED)
@pytest.mark.parametrize("several", [False, True])
def test_routes__are_refused_without_their_role(
    serving: Callable[..., Client], users: Path, user: str | None, several: bool
) -> None:
    store = example()
    client = serving({"one": store} if several else store, users=users, update=True)
    asked = set(REQUIRED) - (OF_SERVER if several else set())
    refused = {one for one in asked if is_refused(client, one, user, "/one" if several else "")}
    assert refused == {one for one in asked if REQUIRED[one] not in ALLOWED[user]}


def test_routes__changes_are_refused_by_a_server_without_updates(
    serving: Callable[..., Client], users: Path
) -> None:
    client = serving(users=users)
    refused = {one for one in REQUIRED if is_refused(client, one, "ann")}
    assert refused == {one for one, role in REQUIRED.items() if role == "write"}

"""No answer can be put into a frame of another page; every answer has its security headers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from server.conftest import SEES, Client, Reply
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from triplestore.server import app


def is_guarded(reply: Reply) -> None:
    headers = reply.headers
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-frame-options"] == "DENY"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert "server" not in headers  # names no versions


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [
        ("/", "GET", 200),
        ("/query?query=ASK%20%7B%7D", "GET", 200),
        ("/query", "GET", 200),
        ("/query?query=nonsense", "GET", 400),
        ("/store?default", "GET", 200),
        ("/store?graph=http://e/none", "GET", 404),
        ("/update", "POST", 415),
        ("/store", "DELETE", 403),
        ("/health", "GET", 200),
        ("/metrics", "GET", 200),
        ("/api/session", "GET", 200),
        ("/nowhere", "GET", 404),
        ("/query", "DELETE", 405),
        ("/query?query=ASK%20%7B%7D", "HEAD", 200),
    ],
)
def test_headers__are_on_every_answer(client: Client, path: str, method: str, status: int) -> None:
    reply = client.ask(path, method=method)
    assert reply.status == status
    is_guarded(reply)


def test_headers__are_on_refusals_and_faults(
    serving: Callable[..., Client], users: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fault(request: Request) -> Response:
        raise ZeroDivisionError("a fault of the server")

    def routes(_: object) -> list[BaseRoute]:
        return [Route("/page/tried/fault", fault)]

    monkeypatch.setattr(app, "ROUTES", [*app.ROUTES, routes])
    client = serving(users=users)
    unknown = client.ask("/health", host="evil.example")
    refused = client.ask("/query", {"query": SEES})
    failed = client.ask("/page/tried/fault")
    assert (unknown.status, refused.status, failed.status) == (421, 401, 500)
    for reply in (unknown, refused, failed):
        is_guarded(reply)
    assert "ZeroDivisionError" not in failed.text
    assert refused.headers["cache-control"] == "no-store"


def test_policy__of_the_page_is_strict_and_of_data_stricter(
    serving: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def page(request: Request) -> Response:
        return HTMLResponse("<p>page</p>")

    async def own(request: Request) -> Response:
        return HTMLResponse("x", headers={"content-security-policy": "default-src 'none'"})

    def routes(_: object) -> list[BaseRoute]:
        return [Route("/page/tried/a", page), Route("/page/tried/own", own)]

    monkeypatch.setattr(app, "ROUTES", [*app.ROUTES, routes])
    client = serving()
    policy = client.ask("/page/tried/a").headers["content-security-policy"]
    assert "unsafe" not in policy and "*" not in policy and "http" not in policy
    for part in ("default-src 'self'", "script-src 'self'", "object-src 'none'", "base-uri 'none'"):
        assert part in policy
    kept = client.ask("/page/tried/own").headers["content-security-policy"]
    assert kept == "default-src 'none'"
    data = client.query(SEES).headers["content-security-policy"]
    assert "sandbox" in data and "default-src 'none'" in data

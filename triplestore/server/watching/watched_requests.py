"""Measures every request: start at `WatchedRequests`."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from triplestore.server.access.caller import caller_of
from triplestore.server.watching.access_log import AccessLog, LoggedRequest
from triplestore.server.watching.metrics import Metrics
from triplestore.server.watching.spans import Spans


class WatchedRequests:
    """Counts requests, writes the access log, and makes a span for each request.

    names   the names of stores, which paths may begin with
    known   the endpoints that there are; all others are counted together
    """

    def __init__(
        self,
        app: ASGIApp,
        metrics: Metrics,
        log: AccessLog | None,
        spans: Spans,
        names: Collection[str] = (),
        known: Collection[str] = (),
    ) -> None:
        self._app, self._metrics, self._log, self._spans = app, metrics, log, spans
        self._names, self._known = frozenset(names), frozenset(known)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and note how it ended."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"]
        seen = _Seen(send)
        try:
            if self._spans.are_made:
                await self._in_span(scope, receive, seen)
            else:
                await self._app(scope, receive, seen.send)
        finally:
            seconds = time.perf_counter() - seen.began
            endpoint = self._label(path)
            self._metrics.note(endpoint, scope["method"], seen.status, seen.size, seconds)
            if self._log is not None:
                self._log.note(_logged(scope, path, seen, seconds))

    def _label(self, path: str) -> str:
        """The endpoint, or "other", so that clients cannot make labels."""
        endpoint = endpoint_of(path, self._names)
        return endpoint if endpoint in self._known else "other"

    async def _in_span(self, scope: Scope, receive: Receive, seen: _Seen) -> None:
        path, method = scope["path"], scope["method"]
        attributes: dict[str, Any] = {"http.request.method": method, "url.path": path}
        carrier = {name.decode("latin-1"): v.decode("latin-1") for name, v in scope["headers"]}
        with self._spans.span(method, attributes, carrier) as span:
            await self._app(scope, receive, seen.send)
            endpoint = self._label(path)
            span.update_name(f"{method} {endpoint}")
            span.set_attribute("http.response.status_code", seen.status)
            span.set_attribute("http.response.body.size", seen.size)


class _Seen:
    """Sends messages, and notes status and size."""

    __slots__ = ("_send", "began", "size", "status")

    def __init__(self, send: Send) -> None:
        self._send = send
        self.began = time.perf_counter()
        self.status = 0
        self.size = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        else:
            self.size += len(message.get("body", b""))
        await self._send(message)


def endpoint_of(path: str, names: Collection[str] = ()) -> str:
    """The endpoint of a path, or of the path of a route, without the name of a store.

    >>> endpoint_of("/museum/store/a/b", {"museum"}), endpoint_of("/api/queries/{id}")
    ('/store', '/api/queries')
    """
    parts = path.split("/")
    if len(parts) > 1 and parts[1] in names:
        parts = parts[1:]
    first = parts[1] if len(parts) > 1 else ""
    return f"/api/{parts[2]}" if first == "api" and len(parts) > 2 else f"/{first}"


def _logged(scope: Scope, path: str, seen: _Seen, seconds: float) -> LoggedRequest:
    query = scope.get("query_string", b"").decode("latin-1")
    client = scope.get("client")
    return LoggedRequest(
        client=client[0] if client else "-",
        user=caller_of(HTTPConnection(scope)).name,
        method=scope["method"],
        path=f"{path}?{query}" if query else path,
        version=scope.get("http_version", "1.1"),
        status=seen.status,
        size=seen.size,
        seconds=seconds,
    )

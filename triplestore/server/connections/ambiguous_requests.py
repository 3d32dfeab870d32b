"""Requests whose end is ambiguous are refused: start at `WithoutAmbiguity`.

A proxy that reads such a request otherwise than the server could be made to pass on a second,
hidden one (request smuggling). h11 refuses two different lengths, two hosts and odd line ends; it
accepts a length beside `Transfer-Encoding`, which RFC 9112 (6.1) lets a server refuse.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from triplestore.server.refusals import RefusedRequest, refusal


class WithoutAmbiguity:
    """Refuses requests with two kinds of length, and other versions of HTTP."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it and end the connection."""
        refused = _refused(scope) if scope["type"] == "http" else None
        if refused is not None:
            await refusal(refused, scope)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _refused(scope: Scope) -> RefusedRequest | None:
    version, end = scope.get("http_version", "1.1"), {"connection": "close"}
    names = [name for name, _ in scope["headers"]]
    if version not in ("1.0", "1.1"):
        return RefusedRequest(505, f"this server speaks HTTP/1.1, not HTTP/{version}", end)
    if b"transfer-encoding" in names and (b"content-length" in names or version == "1.0"):
        message = "a request may not have both Content-Length and Transfer-Encoding"
        return RefusedRequest(400, message, end)
    return None

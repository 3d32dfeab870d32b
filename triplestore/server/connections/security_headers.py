"""What browsers may do with an answer: start at `WithSecurityHeaders`.

Data is never run as a page: a result in XML may have elements of HTML, and a browser that opens it
would run their scripts without `sandbox`.
"""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PAGE_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
"""The Content-Security-Policy of the page: nothing from elsewhere, no inline script or style."""

DATA_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"

_OF_PAGE = ("text/html", "text/javascript", "application/javascript")


class WithSecurityHeaders:
    """Adds headers to every answer; those that an answer has are kept.

    shared    whether pages of other sites may read answers (CORS)
    private   whether answers depend on who asks, so that no cache may keep them
    """

    def __init__(self, app: ASGIApp, *, shared: bool = False, private: bool = False) -> None:
        self._app = app
        self._always = {
            "x-content-type-options": "nosniff",
            "x-frame-options": "DENY",
            "referrer-policy": "no-referrer",
            "cross-origin-opener-policy": "same-origin",
            "cross-origin-resource-policy": "cross-origin" if shared else "same-origin",
        }
        if private:
            self._always["cache-control"] = "no-store"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and add headers to its answer."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = list(message.get("headers", ()))
                headers = MutableHeaders(raw=message["headers"])
                kind = headers.get("content-type", "").partition(";")[0]
                policy = PAGE_POLICY if kind in _OF_PAGE else DATA_POLICY
                present = {name for name, _ in message["headers"]}
                for name, value in (*self._always.items(), ("content-security-policy", policy)):
                    if name.encode() not in present:
                        message["headers"].append((name.encode(), value.encode()))
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)

"""What browsers may do with an answer: start at `WithSecurityHeaders`.

Data is never run as a page: a result in XML may have elements of HTML, and a browser that opens it
would run their scripts without `sandbox`.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

PAGE_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
"""The Content-Security-Policy of the page: nothing from elsewhere, no inline script or style."""

DATA_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"

_OF_PAGE = (b"text/html", b"text/javascript", b"application/javascript")
_POLICY, _PAGE, _DATA = b"content-security-policy", PAGE_POLICY.encode(), DATA_POLICY.encode()


class WithSecurityHeaders:
    """Adds headers to every answer; those that an answer has are kept.

    shared    whether pages of other sites may read answers (CORS)
    private   whether answers depend on who asks, so that no cache may keep them
    """

    def __init__(self, app: ASGIApp, *, shared: bool = False, private: bool = False) -> None:
        self._app = app
        always = {
            "x-content-type-options": "nosniff",
            "x-frame-options": "DENY",
            "referrer-policy": "no-referrer",
            "cross-origin-opener-policy": "same-origin",
            "cross-origin-resource-policy": "cross-origin" if shared else "same-origin",
        }
        if private:
            always["cache-control"] = "no-store"
        self._always = [(name.encode(), value.encode()) for name, value in always.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and add headers to its answer."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = list(message.get("headers", ()))
                present = {name.lower(): value for name, value in given}
                kind = present.get(b"content-type", b"").partition(b";")[0]
                policy = (_POLICY, _PAGE if kind in _OF_PAGE else _DATA)
                missing = [one for one in (*self._always, policy) if one[0] not in present]
                message["headers"] = given + missing
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)

"""Requests that pages of other sites make a browser send: start at `WithoutOtherSites`.

They could not read the answer, but they could keep the server busy with queries. Following a link
is allowed.
"""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from triplestore.server.refusals import RefusedRequest, refusal

_ELSEWHERE = ("cross-site", "same-site")


class WithoutOtherSites:
    """Refuses what a browser says that another site's page has asked for."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            if headers.get("sec-fetch-site") in _ELSEWHERE:
                is_link = (
                    scope["method"] == "GET"
                    and headers.get("sec-fetch-mode") == "navigate"
                    and headers.get("sec-fetch-dest") == "document"
                )
                if not is_link:
                    refused = RefusedRequest(
                        403, "requests from pages of other sites are refused: see --cors"
                    )
                    await refusal(refused, scope)(scope, receive, send)
                    return
        await self._app(scope, receive, send)

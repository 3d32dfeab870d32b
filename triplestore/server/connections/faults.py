"""Faults of the server become answers: start at `WithoutFaults`.

Starlette's own answer to a fault would pass outside of what adds headers and counts requests.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from triplestore.server.refusals import refusal, refused_by
from triplestore.server.sending import WatchedSend


class WithoutFaults:
    """Answers 500 if an endpoint raises, and logs the error."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        watched = WatchedSend(send)
        try:
            await self._app(scope, receive, watched)
        except Exception as error:
            if scope["type"] != "http" or watched.begun:
                raise
            await refusal(refused_by(error), scope)(scope, receive, send)

"""The names under which the server may be addressed: start at `NamedHosts`.

Otherwise a page whose host name resolves to this machine could read a store that only this machine
is meant to reach (DNS rebinding).
"""

from __future__ import annotations

import re

from starlette.types import ASGIApp, Receive, Scope, Send

from triplestore.server.refusals import RefusedRequest, refusal

_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\[\]:@/?#\\\s]+))(?::\d*)?")


class NamedHosts:
    """Refuses requests that address the server by an unknown name."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http" and self._hosts:
            host = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
            if name_of(host) not in self._hosts:
                refused = RefusedRequest(
                    421,
                    f"{host!r} is not a name of this server; if a proxy in front of it uses this "
                    f"name, start the server with --allowed-host {name_of(host) or 'NAME'}",
                )
                await refusal(refused, scope)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def name_of(host: str) -> str | None:
    """The name or address in a `Host` header, without the port.

    >>> name_of("Data.example.org:7878"), name_of("[::1]:80"), name_of("[::1].example.org")
    ('data.example.org', '::1', None)
    """
    found = _HOST.fullmatch(host.lower())
    return (found[1] or found[2]) if found is not None else None

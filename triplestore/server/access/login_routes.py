"""Login of the page: start at `login_routes`.

    GET  /api/session   who is logged in, and what is served
    POST /api/login     {"name": ..., "password": ...}: begins a session, by a cookie
    POST /api/logout    ends it

Always true: scripts cannot read the cookie, and other sites cannot make a browser send it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from triplestore._version import VERSION
from triplestore.server.access.caller import Caller, caller_of, refuse_other_sites
from triplestore.server.access.control import AccessControl, cookie_name
from triplestore.server.protocol import read_body
from triplestore.server.refusals import RefusedRequest

_LONGEST = 10_000


def login_routes(control: AccessControl, store: str | None, stores: Sequence[str]) -> list[Route]:
    """The routes of one store, or of the list of all stores.

    store  the name that people see; the name of its directory if it is the only one
    """
    login = _Login(control, store, stores)
    return [
        Route("/api/session", login.session),
        Route("/api/login", login.log_in, methods=["POST"]),
        Route("/api/logout", login.log_out, methods=["POST"]),
    ]


class _Login:
    def __init__(self, control: AccessControl, store: str | None, stores: Sequence[str]) -> None:
        self._control, self._store, self._stores = control, store, stores

    async def session(self, request: Request) -> Response:
        """Who is logged in."""
        return JSONResponse(self._session(caller_of(request)))

    def _session(self, caller: Caller) -> dict[str, object]:
        known = caller.role is not None
        seen = [name for name in self._stores if not caller.stores or name in caller.stores]
        return {
            "user": caller.name,
            "role": caller.role,
            "update": caller.update,
            "login": caller.login,
            "store": self._store if known else None,
            "stores": seen if known else [],
            "version": VERSION,
        }

    async def log_in(self, request: Request) -> Response:
        """Begin a session."""
        caller = caller_of(request)
        refuse_other_sites(request, caller)
        if not self._control.login:
            raise RefusedRequest(400, "this server asks for no login")
        name, password = await _credentials(request)
        record = await self._control.log_in(name, password, caller.client, request.url.path)
        key = self._control.sessions.begin(record.name, record.password)
        now = Caller(
            record.name, record.role, "session", caller.client, caller.update, stores=record.stores
        )
        response = JSONResponse(self._session(now))
        response.set_cookie(
            cookie_name(request),
            key,
            max_age=int(self._control.sessions.seconds),
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return response

    async def log_out(self, request: Request) -> Response:
        """End the session."""
        refuse_other_sites(request, caller_of(request))
        key = request.cookies.get(cookie_name(request))
        if key:
            self._control.sessions.end(key)
        response = JSONResponse({})
        response.delete_cookie(
            cookie_name(request),
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return response


async def _credentials(request: Request) -> tuple[str, str]:
    # A form of another site cannot send this media type.
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise RefusedRequest(415, "send name and password as application/json")
    try:
        given = json.loads(await read_body(request, _LONGEST))
        name, password = given["name"], given["password"]
        name.encode(), password.encode()  # not halves of surrogate pairs
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        message = "send an object with name and password, which are texts"
        raise RefusedRequest(400, message) from None
    return str(name), str(password)

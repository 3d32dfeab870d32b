"""Who sends a request, and what it may do: start at `require`.

Always true: a request that could change something is refused if a page of another site sends it
with what the browser adds by itself (a cookie or a password).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

from starlette.requests import HTTPConnection, Request

from triplestore.data_classes import data_class
from triplestore.server.access.users_file import UserRecord, includes
from triplestore.server.refusals import RefusedRequest

_KEY = "triplestore.caller"
_CHECK = "triplestore.still_allowed"
SAFE = ("GET", "HEAD", "OPTIONS")


@data_class
class Caller:
    """The sender of a request.

    name     the user; None if the server asks for no login, or the user has not logged in
    role     the user's role; None before a login
    way      "open" (no login is asked for), "password", "token", "session" or "none"
    client   the network address, as far as it counts as one client
    update   whether the server allows updates
    cors     whether pages of other sites may send requests
    login    whether the server asks for a login
    stores   the stores that the user may see; empty for all
    record   the user as of the request; None if the server asks for no login, or before one
    """

    name: str | None = None
    role: str | None = None
    way: str = "none"
    client: str = ""
    update: bool = False
    cors: bool = False
    login: bool = True
    stores: tuple[str, ...] = ()
    record: UserRecord | None = None

    @property
    def key(self) -> str:
        """What counts as one client for limits: the user, or the address."""
        return f"user {self.name}" if self.name is not None else self.client


def put_caller(
    scope: MutableMapping[str, Any], caller: Caller, still_allowed: Callable[[], bool]
) -> None:
    """Note who sends a request, and how to find out whether that is still so."""
    scope[_KEY], scope[_CHECK] = caller, still_allowed


def caller_of(request: HTTPConnection) -> Caller:
    """Who sends a request."""
    caller: Caller = request.scope.get(_KEY) or Caller()
    return caller


def is_still_allowed(scope: Mapping[str, Any]) -> bool:
    """Whether the sender of a request would still be let in with the same rights.

    Answers that take long ask this from time to time.
    """
    check: Callable[[], bool] | None = scope.get(_CHECK)
    return check is None or check()


def require(request: Request, role: str) -> Caller:
    """Refuse a request whose sender does not have a role ("read", "write" or "admin").

    "write" also needs a server that allows updates. Every endpoint calls this first:

        caller = require(request, "write")
    """
    caller = caller_of(request)
    if role == "write" and not caller.update:
        raise RefusedRequest(
            403, "updates are not allowed here: start the server with --allow-update"
        )
    if request.method not in SAFE or role != "read":
        refuse_other_sites(request, caller)
    if caller.role is None:
        raise login_needed(request.url.path)
    if not includes(caller.role, role):
        who = f"{caller.name!r} has" if caller.login else "this server gives everyone"
        raise RefusedRequest(403, f"this needs the role {role!r}; {who} {caller.role!r}")
    return caller


def login_needed(path: str, message: str = "log in to use this server") -> RefusedRequest:
    """The refusal that asks for a name and password, or a token.

    The page asks in its own form: a browser would show its own for `Basic`.
    """
    ways = ['Bearer realm="triplestore"']
    if "/api/" not in path:
        ways.insert(0, 'Basic realm="triplestore", charset="UTF-8"')
    return RefusedRequest(401, message, {"www-authenticate": ", ".join(ways)})


def refuse_other_sites(request: HTTPConnection, caller: Caller) -> None:
    """Refuse a change that a page of another site sends.

    With `cors`, such pages may send changes if they have a token, or if no login is asked for.
    """
    if comes_from_elsewhere(request) and not (caller.cors and caller.way in ("open", "token")):
        raise RefusedRequest(403, "updates from pages of other sites are refused")


def comes_from_elsewhere(request: HTTPConnection) -> bool:
    """Whether a page of another site sends the request, by what the browser says of it.

    `Sec-Fetch-Site` is the browser's own judgement, also where a proxy changes `Host`; no page can
    set it. Browsers without it send `Origin` with changes; programs send neither.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = request.headers.get("origin")
    return origin is not None and origin.partition("://")[2] != request.headers.get("host")

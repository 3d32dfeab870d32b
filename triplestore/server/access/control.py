"""Finds out who sends each request: start at `AccessControl.identify`.

Always true: without a login, only public paths are answered; the expensive hash of a password is
computed in a thread, and not again for five minutes; no password is kept in memory.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
import time
from base64 import b64decode
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from triplestore.errors import TripleStoreError
from triplestore.server.access.caller import Caller, login_needed, put_caller
from triplestore.server.access.failures import Failures, network_of
from triplestore.server.access.passwords import hash_of_nothing, is_password, token_hash
from triplestore.server.access.sessions import Sessions
from triplestore.server.access.users_file import UserRecord, Users, read_users
from triplestore.server.refusals import RefusedRequest, refusal

logger = logging.getLogger("triplestore.server")

_KNOWN_SECONDS = 300.0
"""How long a password that was right is known to be right."""

_PUBLIC = ("/", "/health", "/ready", "/favicon.ico", "/api/login", "/api/logout", "/api/session")
_PUBLIC_FOLDER = "/page/"
"""The static files of the page, which hold no data."""


class UsersInForce:
    """The users of a file, read again when the file changes.

    A file that cannot be read leaves the users as they were.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mark = self._seen()
        self._users = read_users(path)
        self._checked = time.monotonic()

    @property
    def now(self) -> Users:
        """The users as of at most a second ago."""
        if time.monotonic() - self._checked > 1.0:
            self._checked = time.monotonic()
            mark = self._seen()
            if mark != self._mark:
                self._mark = mark
                try:
                    self._users = read_users(self._path)
                except TripleStoreError as error:
                    logger.error("the users stay as they were: %s", error)
        return self._users

    def _seen(self) -> tuple[int, int, int] | None:
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino


class AccessControl:
    """Who may do what on a server.

    users     the file of users; None if the server asks for no login
    update    whether the server allows updates
    cors      whether pages of other sites may send requests
    stores    the names of stores under whose paths everything is repeated
    """

    def __init__(
        self,
        users: Path | None,
        *,
        update: bool = False,
        cors: bool = False,
        session_seconds: float = 12 * 3600.0,
        stores: tuple[str, ...] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._users = UsersInForce(users) if users is not None else None
        self._update, self._cors, self._stores = update, cors, stores
        self.sessions = Sessions(session_seconds, clock)
        self._clock = clock
        self._secret = secrets.token_bytes(32)
        self._known: OrderedDict[bytes, tuple[str, float]] = OrderedDict()
        self._checks: dict[bytes, asyncio.Task[UserRecord]] = {}
        self._addresses = Failures(clock=clock)
        self._names = Failures(free=50, clock=clock)
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="password")
        self._unmatched = hash_of_nothing()
        self.refused_logins = 0

    @property
    def login(self) -> bool:
        """Whether the server asks for a login."""
        return self._users is not None

    def stop(self) -> None:
        """End the threads."""
        self._pool.shutdown(cancel_futures=True)

    async def identify(self, request: HTTPConnection) -> Caller:
        """Who sends a request; raises a refusal for wrong credentials and for no login."""
        client = network_of(request.client.host) if request.client else ""
        if self._users is None:
            role = "admin" if self._update else "read"
            return Caller(None, role, "open", client, self._update, self._cors, False)
        way, record = await self._recognised(request, client)
        path = request.scope["path"]
        if record is None:
            if not self._is_public(path):
                raise login_needed(path)
            return Caller(None, None, "none", client, self._update, self._cors)
        store = self._store_of(path)
        if store is not None and record.stores and store not in record.stores:
            raise RefusedRequest(404, "Not Found")  # as for a store that does not exist
        rights = (self._update, self._cors, True, record.stores)
        return Caller(record.name, record.role, way, client, *rights, record)

    def is_still_allowed(self, request: HTTPConnection, caller: Caller) -> bool:
        """Whether the sender of a request would still be let in with the same rights."""
        then = caller.record
        if self._users is None or then is None:
            return self._users is None
        if caller.way == "session":
            now = self._in_session(request)
        elif caller.way == "token":
            now = self._with_token(request)
        else:
            now = self._users.now.named(then.name)
            now = now if now is not None and now.password == then.password else None
        return now is not None and (now.role, now.stores) == (then.role, then.stores)

    async def _recognised(
        self, request: HTTPConnection, client: str
    ) -> tuple[str, UserRecord | None]:
        assert self._users is not None
        path = request.scope["path"]
        scheme, _, value = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            record = self._with_token(request)
            if record is None:
                self.refused_logins += 1
                raise login_needed(path, "unknown token")
            return "token", record
        if scheme.lower() == "basic":
            name, password = _basic(value, path)
            return "password", await self.log_in(name, password, client, path)
        if scheme:
            raise login_needed(path, f"unknown way to log in: {scheme!r}")
        return "session", self._in_session(request)

    def _with_token(self, request: HTTPConnection) -> UserRecord | None:
        assert self._users is not None
        token = request.headers["authorization"].partition(" ")[2].strip()
        return self._users.now.with_token(token_hash(token))

    def _in_session(self, request: HTTPConnection) -> UserRecord | None:
        assert self._users is not None
        key = request.cookies.get(cookie_name(request))
        holder = self.sessions.holder_of(key) if key else None
        record = self._users.now.named(holder[0]) if holder is not None else None
        # A new password ends the sessions that began with the old one.
        return record if holder is not None and record and record.password == holder[1] else None

    async def log_in(self, name: str, password: str, client: str, path: str) -> UserRecord:
        """The user with a name and password; raises a refusal if they are wrong."""
        assert self._users is not None
        mark = hmac.digest(self._secret, f"{name}\0{password}".encode(), "sha256")
        record = self._users.now.named(name)
        kept, until = self._known.get(mark, ("", 0.0))
        if record is not None and kept == record.password and self._clock() < until:
            return record
        check = self._checks.get(mark)
        if check is None:
            self._may_try(name, client)
            check = asyncio.ensure_future(self._check(mark, record, password, path))
            check.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._checks[mark] = check
            check.add_done_callback(lambda _: self._checks.pop(mark, None))
        found = await asyncio.shield(check)  # it is shared by requests
        self._addresses.succeeded([client])
        self._names.succeeded([name])
        return found

    def _may_try(self, name: str, client: str) -> None:
        if len(self._checks) >= 20:
            raise RefusedRequest(
                503, "too many logins are being checked: try again later", {"retry-after": "5"}
            )
        wait = self._addresses.begin([client]) or self._names.begin([name])
        if wait:
            seconds = str(int(wait) + 1)
            message = f"too many failed logins: try again in {seconds} s"
            raise RefusedRequest(429, message, {"retry-after": seconds})

    async def _check(
        self, mark: bytes, record: UserRecord | None, password: str, path: str
    ) -> UserRecord:
        # An unknown name takes as long as a wrong password.
        kept = record.password if record is not None and record.password else self._unmatched
        loop = asyncio.get_running_loop()
        right = await loop.run_in_executor(self._pool, is_password, password, kept)
        if record is None or record.password is None or not right:
            self.refused_logins += 1
            raise login_needed(path, "wrong name or password")
        self._known[mark] = (kept, self._clock() + _KNOWN_SECONDS)
        if len(self._known) > 1000:
            self._known.popitem(last=False)
        return record

    def _store_of(self, path: str) -> str | None:
        first = path.split("/", 2)[1] if path.startswith("/") else ""
        return first if first in self._stores else None

    def _is_public(self, path: str) -> bool:
        store = self._store_of(path)
        if store is not None:
            path = path[len(store) + 1 :] or "/"
        return path in _PUBLIC or (path.startswith(_PUBLIC_FOLDER) and "/.." not in path)


def _basic(value: str, path: str) -> tuple[str, str]:
    try:
        name, colon, password = b64decode(value.strip(), validate=True).decode().partition(":")
    except ValueError:  # also for what is not ASCII, base64 or UTF-8
        colon = ""
    if not colon:
        raise login_needed(path, "the header Authorization is malformed")
    return name, password


def cookie_name(request: HTTPConnection) -> str:
    """The name of the session's cookie.

    Cookies are shared by all ports of a machine, so the port is part of it. `__Host-` makes
    browsers refuse one that another host or an unencrypted page has set.
    """
    port = (request.scope.get("server") or ("", 0))[1]
    secure = "__Host-" if request.url.scheme == "https" else ""
    return f"{secure}triplestore-{port}"


class WithCallers:
    """Notes who sends each request, or refuses it."""

    def __init__(self, app: ASGIApp, control: AccessControl) -> None:
        self._app, self._control = app, control

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its sender, or refuse it."""
        if scope["type"] == "http":
            try:
                request = HTTPConnection(scope)
                caller = await self._control.identify(request)
                check = partial(self._control.is_still_allowed, request, caller)
                put_caller(scope, caller, check)
            except RefusedRequest as refused:
                await refusal(refused, scope)(scope, receive, send)
                return
        await self._app(scope, receive, send)

"""Streams of server-sent events: start at `EventStream`.

Streams wait in the event loop, not in threads. Always true: a stream ends when its client has
disconnected, when its store is closed, and when the server begins to stop. It also ends, within
seconds, when its client has lost its rights: the session has expired, or the user was removed or
has another role.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from triplestore.errors import LostPlaceError, TripleStoreError
from triplestore.server.access.caller import is_still_allowed
from triplestore.server.refusals import RefusedRequest

KEEP_ALIVE_SECONDS = 15.0
"""Time without an event after which a comment is sent, so that proxies keep the connection."""

CHECK_SECONDS = 1.0
"""Time between two looks at whether the clients of streams are still allowed to read."""

MOST_STREAMS = 2000
"""Maximum number of open streams of one server."""

_LARGE = 2000  # minimum number of rows that are written as JSON in a thread

_open: WeakKeyDictionary[asyncio.AbstractEventLoop, set[EventStream]] = WeakKeyDictionary()
_checks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Task[None]] = WeakKeyDictionary()


def end_streams() -> None:
    """End all streams of the server that runs in this event loop."""
    for stream in list(_open.get(asyncio.get_running_loop(), ())):
        stream.end()


async def _end_without_rights() -> None:
    """End the streams whose clients have lost their rights, until no stream is open."""
    loop = asyncio.get_running_loop()
    try:
        while streams := _open[loop]:
            await asyncio.sleep(CHECK_SECONDS)
            for stream in list(streams):
                if not stream.is_allowed():
                    stream.end()
    finally:
        del _checks[loop]  # the task holds the loop


def event(name: str, data: str, place: int | None = None) -> bytes:
    """One event; `place` is its id, from which a client can continue.

    >>> event("rows", "{}", 7)
    b'event: rows\\nid: 7\\ndata: {}\\n\\n'
    """
    number = "" if place is None else f"id: {place}\n"
    return f"event: {name}\n{number}data: {data}\n\n".encode()


class EventStream(Response, ABC):
    """An answer that lasts until one of both sides ends it.

    client   who asked for it, for limits
    lines    whether it is JSON, one object in a line, instead of events
    """

    def __init__(self, client: str, *, lines: bool = False) -> None:
        super().__init__()
        self.client = client
        self._lines = lines
        self._ready: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended = False
        self.is_allowed: Callable[[], bool] = lambda: True
        """Whether the client may still read."""

    @abstractmethod
    def take(self) -> tuple[int, Any] | None:
        """What is to be sent next and the commit of it; None if nothing is there yet."""

    @abstractmethod
    def texts(self, found: Any) -> list[tuple[str, bool]]:
        """The JSON of it, in one or more parts, and whether a part is the last one."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of its events."""

    @property
    @abstractmethod
    def place(self) -> int:
        """The commit up to which everything was taken."""

    @property
    @abstractmethod
    def over(self) -> bool:
        """Whether nothing more can come."""

    @abstractmethod
    def watch(self, wake: Callable[[], None]) -> None:
        """Call this when there may be something to take."""

    @abstractmethod
    def leave(self) -> None:
        """The stream has ended."""

    def end(self) -> None:
        """End it soon; called in its event loop."""
        self._ended = True
        if self._ready is not None:
            self._ready.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the end."""
        loop = self._loop = asyncio.get_running_loop()
        ready = self._ready = asyncio.Event()
        self.is_allowed = partial(is_still_allowed, scope)
        streams = _open.setdefault(loop, set())
        streams.add(self)
        if loop not in _checks:
            _checks[loop] = asyncio.ensure_future(_end_without_rights())
        gone = asyncio.ensure_future(_until_gone(receive))
        gone.add_done_callback(lambda _: self.end())
        self.watch(self._wake)
        try:
            await send(_start(self._lines))
            async for piece in self._pieces(ready):
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            if not gone.done():
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            gone.cancel()
            streams.discard(self)
            self.leave()

    def _wake(self) -> None:
        """Called by any thread."""
        assert self._loop is not None and self._ready is not None
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._ready.set)

    async def _pieces(self, ready: asyncio.Event) -> AsyncIterator[bytes]:
        if not self._lines:
            yield b"retry: 2000\n\n"
        while not self._ended:
            ready.clear()
            try:
                found = self.take()
            except TripleStoreError as error:
                yield self._failure(error)
                return
            if found is not None:
                commit, what = found
                large = len(what) >= _LARGE
                texts = await asyncio.to_thread(self.texts, what) if large else self.texts(what)
                for text, is_last in texts:
                    yield self._piece(text, commit if is_last else None)
                continue
            if self.over:
                return
            try:
                await asyncio.wait_for(ready.wait(), KEEP_ALIVE_SECONDS)
            except TimeoutError:
                yield b"\n" if self._lines else f": \nid: {self.place}\n\n".encode()

    def _piece(self, text: str, commit: int | None) -> bytes:
        return f"{text}\n".encode() if self._lines else event(self.name, text, commit)

    def _failure(self, error: TripleStoreError) -> bytes:
        # Late: only failures need it.
        import json

        lost = isinstance(error, LostPlaceError)
        told = {"message": str(error), "lost": lost}
        if isinstance(error, LostPlaceError) and error.commit is not None:
            told["commit"] = error.commit
        if self._lines:
            return f"{json.dumps({'error': told})}\n".encode()
        return event("lost" if lost else "failed", json.dumps(told))


def refuse_too_many(client: str, per_client: int) -> None:
    """Refuse a request if the server, or the client, has as many streams as it may have.

    per_client   maximum number of streams of one client; 0 for no limit
    """
    streams = _open.get(asyncio.get_running_loop(), set())
    if len(streams) >= MOST_STREAMS:
        raise RefusedRequest(
            503, f"{MOST_STREAMS} streams are open: try again later", {"retry-after": "30"}
        )
    if per_client and sum(stream.client == client for stream in streams) >= per_client:
        raise RefusedRequest(
            429, f"one client may have at most {per_client} streams", {"retry-after": "30"}
        )


def _start(lines: bool) -> dict[str, Any]:
    kind = b"application/x-ndjson" if lines else b"text/event-stream; charset=utf-8"
    headers = [
        (b"content-type", kind),
        (b"cache-control", b"no-store"),
        (b"x-accel-buffering", b"no"),
        (b"vary", b"accept"),
    ]
    return {"type": "http.response.start", "status": 200, "headers": headers}


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass

"""Live queries and the change feed over HTTP: start at `live_routes`.

    /subscribe?query=   the rows that come and go, as server-sent events
    /changes            the facts that come and go, as events or as lines of JSON

`since=N`, or the header `Last-Event-ID` of a client that connects again, continues from a commit.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from triplestore.errors import LostPlaceError, TripleStoreError
from triplestore.server.access.caller import require
from triplestore.server.event_streams import EventStream, refuse_too_many
from triplestore.server.refusals import RefusedRequest, refused_by
from triplestore.server.service import StoreService

logger = logging.getLogger("triplestore.server")

REFRESH_SECONDS = 0.25
"""Seconds between two looks at a store that another process writes to, while it is followed."""

_EVENTS, _LINES = "text/event-stream", "application/x-ndjson"


def live_routes(service: StoreService) -> list[BaseRoute]:
    """The streams of one store."""
    service.store.changes().close()  # from now on the past is kept for those who connect again
    made = _Streams(service)
    return [
        Route("/subscribe", made.subscribe, methods=["GET", "POST"]),
        Route("/changes", made.changes, methods=["GET"]),
    ]


class _Streams:
    """The streams of one store, and what keeps a store that is only read up to date."""

    def __init__(self, service: StoreService) -> None:
        self._service = service
        self._store = service.store
        self._following = 0
        self._refreshing: asyncio.Task[None] | None = None

    async def subscribe(self, request: Request) -> Response:
        """A stream of the rows of a query."""
        client = require(request, "read").key
        refuse_too_many(client, self._service.settings.per_client)
        given = dict(request.query_params)
        if request.method == "POST":
            form = await request.form(max_files=0, max_part_size=self._service.settings.body)
            given |= {name: str(value) for name, value in form.items()}
        query = given.get("query")
        if not query:
            raise RefusedRequest(400, "the parameter `query` is missing: give a SELECT")
        since = _since(request, given)
        initial = _is_true(given.get("initial"), since is None)
        settings = self._service.settings
        try:
            await asyncio.to_thread(self._store.refresh)
            subscription = await asyncio.to_thread(
                self._store.subscribe,
                query,
                since=since,
                initial=initial,
                facts=given.get("facts", "all"),
                use_default_graph_as_union=settings.union,
                budget=settings.memory,
            )
        except TripleStoreError as error:
            raise _refused(error) from error
        return _RowStream(client, subscription, self)

    async def changes(self, request: Request) -> Response:
        """A stream of all changed facts."""
        client = require(request, "read").key
        refuse_too_many(client, self._service.settings.per_client)
        given = dict(request.query_params)
        lines = _LINES in request.headers.get("accept", "")
        follow = _is_true(given.get("follow"), True)
        try:
            await asyncio.to_thread(self._store.refresh)
            feed = self._store.changes(_since(request, given))
        except TripleStoreError as error:
            raise _refused(error) from error
        return _FactStream(client, feed, self, lines=lines, follow=follow)

    def enter(self) -> None:
        """A stream begins."""
        self._following += 1
        if self._store.is_reader and self._refreshing is None:
            self._refreshing = asyncio.ensure_future(self._refresh())

    def leave(self) -> None:
        """A stream ends."""
        self._following -= 1
        if not self._following and self._refreshing is not None:
            self._refreshing.cancel()
            self._refreshing = None

    async def _refresh(self) -> None:
        while True:
            await asyncio.sleep(REFRESH_SECONDS)
            try:
                await asyncio.to_thread(self._store.refresh)
            except TripleStoreError as error:  # it is tried again; queries report it too
                logger.warning("a followed store could not be refreshed: %s", error)


class _RowStream(EventStream):
    """The changes of a subscription."""

    name = "rows"

    def __init__(self, client: str, subscription: Any, streams: _Streams) -> None:
        super().__init__(client)
        self._subscription = subscription
        self._streams = streams

    def take(self) -> tuple[int, Any] | None:
        """The next changes."""
        found = self._subscription.next(0)
        return None if found is None else (found.commit, found)

    def texts(self, found: Any) -> list[tuple[str, bool]]:
        """One object."""
        return [(found.json, True)]

    @property
    def place(self) -> int:
        """The commit up to which all changes were taken."""
        return int(self._subscription.commit)

    @property
    def over(self) -> bool:
        """Whether the store was closed."""
        return bool(self._subscription.closed)

    def watch(self, wake: Callable[[], None]) -> None:
        """Be woken by the subscription."""
        self._streams.enter()
        self._subscription.ready = wake

    def leave(self) -> None:
        """End the subscription."""
        self._streams.leave()
        self._subscription.close()


class _FactStream(EventStream):
    """The changes of a feed; with `follow`, also those to come."""

    name = "changes"

    def __init__(
        self, client: str, feed: Any, streams: _Streams, *, lines: bool, follow: bool
    ) -> None:
        super().__init__(client, lines=lines)
        self._feed = feed
        self._streams = streams
        self._follow = follow

    def take(self) -> tuple[int, Any] | None:
        """The changes of the next commit."""
        found = self._feed.next(0)
        return None if found is None else (found.commit, found)

    def texts(self, found: Any) -> list[tuple[str, bool]]:
        """Objects of at most some thousand facts each."""
        return list(found.messages())

    @property
    def place(self) -> int:
        """The commit up to which the feed was read."""
        return int(self._feed.commit)

    @property
    def over(self) -> bool:
        """Whether the store was closed, or only the past was asked for."""
        return not self._follow or bool(self._feed.closed)

    def watch(self, wake: Callable[[], None]) -> None:
        """Be woken by each commit."""
        self._streams.enter()
        self._feed.watch(wake)

    def leave(self) -> None:
        """End the feed."""
        self._streams.leave()
        self._feed.close()


def _since(request: Request, given: dict[str, str]) -> int | None:
    text = request.headers.get("last-event-id") or given.get("since")
    if not text:
        return None
    if not text.isdecimal() or len(text) > 18:
        raise RefusedRequest(400, f"since must be the number of a commit, not {text[:50]!r}")
    return int(text)


def _is_true(text: str | None, otherwise: bool) -> bool:
    return otherwise if text is None else text.lower() not in ("false", "0", "no")


def _refused(error: TripleStoreError) -> RefusedRequest:
    """410 tells a browser not to connect again with the same place."""
    if isinstance(error, LostPlaceError):
        return RefusedRequest(410, str(error))
    return refused_by(error)

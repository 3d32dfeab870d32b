"""The application that answers requests: start at `create_app`.

    /query    SPARQL queries; without a query, a description of the service
    /update   SPARQL updates, if they are allowed
    /sparql   both
    /store    whole graphs, by the Graph Store Protocol
    /health   whether the server is well

Always true: only `/health`, `/` and descriptions are answered in the event loop; a query reads one
commit of the store; a page of another site cannot make a browser send updates.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import IO, TYPE_CHECKING, cast
from urllib.parse import urlsplit

import pyoxigraph as ox
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from triplestore.server.description import PREFIXES, service_description
from triplestore.server.graphs import changing, reading
from triplestore.server.negotiation import RESULTS, TRIPLES, content_type, negotiated
from triplestore.server.page.static import asset_routes, page_or
from triplestore.server.protocol import (
    RefusedRequest,
    SparqlRequest,
    accepted,
    from_elsewhere,
    read_operation,
)
from triplestore.server.running import AnswerJob, AnswerOutput, Runner, on_refused, refusal
from triplestore.server.settings import Settings
from triplestore.store.answers import AnswerFormat, are_triples, write_answer
from triplestore.store.graph_redirection import query_on, update_on

if TYPE_CHECKING:
    from triplestore.store import Store


_INDEX = """SPARQL over HTTP
/query    queries, by GET or POST; without one, a description of the service
/update   updates, by POST{updates}
/sparql   both
/store    whole graphs: ?default or ?graph=IRI
/health   whether the server is well
"""


def create_app(store: Store, settings: Settings | None = None) -> Starlette:
    """The application that serves a store; the caller closes the store.

    >>> from triplestore import Store
    >>> [route.path for route in create_app(Store()).routes]
    ['/', '/assets/{name}', '/favicon.svg', '/query', '/update', '/sparql', '/store', '/health']
    """
    settings = settings or Settings()
    service = _Service(store, settings)
    both = ["GET", "POST"]
    middleware = [Middleware(_NamedHosts, hosts=settings.hosts)]
    if settings.cors:
        middleware.append(
            Middleware(CORSMiddleware, allow_origins=["*"], allow_methods=both, allow_headers=["*"])
        )
    return Starlette(
        routes=[
            Route("/", page_or(service.index)),
            *asset_routes(),
            Route("/query", service.endpoint("query"), methods=both),
            Route("/update", service.endpoint("update"), methods=both),
            Route("/sparql", service.endpoint("query", "update"), methods=both),
            Route("/store", service.graph, methods=["GET", "PUT", "POST", "DELETE"]),
            Route("/health", service.health),
        ],
        middleware=middleware,
        exception_handlers={RefusedRequest: on_refused},
        lifespan=service.lifespan,
    )


class _Service:
    """The store, its threads and the settings."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._runner = Runner(settings)

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """The time in which the server runs; stops all threads at the end."""
        try:
            yield
        finally:
            self._runner.stop()

    async def index(self, request: Request) -> Response:
        """The list of endpoints, as text."""
        updates = "" if self._settings.update else " (not allowed here)"
        return PlainTextResponse(_INDEX.format(updates=updates))

    async def health(self, request: Request) -> Response:
        """The store's last commit and size, and the number of running queries."""
        store = self._store
        store.refresh()
        facts = {"commit": store.commit, "quads": len(store), "running": self._runner.running}
        return JSONResponse({"status": "ok", **facts})

    def endpoint(self, *kinds: str) -> Callable[[Request], Awaitable[Response]]:
        """The handler of an endpoint for queries, updates or both."""

        async def answer(request: Request) -> Response:
            operation = await read_operation(request, kinds, self._settings.body)
            if operation is None:
                return self._described(request)
            if operation.kind == "update":
                return self._runner.answer(self._update(request, operation))
            return self._runner.answer(self._query(request, operation))

        return answer

    def _query(self, request: Request, asked: SparqlRequest) -> AnswerJob:
        store, settings = self._store, self._settings
        accept, base = accepted(request), _address(request)

        def job(output: AnswerOutput) -> None:
            store.refresh()
            text, union = asked.text, asked.union or settings.union
            if asked.graphs is not None:
                text, union = query_on(text, *asked.graphs, store.prefixes, base), False
            result = store.query(
                text,
                base_iri=base,
                facts=asked.facts,
                use_default_graph_as_union=union,
                timeout=settings.seconds,
                budget=settings.memory,
                cancel=output.stop,
            )
            form: AnswerFormat
            if are_triples(result):
                media_type, form = negotiated(accept, TRIPLES)
            else:
                media_type, form = negotiated(accept, RESULTS)
            output.media_type = content_type(media_type)
            write_answer(result, cast(IO[bytes], output), form, prefixes=store.prefixes)

        return job

    def _update(self, request: Request, asked: SparqlRequest) -> AnswerJob:
        store, settings = self._store, self._settings
        self._may_change(request)
        base = _address(request)

        def job(output: AnswerOutput) -> None:
            text = asked.text
            if asked.graphs is not None:
                text = update_on(text, *asked.graphs, store.prefixes, base)
            change = store.update(
                text,
                base_iri=base,
                timeout=settings.seconds,
                budget=settings.memory,
                cancel=output.stop,
            )
            output.write(f"{change}\n".encode())

        return job

    async def graph(self, request: Request) -> Response:
        """Answer a request of the Graph Store Protocol."""
        if request.method in ("GET", "HEAD"):
            return self._runner.answer(reading(self._store, request))
        self._may_change(request)
        return self._runner.answer(await changing(self._store, request, self._settings.body))

    def _may_change(self, request: Request) -> None:
        if not self._settings.update:
            raise RefusedRequest(
                403, "updates are not allowed here: start the server with --allow-update"
            )
        if from_elsewhere(request) and not self._settings.cors:
            raise RefusedRequest(403, "updates from pages of other sites are refused")

    def _described(self, request: Request) -> Response:
        settings = self._settings
        media_type, form = negotiated(accepted(request), TRIPLES)
        self._store.refresh()
        triples = service_description(
            self._store, _address(request), update=settings.update, union=settings.union
        )
        document = ox.serialize(triples, format=form, prefixes=PREFIXES)
        return Response(document, media_type=content_type(media_type), headers={"vary": "accept"})


class _NamedHosts:
    """Refuses requests that address the server by an unknown name.

    Otherwise a page whose host name resolves to this machine could read the store.
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._hosts:
            host = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
            if _name_of(host) not in self._hosts:
                refused = RefusedRequest(
                    421,
                    f"{host!r} is not a name of this server; if a proxy in front of it uses this "
                    f"name, start the server with --allowed-host {_name_of(host) or 'NAME'}",
                )
                await refusal(refused)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _address(request: Request) -> str:
    """The endpoint's IRI, which is also the base of relative IRIs."""
    return str(request.url.replace(query="", fragment=""))


def _name_of(host: str) -> str | None:
    """The name or address in a `Host` header, without the port."""
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None

"""The application that answers requests: start at `create_app`.

    /query    SPARQL queries; without a query, a description of the service
    /update   SPARQL updates, if they are allowed
    /sparql   both
    /store    whole graphs, by the Graph Store Protocol
    /subscribe  the rows of a query that come and go, as events; /changes: all facts
/validate a report of SHACL: POST shapes, or GET that of watched shapes
/health   whether the server is well; /ready: whether it can answer queries now
    /metrics  numbers for Prometheus
    /api/     login, and what the page asks for

Several stores are each served under `/NAME`, with the same paths.

Always true: every path needs a login if the server asks for one, except those that `AccessControl`
calls public; a page of another site cannot make a browser send updates.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from triplestore.errors import UsageError
from triplestore.server.access.caller import caller_of
from triplestore.server.access.control import AccessControl, WithCallers
from triplestore.server.access.login_routes import login_routes
from triplestore.server.connections.ambiguous_requests import WithoutAmbiguity
from triplestore.server.connections.compression import Compressed
from triplestore.server.connections.faults import WithoutFaults
from triplestore.server.connections.host_names import NamedHosts
from triplestore.server.connections.other_sites import WithoutOtherSites
from triplestore.server.connections.security_headers import WithSecurityHeaders
from triplestore.server.endpoints import sparql_routes
from triplestore.server.live_routes import live_routes
from triplestore.server.page.routes import page_routes
from triplestore.server.page.static import asset_routes, page_or
from triplestore.server.refusals import RefusedRequest, on_http_error, on_refused
from triplestore.server.running import Runner
from triplestore.server.service import StoreService
from triplestore.server.settings import Settings
from triplestore.server.shape_routes import shape_routes
from triplestore.server.watching.access_log import AccessLog
from triplestore.server.watching.metrics import Metrics
from triplestore.server.watching.spans import Spans
from triplestore.server.watching.status_routes import status_routes
from triplestore.server.watching.watched_requests import WatchedRequests, endpoint_of
from triplestore.store import Store

if TYPE_CHECKING:
    from typing import TypeAlias

    ServedStores: TypeAlias = Store | Mapping[str, Store]


def _login_routes(service: StoreService) -> list[BaseRoute]:
    path = service.store.path
    shown = service.name or (path.resolve().name if path is not None else None)
    return [*login_routes(service.control, shown, service.names)]


def _index_routes(service: StoreService) -> list[BaseRoute]:
    return [Route("/", page_or(_index(service))), *asset_routes()]


ROUTES: list[Callable[[StoreService], list[BaseRoute]]] = [
    sparql_routes,
    live_routes,
    shape_routes,
    _login_routes,
    page_routes,
    _index_routes,
]
"""The makers of the routes of each store; the first route that matches a path answers."""

_PATHS = {"query", "update", "sparql", "store", "health", "ready", "metrics", "api", "page"}
_PATHS |= {"subscribe", "changes", "validate", "mcp"}
"""Names that stores cannot have."""

_INDEX = """SPARQL over HTTP
/query    queries, by GET or POST; without one, a description of the service
/update   updates, by POST{updates}
/sparql   both
/store    whole graphs: ?default or ?graph=IRI, or an address below /store/
/validate a report of SHACL: POST shapes, or GET that of watched shapes
/health   whether the server is well; /ready: whether it can answer now
/metrics  numbers for Prometheus
"""


def create_app(stores: ServedStores, settings: Settings | None = None) -> Starlette:
    """The application that serves one store, or several by name; the caller closes them.

    >>> app = create_app(Store())
    >>> [route.path for route in app.routes][:4]
    ['/query', '/update', '/sparql', '/store']
    """
    settings = settings or Settings()
    names = () if isinstance(stores, Store) else tuple(map(check_store_name, stores))
    named = {"": stores} if isinstance(stores, Store) else stores
    control = AccessControl(
        settings.users,
        update=settings.update,
        cors=settings.cors,
        session_seconds=settings.session_seconds,
        stores=names,
    )
    spans = Spans.if_installed()
    runner = Runner(settings, spans)
    metrics = Metrics(named, runner, control)
    log = AccessLog(settings.access_log, settings.log_format) if settings.access_log else None
    if isinstance(stores, Store):
        routes = _routes(StoreService(stores, runner, settings, control))
    else:
        routes = _routes_of_several(stores, runner, settings, control)
    routes += [metrics.route(), *status_routes(named, runner)]

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            runner.stop()
            control.stop()
            if log is not None:
                log.close()

    known = {endpoint_of(path, names) for path in _paths(routes)}
    watched = Middleware(
        WatchedRequests, metrics=metrics, log=log, spans=spans, names=names, known=known
    )
    app = Starlette(
        routes=routes,
        middleware=[watched, *_middleware(settings, control)],
        exception_handlers={RefusedRequest: on_refused, 404: on_http_error, 405: on_http_error},
        lifespan=lifespan,
    )
    app.state.stall_seconds = settings.stall_seconds
    return app


def check_store_name(name: str) -> str:
    """The name of a store, if paths can begin with it.

    >>> check_store_name("query")
    Traceback (most recent call last):
    triplestore.errors.UsageError: 'query' cannot be the name of a store: it is a path of the server
    """
    if name in _PATHS:
        raise UsageError(f"{name!r} cannot be the name of a store: it is a path of the server")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}", name):
        raise UsageError(f"{name!r} cannot be the name of a store: use letters, digits, '-', '_'")
    return name


def _middleware(settings: Settings, control: AccessControl) -> list[Middleware]:
    """What every request passes, from the outside to the inside."""
    made = [
        Middleware(WithSecurityHeaders, shared=settings.cors, private=control.login),
        Middleware(Compressed),
        Middleware(WithoutFaults),
        Middleware(WithoutAmbiguity),
        Middleware(NamedHosts, hosts=settings.hosts),
    ]
    if settings.cors:
        methods = ["GET", "POST"]
        made.append(
            Middleware(
                CORSMiddleware, allow_origins=["*"], allow_methods=methods, allow_headers=["*"]
            )
        )
    else:
        made.append(Middleware(WithoutOtherSites))
    made.append(Middleware(WithCallers, control=control))
    return made


def _paths(routes: Iterable[BaseRoute]) -> Iterator[str]:
    for route in routes:
        if isinstance(route, Mount):
            yield from (route.path + path for path in _paths(route.routes))
        elif isinstance(route, Route):
            yield route.path


def _routes(service: StoreService) -> list[BaseRoute]:
    return [route for make in ROUTES for route in make(service)]


def _routes_of_several(
    stores: Mapping[str, Store], runner: Runner, settings: Settings, control: AccessControl
) -> list[BaseRoute]:
    names = tuple(stores)

    async def index(request: Request) -> Response:
        """The names of the stores that the caller may see."""
        caller = caller_of(request)
        seen = [name for name in names if not caller.stores or name in caller.stores]
        lines = [f"/{name}/\n" for name in seen] if caller.role is not None else []
        return PlainTextResponse("Stores served here\n" + "".join(lines))

    mounted = [
        Mount(f"/{name}", routes=_routes(StoreService(one, runner, settings, control, name, names)))
        for name, one in stores.items()
    ]
    return [
        Route("/", page_or(index)),
        *asset_routes(),
        *login_routes(control, None, names),
        *mounted,
    ]


def _index(service: StoreService) -> Callable[[Request], Awaitable[Response]]:
    async def index(request: Request) -> Response:
        """The list of endpoints, as text."""
        updates = "" if service.settings.update else " (not allowed here)"
        return PlainTextResponse(_INDEX.format(updates=updates))

    return index

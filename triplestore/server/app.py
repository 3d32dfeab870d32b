"""The application that answers requests: start at `create_app`.

    /query    SPARQL queries; without a query, a description of the service
    /update   SPARQL updates, if they are allowed
    /sparql   both
    /store    whole graphs, by the Graph Store Protocol
    /health   whether the server is well; /ready: whether it can answer queries now
    /api/     login, and what the page asks for

Several stores are each served under `/NAME`, with the same paths.

Always true: every path needs a login if the server asks for one, except those that `AccessControl`
calls public; a page of another site cannot make a browser send updates.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from triplestore.server.access.caller import caller_of
from triplestore.server.access.control import AccessControl, WithCallers
from triplestore.server.access.login_routes import login_routes
from triplestore.server.connections.host_names import NamedHosts
from triplestore.server.endpoints import sparql_routes
from triplestore.server.page.routes import page_routes
from triplestore.server.refusals import RefusedRequest, on_refused
from triplestore.server.running import Runner
from triplestore.server.service import StoreService
from triplestore.server.settings import Settings
from triplestore.server.watching.status_routes import status_routes
from triplestore.store import Store

if TYPE_CHECKING:
    from typing import TypeAlias

    ServedStores: TypeAlias = Store | Mapping[str, Store]


def _login_routes(service: StoreService) -> list[BaseRoute]:
    return [*login_routes(service.control, service.name, service.names)]


def _index_routes(service: StoreService) -> list[BaseRoute]:
    return [
        Route("/", _index(service)),
        *status_routes({service.name or "the store": service.store}, service.runner),
    ]


ROUTES: list[Callable[[StoreService], list[BaseRoute]]] = [
    sparql_routes,
    _login_routes,
    page_routes,
    _index_routes,
]
"""The makers of the routes of each store; the first route that matches a path answers."""

_INDEX = """SPARQL over HTTP
/query    queries, by GET or POST; without one, a description of the service
/update   updates, by POST{updates}
/sparql   both
/store    whole graphs: ?default or ?graph=IRI
/health   whether the server is well; /ready: whether it can answer now
"""


def create_app(stores: ServedStores, settings: Settings | None = None) -> Starlette:
    """The application that serves one store, or several by name; the caller closes them.

    >>> app = create_app(Store())
    >>> [route.path for route in app.routes][:4]
    ['/query', '/update', '/sparql', '/store']
    """
    settings = settings or Settings()
    names = () if isinstance(stores, Store) else tuple(stores)
    control = AccessControl(
        settings.users,
        update=settings.update,
        cors=settings.cors,
        session_seconds=settings.session_seconds,
        stores=names,
    )
    runner = Runner(settings)
    if isinstance(stores, Store):
        routes = _routes(StoreService(stores, runner, settings, control))
    else:
        routes = _routes_of_several(stores, runner, settings, control)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            runner.stop()
            control.stop()

    return Starlette(
        routes=routes,
        middleware=_middleware(settings, control),
        exception_handlers={RefusedRequest: on_refused},
        lifespan=lifespan,
    )


def _middleware(settings: Settings, control: AccessControl) -> list[Middleware]:
    """What every request passes, from the outside to the inside."""
    made = [Middleware(NamedHosts, hosts=settings.hosts)]
    if settings.cors:
        methods = ["GET", "POST"]
        made.append(
            Middleware(
                CORSMiddleware, allow_origins=["*"], allow_methods=methods, allow_headers=["*"]
            )
        )
    made.append(Middleware(WithCallers, control=control))
    return made


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
    common = [*login_routes(control, None, names), *status_routes(stores, runner)]
    return [Route("/", index), *common, *mounted]


def _index(service: StoreService) -> Callable[[Request], Awaitable[Response]]:
    async def index(request: Request) -> Response:
        """The list of endpoints, as text."""
        updates = "" if service.settings.update else " (not allowed here)"
        return PlainTextResponse(_INDEX.format(updates=updates))

    return index

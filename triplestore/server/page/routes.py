"""All routes of the page's JSON API: start at `page_routes`."""

from __future__ import annotations

from starlette.routing import BaseRoute

from triplestore.server.page.change_routes import change_routes
from triplestore.server.page.job_routes import job_routes
from triplestore.server.page.query_routes import query_routes
from triplestore.server.page.reading_routes import reading_routes
from triplestore.server.service import StoreService


def page_routes(service: StoreService) -> list[BaseRoute]:
    """The routes of one store."""
    return [
        *reading_routes(service),
        *query_routes(service),
        *change_routes(service),
        *job_routes(service),
    ]

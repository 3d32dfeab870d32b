"""Validation over HTTP: start at `shape_routes`.

A POST of shapes validates the store's data by them; a GET has the results of watched shapes.
"""

from __future__ import annotations

import pyoxigraph as ox
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from triplestore.server.access.caller import require
from triplestore.server.negotiation import content_type, negotiated
from triplestore.server.protocol import accepted, read_body
from triplestore.server.refusals import RefusedRequest
from triplestore.server.running import AnswerJob, AnswerOutput, JobInfo
from triplestore.server.service import StoreService

REPORTS = [
    ("text/turtle", "turtle"),
    ("application/n-triples", "nt"),
    ("application/json", "json"),
    ("text/html", "html"),
    ("application/sarif+json", "sarif"),
    ("text/plain", "text"),
]
"""Media types of reports, and the names of their formats."""


def shape_routes(service: StoreService) -> list[BaseRoute]:
    """The endpoint of one store."""
    return [Route("/validate", _Shapes(service).validate, methods=["GET", "POST"])]


class _Shapes:
    def __init__(self, service: StoreService) -> None:
        self._store = service.store
        self._settings = service.settings
        self._runner = service.runner

    async def validate(self, request: Request) -> Response:
        """Answer with a report."""
        caller = require(request, "read")
        job = self._watched(request) if request.method != "POST" else await self._posted(request)
        return self._runner.answer(job, JobInfo("query", f"{request.method} {request.url}", caller))

    def _watched(self, request: Request) -> AnswerJob:
        store, accept = self._store, accepted(request)
        name = request.query_params.get("watched", "shapes")

        def job(output: AnswerOutput) -> None:
            store.refresh()
            watch = store.watched_shapes.get(name)
            if watch is None:
                raise RefusedRequest(404, f"no shapes named {name!r} are watched: POST some")
            media_type, form = negotiated(accept, REPORTS)
            output.media_type = content_type(media_type)
            output.write(watch.report.serialize(form).encode())

        return job

    async def _posted(self, request: Request) -> AnswerJob:
        store, settings, accept = self._store, self._settings, accepted(request)
        header = request.headers.get("content-type", "text/turtle")
        given = ox.RdfFormat.from_media_type(header.partition(";")[0].strip().lower())
        if given is None:
            raise RefusedRequest(415, f"{header!r} is not a media type of RDF")
        shapes = (await read_body(request, settings.body)).decode(errors="replace")
        facts = request.query_params.get("facts", "all")

        def job(output: AnswerOutput) -> None:
            store.refresh()
            report = store.validate(
                shapes,
                shapes_format=given,
                facts=facts,
                use_default_graph_as_union=settings.union,
                timeout=settings.seconds,
                budget=settings.memory,
                cancel=output.stop,
            )
            media_type, form = negotiated(accept, REPORTS)
            output.media_type = content_type(media_type)
            output.write(report.serialize(form).encode())
            output.rows = len(report)

        return job

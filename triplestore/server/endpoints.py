"""The SPARQL endpoints of one store: start at `sparql_routes`.

Always true: only descriptions are answered in the event loop; a query reads one commit.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import IO, cast

import pyoxigraph as ox
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from triplestore.server.access.caller import require
from triplestore.server.description import PREFIXES, service_description
from triplestore.server.graphs import changing, reading
from triplestore.server.limited_changes import limited_change
from triplestore.server.negotiation import RESULTS, TABLES, TRIPLES, content_type, negotiated
from triplestore.server.protocol import SparqlRequest, accepted, own_address, read_operation
from triplestore.server.running import AnswerJob, AnswerOutput, JobInfo
from triplestore.server.service import StoreService
from triplestore.store.answers import AnswerFormat, are_triples, write_answer
from triplestore.store.graph_redirection import query_on, update_on


def sparql_routes(service: StoreService) -> list[BaseRoute]:
    """The endpoints of the SPARQL protocols for one store."""
    made = _Endpoints(service)
    both, whole = ["GET", "POST"], ["GET", "PUT", "POST", "DELETE"]
    return [
        Route("/query", made.endpoint("query"), methods=both),
        Route("/update", made.endpoint("update"), methods=both),
        Route("/sparql", made.endpoint("query", "update"), methods=both),
        Route("/store", made.graph, methods=whole),
        Route("/store/{graph:path}", made.graph, methods=whole),
    ]


class _Endpoints:
    def __init__(self, service: StoreService) -> None:
        self._service = service
        self._store = service.store
        self._settings = service.settings
        self._runner = service.runner

    def endpoint(self, *kinds: str) -> Callable[[Request], Awaitable[Response]]:
        """The handler of an endpoint for queries, updates or both."""

        async def answer(request: Request) -> Response:
            caller = require(request, "read")
            operation = await read_operation(request, kinds, self._settings.body)
            if operation is None:
                return self._described(request)
            if operation.kind == "update":
                require(request, "write")
                job = self._update(request, operation)
            else:
                job = self._query(request, operation)
            return self._runner.answer(job, JobInfo(operation.kind, operation.text, caller))

        return answer

    def _query(self, request: Request, asked: SparqlRequest) -> AnswerJob:
        store, settings = self._store, self._settings
        accept, base = accepted(request), own_address(request)

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
                allow_service=settings.allow_service or None,
            )
            form: AnswerFormat | str
            if are_triples(result):
                media_type, form = negotiated(accept, [*TRIPLES, *TABLES])
            else:
                media_type, form = negotiated(accept, [*RESULTS, *TABLES])
            output.media_type = content_type(media_type)
            write_answer(result, cast(IO[bytes], output), form, prefixes=store.prefixes)
            output.rows = 1 if isinstance(result, bool) else len(result)

        return job

    def _update(self, request: Request, asked: SparqlRequest) -> AnswerJob:
        store, settings = self._store, self._settings
        base = own_address(request)

        def job(output: AnswerOutput) -> None:
            text = asked.text
            if asked.graphs is not None:
                text = update_on(text, *asked.graphs, store.prefixes, base)
            with limited_change(store, settings, output) as transaction:
                transaction.update(
                    text,
                    base_iri=base,
                    timeout=output.seconds_left,
                    budget=settings.memory,
                    cancel=output.stop,
                    allow_service=settings.allow_service or None,
                )
            output.write(f"{transaction.change}\n".encode())

        return job

    async def graph(self, request: Request) -> Response:
        """Answer a request of the Graph Store Protocol."""
        if request.method in ("GET", "HEAD"):
            caller = require(request, "read")
            job = reading(self._store, request)
        else:
            caller = require(request, "write")
            job = await changing(self._store, request, self._settings)
        info = JobInfo("graph", f"{request.method} {request.url}", caller)
        return self._runner.answer(job, info)

    def _described(self, request: Request) -> Response:
        settings = self._settings
        media_type, form = negotiated(accepted(request), TRIPLES)
        self._store.refresh()
        triples = service_description(
            self._store, own_address(request), update=settings.update, union=settings.union
        )
        document = ox.serialize(triples, format=form, prefixes=PREFIXES)
        return Response(document, media_type=content_type(media_type), headers={"vary": "accept"})

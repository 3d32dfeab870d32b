"""Queries of the page: start at `query_routes`."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from triplestore.browse.query_page.plan_data import plan_data
from triplestore.browse.query_page.query_data import AskedQuery, query_data
from triplestore.server.access.caller import Caller, caller_of, require
from triplestore.server.page.answering import PageHandlers, language_of
from triplestore.server.page.parameters import MAX_ROWS, Parameters, read_json
from triplestore.server.refusals import RefusedRequest
from triplestore.server.running import AnswerOutput
from triplestore.server.service import StoreService

_FACTS = ("all", "explicit", "inferred")


def query_routes(service: StoreService) -> list[BaseRoute]:
    """The routes of queries, and of those that run."""
    made = _Queries(service)
    return [
        Route("/api/query", made.query, methods=["POST"]),
        Route("/api/explain", made.explain, methods=["POST"]),
        Route("/api/queries", made.listed),
        Route("/api/queries/{name}", made.stop, methods=["DELETE"]),
    ]


class _Queries(PageHandlers):
    async def query(self, request: Request) -> Response:
        """One page of the answer of a query."""
        caller = require(request, "read")
        given = await read_json(request, self.settings.body)
        asked = self._asked(request, given)._replace(
            offset=given.whole("offset", 0, most=1 << 40),
            limit=given.whole("limit", 1000, most=MAX_ROWS),
            marked=given.flag("marked"),
        )

        def work(output: AnswerOutput) -> Any:
            with self._listed(asked, given, output, caller):
                store = self.store
                made = query_data(store, asked._replace(cancel=output.stop))
                return {**made, "commit": store.commit}

        return self.answer(work)

    async def explain(self, request: Request) -> Response:
        """The plan of a query."""
        caller = require(request, "read")
        given = await read_json(request, self.settings.body)
        asked, analyze = self._asked(request, given), given.flag("analyze", True)

        def work(output: AnswerOutput) -> Any:
            with self._listed(asked, given, output, caller):
                made = asked._replace(cancel=output.stop)
                return plan_data(self.store, made, analyze=analyze)

        return self.answer(work)

    def _asked(self, request: Request, given: Parameters) -> AskedQuery:
        return AskedQuery(
            given.text("query"),
            given.text("facts", "all", choices=_FACTS),
            timeout=self.seconds(given),
            budget=self.budget(given),
            base=str(request.url.replace(path="/query", query="", fragment="")),
            union=self.settings.union,
            language=language_of(request),
        )

    def _listed(
        self, asked: AskedQuery, given: Parameters, output: AnswerOutput, caller: Caller
    ) -> Any:
        queries = self.service.runner.queries
        name = given.optional("id")
        return queries.listed(asked.text, output.stop, caller.name, self.service.name, name)

    async def listed(self, request: Request) -> Response:
        """The queries that run; of other users only for an administrator."""
        caller = require(request, "read")
        running = self.service.runner.queries.all(self.service.name)
        seen = [query.as_dict() for query in running if _may_see(caller, query.user)]
        return JSONResponse(seen, headers={"cache-control": "no-store"})

    async def stop(self, request: Request) -> Response:
        """Stop a query."""
        require(request, "read")
        caller, name = caller_of(request), request.path_params["name"]
        queries = self.service.runner.queries
        query = queries.get(name)
        if query is None or query.store != self.service.name or not _may_see(caller, query.user):
            raise RefusedRequest(404, "no such query runs: it may have ended")
        return JSONResponse({"stopped": queries.stop(name)})


def _may_see(caller: Caller, user: str | None) -> bool:
    return not caller.login or caller.role == "admin" or caller.name == user

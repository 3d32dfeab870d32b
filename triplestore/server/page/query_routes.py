"""Queries of the page: start at `query_routes`."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from triplestore.browse.query_page.plan_data import plan_data
from triplestore.browse.query_page.query_data import AskedQuery, query_data
from triplestore.server.access.caller import Caller, require
from triplestore.server.page.answering import PageHandlers, id_from, language_of
from triplestore.server.page.parameters import MAX_ROWS, Parameters, read_json
from triplestore.server.refusals import RefusedRequest
from triplestore.server.running import AnswerOutput, JobInfo, RunningJob
from triplestore.server.service import StoreService

_LONGEST = 10_000
"""Maximum number of characters of a text in the list of queries."""
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
            made = query_data(self.store, asked._replace(cancel=output.stop))
            output.rows = len(made.get("rows", made.get("triples", (None,))))
            return made

        return self.answer(caller, work, JobInfo("query", asked.text, caller, id_from(given)))

    async def explain(self, request: Request) -> Response:
        """The plan of a query."""
        caller = require(request, "read")
        given = await read_json(request, self.settings.body)
        asked, analyze = self._asked(request, given), given.flag("analyze", True)

        def work(output: AnswerOutput) -> Any:
            return plan_data(self.store, asked._replace(cancel=output.stop), analyze=analyze)

        return self.answer(caller, work, JobInfo("explain", asked.text, caller, id_from(given)))

    def _asked(self, request: Request, given: Parameters) -> AskedQuery:
        return AskedQuery(
            given.text("query"),
            given.text("facts", "all", choices=_FACTS),
            timeout=self.seconds(given),
            budget=self.budget(given),
            base=str(request.url.replace(path="/query", query="", fragment="")),
            union=self.settings.union,
            language=language_of(request),
            services=self.settings.allow_service or None,
        )

    async def listed(self, request: Request) -> Response:
        """The queries that run; of other users only for an administrator of all stores."""
        caller = require(request, "read")
        seen = [job for job in self.service.runner.jobs() if _may_see(caller, job)]
        listed = [
            {
                "id": job.id,
                "kind": job.kind,
                "text": job.text[:_LONGEST],
                "seconds": round(job.seconds, 3),
                "user": job.user,
            }
            for job in seen
            if job.text
        ]
        return JSONResponse(listed, headers={"cache-control": "no-store"})

    async def stop(self, request: Request) -> Response:
        """Stop a query."""
        caller, name = require(request, "read"), request.path_params["name"]
        runner = self.service.runner
        if not any(job.id == name and _may_see(caller, job) for job in runner.jobs()):
            raise RefusedRequest(404, "a query with this id does not run: it may have ended")
        return JSONResponse({"stopped": runner.stop_job(name)})


def _may_see(caller: Caller, job: RunningJob) -> bool:
    """Without a login everyone is the same user. Queries of all stores run side by side, so an
    administrator of some stores sees only what is theirs."""
    is_admin = caller.role == "admin" and not caller.stores
    return not caller.login or is_admin or caller.name == job.user

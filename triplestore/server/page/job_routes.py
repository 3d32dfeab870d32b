"""Loads, inference and dumps of the page: start at `job_routes`.

A load or an inference begins a job and answers with its id; `/api/jobs/ID` tells of it as
server-sent events: `progress`, then one of `done`, `failed` and `stopped`.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, cast

import pyoxigraph as ox
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from triplestore.browse.change_request import change_data
from triplestore.server.access.caller import Caller, require
from triplestore.server.event_streams import EventStream, refuse_too_many
from triplestore.server.negotiation import content_type
from triplestore.server.page.answering import PageHandlers
from triplestore.server.page.background_jobs import BackgroundJobs, Job
from triplestore.server.page.parameters import Parameters, read_json
from triplestore.server.refusals import RefusedRequest
from triplestore.server.running import AnswerOutput, JobInfo
from triplestore.server.service import StoreService

_LONGEST = 1 << 16
_FACTS = ("explicit", "all", "inferred")
_ENDING = re.compile(r"(\.[A-Za-z0-9]{1,8}){1,2}$")


def job_routes(service: StoreService) -> list[BaseRoute]:
    """The routes of jobs, and of dumps."""
    made = _Jobs(service)
    return [
        Route("/api/load", made.load, methods=["POST"]),
        Route("/api/reason", made.reason, methods=["POST"]),
        Route("/api/jobs", made.listed),
        Route("/api/jobs/{name}", made.watched),
        Route("/api/jobs/{name}", made.stop, methods=["DELETE"]),
        Route("/api/dump", made.dump),
    ]


class _Jobs(PageHandlers):
    def __init__(self, service: StoreService) -> None:
        super().__init__(service)
        self._jobs = BackgroundJobs()
        self._watching = 0
        service.runner.at_end.append(self._jobs.stop)

    async def load(self, request: Request) -> Response:
        """Load the body of the request, as a job."""
        caller = require(request, "write")
        given = Parameters.of(request)
        form, name = given.optional("format"), given.text("name", "")
        graph, replace = given.optional("graph"), given.flag("replace")
        if not form and not _ENDING.search(name):
            raise RefusedRequest(400, "give the format, such as turtle, or the name of the file")
        if replace and graph is None:
            raise RefusedRequest(400, "name the graph that the file replaces")
        target = None if graph is None else _graph(graph)
        path = await self._received(request, name)
        store, keep_going = self.store, given.flag("lenient")

        def work(job: Job) -> dict[str, Any]:
            change = store.load(
                path=path,
                format=form,
                to_graph=None if replace else target,
                replace_graph=target if replace else None,
                lenient=keep_going,
                progress=True,
                cancel=job.stop.is_set,
            )
            return {"change": change_data(change)}

        return self._begun("load", work, caller, path)

    async def _received(self, request: Request, name: str) -> Path:
        """The body in a file, which the job removes."""
        ending = _ENDING.search(name)
        most, size = self.settings.body, 0
        file = tempfile.NamedTemporaryFile(  # noqa: SIM115 - the job removes it
            prefix="load-", suffix=ending[0] if ending else "", delete=False
        )
        try:
            with file:
                async for part in request.stream():
                    size += len(part)
                    if size > most:
                        raise RefusedRequest(413, f"a file may have at most {most:,} bytes")
                    await run_in_threadpool(file.write, part)
        except ClientDisconnect:
            Path(file.name).unlink(missing_ok=True)
            raise RefusedRequest(400, "the file is incomplete") from None
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
        return Path(file.name)

    async def reason(self, request: Request) -> Response:
        """Put regimes in force and infer, as a job."""
        caller = require(request, "write")
        given = await read_json(request, _LONGEST)
        named = given.get("regimes") or given.text("regime")
        names = [named] if isinstance(named, str) else named
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise RefusedRequest(400, "regimes must be a list of names, such as owl-rl")
        store = self.store

        def work(job: Job) -> dict[str, Any]:
            report = store.reason(*names, progress=True, cancel=job.stop.is_set)
            rows = [{"name": name, "value": value} for name, value in report.rows()]
            return {"report": rows, "text": str(report), "commit": store.commit}

        return self._begun("reason", work, caller)

    def _begun(self, kind: str, work: Any, caller: Caller, path: Path | None = None) -> Response:
        def clean() -> None:
            if path is not None:
                path.unlink(missing_ok=True)

        job = self._jobs.start(kind, work, caller.name, self.service.name, clean)
        return JSONResponse({"job": job.id}, 202)

    async def listed(self, request: Request) -> Response:
        """The jobs that run or ended last."""
        caller = require(request, "read")
        found = [job.as_dict() for job in self._jobs.all() if _may_see(caller, job)]
        return JSONResponse(found, headers={"cache-control": "no-store"})

    async def watched(self, request: Request) -> Response:
        """What a job tells, as server-sent events."""
        caller = require(request, "read")
        job = self._job(request, caller)
        refuse_too_many(caller.key, self.settings.per_client)
        return JobStream(caller.key, job)

    async def stop(self, request: Request) -> Response:
        """Stop a job; nothing is changed by it then."""
        job = self._job(request, require(request, "write"))
        job.stop.set()
        return JSONResponse({"stopped": not job.is_over})

    def _job(self, request: Request, caller: Caller) -> Job:
        job = self._jobs.get(request.path_params["name"])
        if job is None or not _may_see(caller, job):
            raise RefusedRequest(404, "this job does not exist: it may have ended long ago")
        return job

    async def dump(self, request: Request) -> Response:
        """All quads in a format; by default the asserted ones."""
        caller = require(request, "read")
        given = Parameters.of(request)
        facts = given.text("facts", "explicit", choices=_FACTS)
        form = _form(given.text("format", "trig"))
        graph = given.optional("graph")
        target = None if graph is None else _graph(graph)

        def job(output: AnswerOutput) -> None:
            store = self.store
            output.media_type = content_type(form.media_type)
            name = f"dump.{form.file_extension}"
            output.headers["content-disposition"] = f'attachment; filename="{name}"'
            store.dump(cast(IO[bytes], output), form, from_graph=target, facts=facts)

        return self.service.runner.answer(job, JobInfo("dump", "dump", caller))


class JobStream(EventStream):
    """The events of one job: `progress`, then one of `done`, `failed` and `stopped`."""

    def __init__(self, client: str, job: Job) -> None:
        super().__init__(client)
        self._job = job
        self._seen = -1
        self._name = "progress"

    def take(self) -> tuple[int, Any] | None:
        """What the job tells now, if it is new."""
        version = self._job.version
        if version == self._seen or self.over:
            return None
        self._seen = version
        told = self._job.as_dict()
        self._name = "progress" if told["state"] == "running" else told["state"]
        return version, told

    def texts(self, found: Any) -> list[tuple[str, bool]]:
        """One object."""
        return [(json.dumps(found), True)]

    @property
    def name(self) -> str:
        """The name of the last event."""
        return self._name

    @property
    def place(self) -> int:
        """The number of the last event."""
        return self._seen

    @property
    def over(self) -> bool:
        """Whether the end of the job was told."""
        return self._name != "progress"

    def watch(self, wake: Callable[[], None]) -> None:
        """Call this when the job tells something."""
        self._wake_up = wake
        self._job.listeners.add(wake)

    def leave(self) -> None:
        """The stream has ended."""
        self._job.listeners.discard(self._wake_up)


def _may_see(caller: Caller, job: Job) -> bool:
    return not caller.login or caller.role == "admin" or caller.name == job.user


def _form(name: str) -> ox.RdfFormat:
    found = ox.RdfFormat.from_extension(name) or ox.RdfFormat.from_media_type(name)
    by_name = {"turtle": "ttl", "n-triples": "nt", "n-quads": "nq", "rdf-xml": "rdf"}
    found = found or ox.RdfFormat.from_extension(by_name.get(name.lower(), ""))
    if found is None:
        raise RefusedRequest(400, f"{name!r} is not a format of RDF: use nt, nq, ttl, trig or rdf")
    return found


def _graph(iri: str) -> ox.NamedNode | ox.DefaultGraph:
    if iri in ("default", "DEFAULT"):
        return ox.DefaultGraph()
    try:
        return ox.NamedNode(iri.strip("<>"))
    except ValueError as error:
        raise RefusedRequest(400, f"graph {iri!r} is not an IRI: {error}") from None

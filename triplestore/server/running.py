"""Queries in threads: a limited number at a time, each of which can be stopped.

Start at `Runner.answer`. A thread runs a job, which writes its answer to an `AnswerOutput`; the
event loop sends it (sending.py). Always true: a job is stopped when its client has disconnected or
the server ends, and its place is free only when its thread has ended.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from contextvars import copy_context
from dataclasses import field
from functools import partial
from itertools import count
from typing import TypeAlias

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from triplestore.data_classes import data_class
from triplestore.errors import CancelledError
from triplestore.server.access.caller import Caller
from triplestore.server.answer_output import AnswerOutput
from triplestore.server.client_limits import ClientLimits
from triplestore.server.memory import release_memory
from triplestore.server.refusals import RefusedRequest, refusal, refused_by
from triplestore.server.sending import SHORT, ClientWatch, WatchedSend, send_output
from triplestore.server.settings import Settings
from triplestore.server.watching.spans import Spans

__all__ = ["AnswerJob", "AnswerOutput", "JobInfo", "Runner", "RunningJob"]

AnswerJob: TypeAlias = Callable[[AnswerOutput], None]
"""The work of a thread: writes the answer, and ends soon after `output.stop` is set."""

_ENDING = RefusedRequest(503, "the server is shutting down", {"Retry-After": "5"})

_ID = re.compile(r"[\w-]{1,64}")


@data_class
class JobInfo:
    """What a job is, for limits and for the list of running queries.

    kind     "query", "update", "graph" or another word; "page" for the small requests of the page,
             such as completion, which the limit of queries per second does not count
    text     the query or update
    id       a name that the client chose, to stop it; empty to have one made
    """

    kind: str = "query"
    text: str = ""
    caller: Caller = field(default_factory=Caller)
    id: str = ""


@data_class
class RunningJob:
    """A job that runs, for people: seconds are since it began."""

    id: str
    kind: str
    text: str
    seconds: float
    user: str | None
    client: str


@data_class(frozen=False, eq=False)
class JobPlace:
    """A job's place among the running ones."""

    id: str
    info: JobInfo
    output: AnswerOutput
    done: asyncio.Future[None]
    was_stopped: bool = False


class Runner:
    """The threads of a server."""

    def __init__(self, settings: Settings, spans: Spans | None = None) -> None:
        self._settings = settings
        self._spans = spans or Spans(None)
        self._pool = ThreadPoolExecutor(settings.threads, thread_name_prefix="query")
        self._free = settings.threads
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._running: dict[str, JobPlace] = {}
        self._numbers = count(1)
        self._stopped = False
        self.limits = ClientLimits(settings.per_client, settings.rate)
        self.rows = 0
        self.at_end: list[Callable[[], None]] = []
        """What else is stopped when the server ends."""

    @property
    def running(self) -> int:
        """The number of running jobs."""
        return len(self._running)

    @property
    def waiting(self) -> int:
        """The number of jobs that wait for a place."""
        return sum(not future.done() for future in self._waiting)

    @property
    def stopped(self) -> bool:
        """Whether the server ends."""
        return self._stopped

    def answer(self, job: AnswerJob, info: JobInfo | None = None) -> Response:
        """A response that runs a job and sends its output."""
        return _Answer(self, job, info or JobInfo())

    def jobs(self) -> list[RunningJob]:
        """The running jobs, the oldest first."""
        now = time.monotonic()
        return [
            RunningJob(
                place.id,
                place.info.kind,
                place.info.text,
                now - place.output.began,
                place.info.caller.name,
                place.info.caller.client,
            )
            for place in self._running.values()
        ]

    def stop_job(self, id: str) -> bool:
        """Stop a running job; False if there is none with this id."""
        place = self._running.get(id)
        if place is None:
            return False
        place.was_stopped = True
        place.output.stop.set()
        return True

    async def enter(self, info: JobInfo, watch: ClientWatch) -> JobPlace:
        """Wait for a place, as long as the client does."""
        if self._free > 0:
            self._free -= 1
        else:
            await self._wait(watch)
        loop = asyncio.get_running_loop()
        output = AnswerOutput(loop, self._settings.seconds)
        place = JobPlace(self._free_id(info), info, output, loop.create_future())
        self._running[place.id] = place
        if self._stopped:
            output.stop.set()
        return place

    async def _wait(self, watch: ClientWatch) -> None:
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        self._waiting.append(turn)
        message = f"{self._settings.threads} queries are running: try again later"
        refused = RefusedRequest(503, message, {"Retry-After": "5"})
        timer = loop.call_later(self._settings.wait, _refuse, turn, refused)
        watch.begin(turn.cancel)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._pass_on()  # the turn came, but the request has ended
            raise
        finally:
            timer.cancel()

    def _pass_on(self) -> None:
        """Give a place to the job that has waited longest."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    def _free_id(self, info: JobInfo) -> str:
        wanted = info.id
        return wanted if wanted and wanted not in self._running else f"q{next(self._numbers)}"

    def start(self, place: JobPlace, job: AnswerJob) -> None:
        """Run a job in a thread; `place.done` is set when it has ended."""
        work: Callable[[], None] = partial(_run, job, place, self._leave)
        if self._spans.are_made:
            work = partial(copy_context().run, _run_in_span, self._spans, work, place)
        self._pool.submit(work)

    def _leave(self, place: JobPlace) -> None:
        self._running.pop(place.id, None)
        self.rows += place.output.rows
        self._pass_on()
        place.done.set_result(None)

    def stop(self) -> None:
        """Stop all jobs, and wait until they have ended."""
        self._stopped = True
        for end in self.at_end:
            end()
        for place in list(self._running.values()):
            place.output.stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)


def check_id(id: str) -> str:
    """An id that a client chose, if it can be one.

    >>> check_id("tab-1")
    'tab-1'
    """
    if not _ID.fullmatch(id):
        raise RefusedRequest(400, "an id has 1 to 64 letters, digits, '_' or '-'")
    return id


def _refuse(turn: asyncio.Future[None], refused: RefusedRequest) -> None:
    if not turn.done():
        turn.set_exception(refused)


def _run(job: AnswerJob, place: JobPlace, leave: Callable[[JobPlace], None]) -> None:
    """Run a job.

    The error itself is dropped: it would keep its traceback, and so all objects of the job.
    """
    refused: RefusedRequest | None = None
    try:
        job(place.output)
    except BaseException as error:  # noqa: BLE001 - every error is reported to the client
        stopped = place.was_stopped and isinstance(error, CancelledError)
        refused = RefusedRequest(503, _stopped(place.info)) if stopped else refused_by(error)
    if time.monotonic() - place.output.began > SHORT:
        release_memory()
    place.output.end(refused, partial(leave, place))


def _stopped(info: JobInfo) -> str:
    if info.kind == "query":
        return "the query was stopped"
    what = "change" if info.kind == "update" else "request"  # which may be a change of a graph
    return f"the {what} was stopped; nothing has changed"


def _run_in_span(spans: Spans, work: Callable[[], None], place: JobPlace) -> None:
    with spans.span(place.info.kind, {}) as span:
        work()
        span.set_attribute("triplestore.rows", place.output.rows)


class _Answer(Response):
    """The answer of a job while it is written, or the status of its error."""

    def __init__(self, runner: Runner, job: AnswerJob, info: JobInfo) -> None:
        self.status_code = 200
        self.background = None
        self.body = b""
        self.init_headers()
        self._runner = runner
        self._job = job
        self._info = info

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = WatchedSend(send)
        watch = ClientWatch(receive)
        try:
            with ExitStack() as counted:
                rated = self._info.kind != "page"
                self._runner.limits.enter(self._info.caller.key, rated=rated)
                counted.callback(self._runner.limits.leave, self._info.caller.key)
                await self._send_answer(watch, counted.close, scope, receive, begun)
        except RefusedRequest as refused:
            await refusal(refused, scope)(scope, receive, send)
        except asyncio.CancelledError:
            # The server ends, and its time to wait is over.
            if not begun.begun and not watch.is_gone:
                await refusal(_ENDING, scope)(scope, receive, send)
        finally:
            watch.end()

    async def _send_answer(
        self,
        watch: ClientWatch,
        at_end: Callable[[], None],
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        place = await self._runner.enter(self._info, watch)
        output = place.output
        watch.begin(output.stop.set)
        self._runner.start(place, self._job)
        try:
            await send_output(output, at_end, scope, receive, send)
        finally:
            output.stop.set()
            if not place.done.done():
                await asyncio.wait([place.done])

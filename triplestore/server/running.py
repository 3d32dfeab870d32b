"""Queries in threads: a limited number at a time, each of which can be stopped.

Start at `Runner.answer`. A thread runs a job, which writes its answer to an `AnswerOutput`; the
event loop sends it. Always true: a job is stopped when its client has disconnected or the server
ends, and its place is free only when its thread has ended; a slow client slows its thread down
instead of filling the memory.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from triplestore.errors import CancelledError, TimeLimitError
from triplestore.server.memory import release_memory
from triplestore.server.refusals import RefusedRequest, refusal, refused_by
from triplestore.server.running_queries import RunningQueries
from triplestore.server.settings import Settings

logger = logging.getLogger("triplestore.server")

_PIECE = 1 << 16
_PIECES = 4
"""Maximum number of unsent pieces of an answer."""


class AnswerOutput:
    """The output of a job; status, headers and media type are set before writing.

    Pieces are passed on when they are large enough, or at the end. Before the first one is passed
    on, an error can be answered with its status.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        self.status = 200
        self.headers: dict[str, str] = {}
        self.media_type = "text/plain; charset=utf-8"
        self.stop = threading.Event()
        self.queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._loop = loop
        self._deadline = time.monotonic() + seconds
        self._room = threading.Semaphore(_PIECES)
        self._waiting: list[bytes] = []
        self._size = 0

    def write(self, piece: bytes) -> int:
        """Write a piece; waits for a slow client, raises if it has disconnected."""
        self._waiting.append(bytes(piece))
        self._size += len(piece)
        if self._size >= _PIECE:
            self._pass_on()
        return len(piece)

    def writelines(self, pieces: Iterable[bytes]) -> None:
        """Write several pieces."""
        for piece in pieces:
            self.write(piece)

    def flush(self) -> None:
        """Do nothing: pieces are passed on when they are large enough."""

    def is_over(self) -> bool:
        """Whether the client has disconnected, or the time is over."""
        return self.stop.is_set() or time.monotonic() > self._deadline

    def _pass_on(self) -> None:
        while True:
            if self.stop.is_set():
                raise CancelledError("the operation was cancelled")
            if time.monotonic() > self._deadline:
                raise TimeLimitError("the answer was not read within the time limit")
            if self._room.acquire(timeout=0.1):
                break
        self._put(b"".join(self._waiting))
        self._waiting, self._size = [], 0

    def _put(self, item: bytes | None) -> None:
        self._loop.call_soon_threadsafe(self.queue.put_nowait, item)

    def end(self, complete: bool) -> None:
        """Pass on the rest of a complete answer, and its end."""
        if complete and self._waiting:
            self._put(b"".join(self._waiting))
        self._put(None)

    def taken(self) -> None:
        """Make room for another piece; called when the loop has taken one."""
        self._room.release()


JobResult: TypeAlias = "asyncio.Future[RefusedRequest | None]"
"""A running job; its result is the refusal of the request, or None."""

AnswerJob: TypeAlias = Callable[[AnswerOutput], None]
"""The work of a thread: writes the answer, and ends soon after `output.stop` is set."""


class Runner:
    """The threads of a server."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pool = ThreadPoolExecutor(settings.threads, thread_name_prefix="query")
        self._places = asyncio.Semaphore(settings.threads)
        self._running: set[AnswerOutput] = set()
        self._stopped = False
        self.queries = RunningQueries()
        self.at_end: list[Callable[[], None]] = []
        """What else is stopped when the server ends."""

    @property
    def running(self) -> int:
        """The number of running jobs."""
        return len(self._running)

    @property
    def stopped(self) -> bool:
        """Whether the server ends."""
        return self._stopped

    def answer(self, job: AnswerJob) -> Response:
        """A response that runs a job and sends its output."""
        return _Answer(self, job)

    async def enter(self) -> AnswerOutput:
        """Wait for a place."""
        try:
            await asyncio.wait_for(self._places.acquire(), self._settings.wait)
        except TimeoutError:
            message = f"{self._settings.threads} queries are running: try again later"
            raise RefusedRequest(503, message, {"Retry-After": "5"}) from None
        output = AnswerOutput(asyncio.get_running_loop(), self._settings.seconds)
        self._running.add(output)
        if self._stopped:
            output.stop.set()
        return output

    def start(self, output: AnswerOutput, job: AnswerJob) -> JobResult:
        """Run a job in a thread."""
        future = asyncio.get_running_loop().run_in_executor(self._pool, _run, job, output)
        future.add_done_callback(lambda done: self._leave(output, done))
        return future

    def _leave(self, output: AnswerOutput, done: JobResult) -> None:
        self._running.discard(output)
        self._places.release()

    def stop(self) -> None:
        """Stop all jobs, and wait until they have ended."""
        self._stopped = True
        for end in self.at_end:
            end()
        for output in list(self._running):
            output.stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)


def _run(job: AnswerJob, output: AnswerOutput) -> RefusedRequest | None:
    """Run a job; returns the refusal if it fails.

    The error itself is dropped: futures are in cycles, and would keep its traceback, and so all
    objects of the job, until the next garbage collection.
    """
    refused: RefusedRequest | None = None
    try:
        job(output)
    except BaseException as error:  # noqa: BLE001 - every error is reported to the client
        refused = refused_by(error)
    release_memory()
    output.end(refused is None)
    return refused


class _Answer(Response):
    """The answer of a job while it is written, or the status of its error."""

    def __init__(self, runner: Runner, job: AnswerJob) -> None:
        super().__init__()
        self._runner = runner
        self._job = job

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = _WatchedSend(send)
        gone = asyncio.ensure_future(_until_gone(receive))
        try:
            await self._send_answer(gone, scope, receive, begun)
        except RefusedRequest as refused:
            await refusal(refused, scope)(scope, receive, send)
        except asyncio.CancelledError:
            # The server ends, and its time to wait is over.
            if not begun.begun and not gone.done():
                await refusal(_ENDING, scope)(scope, receive, send)
        finally:
            gone.cancel()

    async def _send_answer(
        self, gone: asyncio.Future[None], scope: Scope, receive: Receive, send: Send
    ) -> None:
        entering = asyncio.ensure_future(self._runner.enter())
        try:
            await asyncio.wait((gone, entering), return_when=asyncio.FIRST_COMPLETED)
        finally:
            entering.cancel()  # no effect if a place was free
        output = await entering
        gone.add_done_callback(lambda _: output.stop.set())
        future = self._runner.start(output, self._job)
        try:
            await _send(output, future, scope, receive, send)
        finally:
            output.stop.set()
            await asyncio.wait([future])


_ENDING = RefusedRequest(503, "the server is shutting down", {"Retry-After": "5"})


class _WatchedSend:
    """Sends messages, and knows whether an answer has begun."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.begun = False

    async def __call__(self, message: Message) -> None:
        self.begun = True
        await self._send(message)


async def _until_gone(receive: Receive) -> None:
    """Wait until the client disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send(
    output: AnswerOutput, future: JobResult, scope: Scope, receive: Receive, send: Send
) -> None:
    piece = await output.queue.get()
    if piece is None:
        await asyncio.wait([future])
        refused = future.result()
        if refused is not None:
            await refusal(refused, scope)(scope, receive, send)
            return
    named = {"content-type": output.media_type, "vary": "accept", **output.headers}
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in named.items()]
    await send({"type": "http.response.start", "status": output.status, "headers": headers})
    if scope["method"] == "HEAD":
        await send({"type": "http.response.body", "body": b""})
        return
    while piece is not None:
        output.taken()
        await send({"type": "http.response.body", "body": piece, "more_body": True})
        piece = await output.queue.get()
    await asyncio.wait([future])
    refused = future.result()
    if refused is None:
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    else:
        # The status has been sent: the connection is cut, so the client sees an incomplete answer.
        logger.warning("an answer was cut off: %s", refused.message)

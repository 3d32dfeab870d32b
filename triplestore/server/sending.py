"""Sends what a job writes while it is written: start at `send_output`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.types import Message, Receive, Scope, Send

from triplestore.server.answer_output import AnswerOutput
from triplestore.server.refusals import logger, refusal

SHORT = 0.02
"""Seconds: jobs that are shorter need no watch over the client, and have used little memory."""


class WatchedSend:
    """Sends messages, and knows whether an answer has begun."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.begun = False

    async def __call__(self, message: Message) -> None:
        """Send a message."""
        self.begun = True
        await self._send(message)


class ClientWatch:
    """Notices that a client disconnects, and calls what was given last.

    It begins after a while, because most queries end sooner and need no watch.
    """

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._call: Callable[[], object] = bool

    @property
    def is_gone(self) -> bool:
        """Whether the client is known to have disconnected."""
        return self._task is not None and self._task.done() and not self._task.cancelled()

    def begin(self, call: Callable[[], object]) -> None:
        """Call this from now on when the client disconnects."""
        self._call = call
        if self.is_gone:
            call()
        elif self._task is None and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(SHORT, self._start)

    def _start(self) -> None:
        self._task = asyncio.ensure_future(_until_gone(self._receive))
        self._task.add_done_callback(lambda done: done.cancelled() or self._call())

    def end(self) -> None:
        """Stop watching."""
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()


async def _until_gone(receive: Receive) -> None:
    """Wait until the client disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def send_output(
    output: AnswerOutput, at_end: Callable[[], None], scope: Scope, receive: Receive, send: Send
) -> None:
    """Send an answer, or the status of its error; `at_end` is called before the last piece."""
    piece = await output.queue.get()
    if piece.is_last:
        at_end()
    if piece.refused is not None:
        await refusal(piece.refused, scope)(scope, receive, send)
        return
    named = {"content-type": output.media_type, "vary": "accept", **output.headers}
    if piece.is_last:
        named["content-length"] = str(len(piece.data))
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in named.items()]
    await send({"type": "http.response.start", "status": output.status, "headers": headers})
    if scope["method"] == "HEAD":
        await send({"type": "http.response.body", "body": b""})
        return
    while not piece.is_last:
        output.taken()
        await send({"type": "http.response.body", "body": piece.data, "more_body": True})
        piece = await output.queue.get()
    at_end()
    if piece.refused is None:
        await send({"type": "http.response.body", "body": piece.data, "more_body": False})
    else:
        # The status has been sent: the connection is cut, so the client sees an incomplete answer.
        logger.warning("an answer was cut off: %s", piece.refused.message)

"""What a job writes its answer to: start at `AnswerOutput`.

A thread writes; the event loop takes pieces from a queue. Always true: a slow client slows the
thread down instead of filling the memory.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

from triplestore.errors import CancelledError, TimeLimitError
from triplestore.server.refusals import RefusedRequest

_PIECE = 1 << 16
_PIECES = 4
"""Maximum number of unsent pieces of an answer."""


class AnswerPiece(NamedTuple):
    """A piece of an answer; after the last one, the refusal if the job has failed."""

    data: bytes
    is_last: bool = False
    refused: RefusedRequest | None = None


class AnswerOutput:
    """The output of a job; status, headers and media type are set before writing.

    Pieces are passed on when they are large enough, or at the end. Before the first one is passed
    on, an error can be answered with its status. `rows` is for metrics.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        self.status = 200
        self.headers: dict[str, str] = {}
        self.media_type = "text/plain; charset=utf-8"
        self.rows = 0
        self.stop = threading.Event()
        self.queue: asyncio.Queue[AnswerPiece] = asyncio.Queue()
        self.began = time.monotonic()
        self._loop = loop
        self._deadline = self.began + seconds
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

    @property
    def seconds_left(self) -> float:
        """The rest of the time limit; a little if it is over."""
        return max(self._deadline - time.monotonic(), 0.001)

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
        piece = AnswerPiece(b"".join(self._waiting))
        self._loop.call_soon_threadsafe(self.queue.put_nowait, piece)
        self._waiting, self._size = [], 0

    def end(self, refused: RefusedRequest | None, then: Callable[[], None]) -> None:
        """Pass on the rest of a complete answer, or the refusal; the loop calls `then`."""
        data = b"".join(self._waiting) if refused is None else b""
        self._waiting = []
        # One call for both, because each wakes the loop.
        self._loop.call_soon_threadsafe(self._end, AnswerPiece(data, True, refused), then)

    def _end(self, piece: AnswerPiece, then: Callable[[], None]) -> None:
        self.queue.put_nowait(piece)
        then()

    def taken(self) -> None:
        """Make room for another piece; called when the loop has taken one."""
        self._room.release()

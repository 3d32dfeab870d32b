"""Connections of slow clients are ended: start at `patient_protocol`.

uvicorn waits for ever for the head of a request, and for a client that reads nothing. Always true:
a connection is ended if the head of a request takes longer than `head_seconds`, or if the client
takes no data for `stall_seconds`; a connection beyond the maximum number is closed at once.
"""

from __future__ import annotations

import asyncio
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from uvicorn.config import Config

from triplestore.server.settings import Settings

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import H11Protocol

_TOO_SLOW = (
    b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n"
    b"x-content-type-options: nosniff\r\n\r\n"
)


def patient_protocol(settings: Settings) -> type[H11Protocol]:
    """The class of uvicorn's connections with these limits.

    >>> patient_protocol(Settings()).head_seconds
    10.0
    """
    limits = {
        "head_seconds": settings.head_seconds,
        "stall_seconds": settings.stall_seconds,
        "most_connections": settings.connections,
    }
    return type("LimitedProtocol", (_patient(),), limits)


class JoinedWrites:
    """A transport that sends what is written in one turn of the event loop together.

    uvicorn writes the head and the body of an answer separately: two calls of the system, and two
    packets.
    """

    _LARGE = 1 << 14

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._waiting: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Send some data, soon."""
        if not data:
            return
        if not self._waiting and len(data) < self._LARGE:
            self._loop.call_soon(self._flush)
        self._waiting.append(data)
        if len(data) >= self._LARGE:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            data = self._waiting[0] if len(self._waiting) == 1 else b"".join(self._waiting)
            self._waiting = []
            self._transport.write(data)

    def close(self) -> None:
        """Send what waits, and close the connection."""
        self._flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


@cache
def _patient() -> type[Any]:
    # h11 refuses what is ambiguous in HTTP/1.1 (two lengths, odd line ends), which smuggling needs.
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class PatientProtocol(H11Protocol):
        """uvicorn's connection with limits of time."""

        head_seconds = 10.0
        stall_seconds = 30.0
        most_connections = 1000

        def __init__(self, config: Config, *args: Any, **named: Any) -> None:
            super().__init__(config, *args, **named)
            self._head_timer: asyncio.TimerHandle | None = None
            self._stall_timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            joined = JoinedWrites(cast(asyncio.Transport, transport), self.loop)
            super().connection_made(cast(asyncio.Transport, joined))
            if len(self.connections) > self.most_connections:
                transport.close()
                return
            self._wait_for_head()

        def connection_lost(self, exc: Exception | None) -> None:
            self._end_timers()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is not None and not self.cycle.response_complete:
                self._cancel_head_timer()
            elif self._head_timer is None:
                self._wait_for_head()

        def pause_writing(self) -> None:
            super().pause_writing()
            if self._stall_timer is None:
                self._stall_timer = self.loop.call_later(self.stall_seconds, self.transport.abort)

        def resume_writing(self) -> None:
            super().resume_writing()
            if self._stall_timer is not None:
                self._stall_timer.cancel()
                self._stall_timer = None

        def timeout_keep_alive_handler(self) -> None:
            super().timeout_keep_alive_handler()
            # Closing waits until everything was read, which may be never.
            self.loop.call_later(self.stall_seconds, self.transport.abort)

        def _wait_for_head(self) -> None:
            self._head_timer = self.loop.call_later(self.head_seconds, self._give_up)

        def _cancel_head_timer(self) -> None:
            if self._head_timer is not None:
                self._head_timer.cancel()
                self._head_timer = None

        def _give_up(self) -> None:
            self._head_timer = None
            if not self.transport.is_closing():
                if self.conn.trailing_data[0]:  # browsers open connections in advance
                    self.transport.write(_TOO_SLOW)
                self.transport.close()
                self.loop.call_later(self.stall_seconds, self.transport.abort)

        def _end_timers(self) -> None:
            self._cancel_head_timer()
            if self._stall_timer is not None:
                self._stall_timer.cancel()
                self._stall_timer = None

    return PatientProtocol

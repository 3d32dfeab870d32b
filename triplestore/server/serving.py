"""A store served until SIGTERM or Ctrl-C: start at `serve`."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import uvicorn

from triplestore.errors import StorageError
from triplestore.server.app import create_app
from triplestore.server.settings import LOOPBACK, Settings

if TYPE_CHECKING:
    from triplestore.store import Store


def serve(
    store: Store,
    settings: Settings,
    *,
    host: str = "localhost",
    port: int = 7878,
    announce: Callable[[str], None] = lambda _: None,
) -> None:
    """Answer requests until SIGTERM or Ctrl-C; then running queries get some seconds to end.

    `announce` is called with the address once requests are accepted; with port 0 the system chooses
    the port.
    """
    listening = _listening(host, port)
    names = names_of(host, settings.allowed, _is_loopback(listening))
    config = configured(store, replace(settings, hosts=names))
    # uvicorn shuts down at a SIGTERM and then raises it again, which is ignored here.
    before = signal.signal(signal.SIGTERM, lambda number, frame: None)
    try:
        with listening, suppress(KeyboardInterrupt):
            _Server(config, announce).run([listening])
    finally:
        signal.signal(signal.SIGTERM, before)


def names_of(host: str, allowed: frozenset[str], only_here: bool) -> frozenset[str]:
    """The names under which the server may be addressed; empty for any.

    only_here  whether only this machine reaches it, so that pages of other sites may try to

    >>> sorted(names_of("localhost", frozenset({"data.example.org"}), True) - LOOPBACK)
    ['data.example.org']
    """
    if "*" in allowed or not (allowed or only_here):
        return frozenset()
    return LOOPBACK | {host.lower()} | {name.lower() for name in allowed}


def configured(store: Store, settings: Settings) -> uvicorn.Config:
    """The settings of uvicorn."""
    return uvicorn.Config(
        create_app(store, settings),
        lifespan="on",
        log_level="warning",
        timeout_graceful_shutdown=max(round(settings.grace), 1),
    )


class _Server(uvicorn.Server):
    """Announces its address when it listens."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[str], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and sockets:
            self._announce(_address(sockets[0]))


def _listening(host: str, port: int) -> socket.socket:
    try:
        families = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = families[0]
        made = socket.create_server(address[:2], family=family, reuse_port=False)
        # A socket with the protocol TCP, which accepted sockets inherit: only for these asyncio
        # sets TCP_NODELAY; otherwise each answer waits 40 ms for acknowledgements.
        return socket.socket(made.family, made.type, socket.IPPROTO_TCP, fileno=made.detach())
    except OSError as error:
        raise StorageError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error


def _is_loopback(listening: socket.socket) -> bool:
    return str(listening.getsockname()[0]) in LOOPBACK


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

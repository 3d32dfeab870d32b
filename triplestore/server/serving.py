"""A store served until SIGTERM or Ctrl-C: start at `serve`."""

from __future__ import annotations

import signal
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import uvicorn

from triplestore.errors import StorageError, UsageError
from triplestore.server.app import create_app
from triplestore.server.connections.patient_protocol import patient_protocol
from triplestore.server.event_streams import end_streams
from triplestore.server.settings import LOOPBACK, Settings

if TYPE_CHECKING:
    from triplestore.server.app import ServedStores


def serve(
    stores: ServedStores,
    settings: Settings,
    *,
    host: str = "localhost",
    port: int = 7878,
    announce: Callable[[str], None] = lambda _: None,
    login: bool = True,
) -> None:
    """Answer requests until SIGTERM or Ctrl-C; then running queries get some seconds to end.

    `announce` is called with the address once requests are accepted; with port 0 the system chooses
    the port. If other machines reach the server, users must be given, or `login=False`.
    """
    listening = _listening(host, port)
    try:
        only_here = _is_loopback(listening)
        if not only_here and login and settings.users is None:
            raise UsageError(
                f"{host} is reached from other machines, so users must log in: make them with "
                "`triplestore users add NAME -f users.toml` and give --users users.toml; or give "
                "--no-login, if everyone who reaches it may use it"
            )
        names = names_of(host, settings.allowed, only_here)
        config = configured(stores, replace(settings, hosts=names))
    except BaseException:
        listening.close()
        raise
    # uvicorn shuts down at a SIGTERM and then raises it again, which is ignored here.
    before = signal.signal(signal.SIGTERM, lambda number, frame: None)
    try:
        with listening, suppress(KeyboardInterrupt):
            AnnouncedServer(config, announce).run([listening])
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


def configured(stores: ServedStores, settings: Settings) -> uvicorn.Config:
    """The settings of uvicorn."""
    _check_certificate(settings)
    return uvicorn.Config(
        create_app(stores, settings),
        http=patient_protocol(settings),
        ws="none",
        lifespan="on",
        log_level="warning",
        server_header=False,
        # A proxy says who its clients are; others could say anything.
        proxy_headers=bool(settings.allowed),
        ssl_certfile=settings.tls_cert,
        ssl_keyfile=settings.tls_key,
        timeout_graceful_shutdown=max(round(settings.grace), 1),
    )


def _check_certificate(settings: Settings) -> None:
    if settings.tls_cert is None:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(settings.tls_cert, settings.tls_key)
    except OSError as error:  # also for what is not a certificate
        files = " and ".join(str(file) for file in (settings.tls_cert, settings.tls_key) if file)
        raise StorageError(f"cannot use {files} for TLS: {error.strerror or error}") from error


class AnnouncedServer(uvicorn.Server):
    """Announces its address when it listens."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[str], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop, without waiting for streams, which have no end of their own."""
        end_streams()
        await super().shutdown(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say where."""
        await super().startup(sockets)
        if self.started and sockets:
            self._announce(_address(sockets[0], "https" if self.config.is_ssl else "http"))


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


def _address(listening: socket.socket, scheme: str) -> str:
    host, port = listening.getsockname()[:2]
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"

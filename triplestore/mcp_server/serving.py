"""The MCP server over standard input, or over HTTP on this machine only."""

from __future__ import annotations

import signal
from contextlib import suppress
from typing import TYPE_CHECKING

import anyio
from mcp.server.transport_security import TransportSecuritySettings

from triplestore.mcp_server.app import create_server

if TYPE_CHECKING:
    from triplestore.mcp_server.settings import AgentSettings
    from triplestore.store import Store

HOST = "127.0.0.1"
NAMES = ("127.0.0.1", "localhost", "[::1]")


def serve_stdio(store: Store, settings: AgentSettings | None = None) -> None:
    """Answer messages on standard input, until it ends."""
    server = create_server(store, settings)
    with suppress(KeyboardInterrupt):
        anyio.run(server.run_stdio_async)


def serve_http(store: Store, settings: AgentSettings | None = None, *, port: int = 8765) -> None:
    """Answer requests at `http://127.0.0.1:PORT/mcp` until Ctrl-C or SIGTERM.

    Only this machine reaches the address. Requests with another Host, or with the Origin of another
    site's page, are refused.
    """
    server = create_server(store, settings)

    async def run() -> None:
        await server.run_streamable_http_async(
            host=HOST, port=port, transport_security=local_only(port)
        )

    # The HTTP server shuts down at a SIGTERM and then raises it again, which is ignored here.
    before = signal.signal(signal.SIGTERM, lambda number, frame: None)
    try:
        with suppress(KeyboardInterrupt):
            anyio.run(run)
    finally:
        signal.signal(signal.SIGTERM, before)


def local_only(port: int) -> TransportSecuritySettings:
    """Which names and origins may be used: those of this server.

    >>> local_only(8765).allowed_origins[0]
    'http://127.0.0.1:8765'
    """
    hosts = [f"{name}:{port}" for name in NAMES]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=hosts,
        allowed_origins=[f"http://{host}" for host in hosts],
    )

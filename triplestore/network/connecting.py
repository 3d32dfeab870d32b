"""Connections to hosts, only at addresses that are allowed: start at `connect`.

Always true: a host is resolved once, and the connection is made to an address of that answer which
was checked, so that a second answer of the resolver (DNS rebinding) changes nothing; certificates
of https are verified; proxies of the environment are not used, because they would resolve again.
"""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress
from functools import cache
from http.client import HTTPConnection
from urllib.parse import SplitResult

from triplestore.network.services import Address, Services, is_private

SECONDS = 60.0  # maximum time without a byte


class PinnedConnection(HTTPConnection):
    """A connection of http or https to one of some resolved addresses."""

    def __init__(self, parts: SplitResult, addresses: list[Address], seconds: float) -> None:
        self._is_safe = parts.scheme == "https"
        host = parts.hostname or ""
        super().__init__(host, parts.port or (443 if self._is_safe else 80), timeout=seconds)
        self._addresses = addresses
        self._made: socket.socket | None = None

    def connect(self) -> None:
        """Connect to the first address that answers."""
        failure: OSError | None = None
        for family, kind, protocol, _, address in self._addresses:
            made = self._made = socket.socket(family, kind, protocol)
            try:
                made.settimeout(self.timeout)
                made.connect(address)
                made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if self._is_safe:
                    made = _verifying().wrap_socket(made, server_hostname=self.host)
                    self._made = made
            except OSError as error:
                made.close()
                failure = error
                continue
            self.sock = made
            return
        raise failure or OSError("the host has no address")

    @property
    def is_open(self) -> bool:
        """Whether another request can be sent: the server did not say that it closes."""
        return self.sock is not None

    def wake(self) -> None:
        """End the waiting of another thread for this connection."""
        if self._made is not None:
            with suppress(OSError):
                self._made.shutdown(socket.SHUT_RDWR)


@cache
def _verifying() -> ssl.SSLContext:
    return ssl.create_default_context()


def connect(iri: str, parts: SplitResult, services: Services, seconds: float) -> PinnedConnection:
    """A connection for an allowed IRI; raises OSError if its host has no allowed address."""
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    found = addresses_of(host, port, services)
    if not services.allows_private(iri):
        public = [address for address in found if not is_private(address[4][0])]
        if found and not public:
            raise OSError(
                f"{host} has the private address {found[0][4][0]}, which is not allowed: name "
                "that address in the list of allowed places, or allow private addresses"
            )
        found = public
    return PinnedConnection(parts, found, min(seconds, SECONDS))


def addresses_of(host: str, port: int, services: Services) -> list[Address]:
    """The addresses of a host, resolved now."""
    if services.resolve is not None:
        return services.resolve(host, port)
    return [
        (family, kind, protocol, name, address)
        for family, kind, protocol, name, address in socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM
        )
    ]

"""The permissions and limits of a server: start at `Settings`."""

from __future__ import annotations

import os
from dataclasses import field
from pathlib import Path

from triplestore.data_classes import data_class
from triplestore.errors import UsageError
from triplestore.network.services import Services, services_of

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@data_class
class Settings:
    """How a store is served.

    update           whether updates are allowed
    seconds          maximum seconds of a query or update, sending its answer included
    memory           maximum bytes of a query or update
    threads          maximum number of concurrent requests
    wait             maximum seconds that a request waits for its turn, and then a change for
                     another writer
    grace            seconds that running requests get to end when the server stops
    body             maximum bytes of a request
    union            whether the default graph of queries is the union of all graphs
    cors             whether pages of any site may send requests
    hosts            the names under which the server may be addressed; empty for any
    allowed          names for `hosts` beside the server's, such as the public name of a proxy; `*`
                     for any. If empty, a server that other machines reach accepts any name
    users            the file of users who may log in; None if the server asks for no login
    session_seconds  seconds after which a session of the page ends
    per_client       maximum number of running and waiting queries of one client; 0 for no limit
    rate             maximum queries per second of one client; 0 for no limit
    access_log       the file for a line per request, `-` for standard error; None for no log
    log_format       "common" or "json"
    tls_cert         the certificate and its chain, in PEM; None for no encryption
    tls_key          the key of the certificate; None if it is in the same file
    head_seconds     seconds in which a client must send the head of a request
    stall_seconds    seconds for which a client may neither send nor take a piece of a body
    connections      maximum number of open connections
    allow_service    the endpoints that SERVICE in queries and updates may ask, and what LOAD may
                     read: IRIs, or a `triplestore.Services`; if empty, those that the store allows

    >>> Settings(seconds=0)
    Traceback (most recent call last):
    triplestore.errors.UsageError: seconds must be more than 0, not 0
    """

    update: bool = False
    seconds: float = 60.0
    memory: int = field(default_factory=lambda: memory_of_machine() // 8)
    threads: int = 4
    wait: float = 10.0
    grace: float = 5.0
    body: int = 256 << 20
    union: bool = False
    cors: bool = False
    hosts: frozenset[str] = LOOPBACK
    allowed: frozenset[str] = frozenset()
    users: Path | None = None
    session_seconds: float = 12 * 3600.0
    per_client: int = 100
    rate: float = 0.0
    access_log: str | None = None
    log_format: str = "common"
    tls_cert: Path | None = None
    tls_key: Path | None = None
    head_seconds: float = 10.0
    stall_seconds: float = 30.0
    connections: int = 1000
    allow_service: Services | tuple[str, ...] = ()

    def __post_init__(self) -> None:
        positive = ("seconds", "memory", "threads", "body", "head_seconds", "stall_seconds")
        for name in (*positive, "connections"):
            if getattr(self, name) <= 0:
                raise UsageError(f"{name} must be more than 0, not {getattr(self, name)}")
        services_of(self.allow_service)  # raises if an entry is malformed
        if self.tls_key is not None and self.tls_cert is None:
            raise UsageError("a key for TLS needs a certificate: give tls_cert")


def memory_of_machine() -> int:
    """The bytes of memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")

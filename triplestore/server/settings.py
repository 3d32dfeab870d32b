"""The permissions and limits of a server: start at `Settings`."""

from __future__ import annotations

import os
from dataclasses import field

from triplestore.data_classes import data_class
from triplestore.errors import UsageError

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@data_class
class Settings:
    """How a store is served.

    update           whether updates are allowed
    seconds          maximum seconds of a query or update, sending its answer included
    memory           maximum bytes of a query or update
    threads          maximum number of concurrent requests
    wait             maximum seconds that a request waits for its turn
    grace            seconds that running requests get to end when the server stops
    body             maximum bytes of a request
    union            whether the default graph of queries is the union of all graphs
    cors             whether pages of any site may send requests
    hosts            the names under which the server may be addressed; empty for any
    allowed          names for `hosts` beside the server's, such as the public name of a proxy; `*`
                     for any. If empty, a server that other machines reach accepts any name

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

    def __post_init__(self) -> None:
        for name in ("seconds", "memory", "threads", "body"):
            if getattr(self, name) <= 0:
                raise UsageError(f"{name} must be more than 0, not {getattr(self, name)}")


def memory_of_machine() -> int:
    """The bytes of memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")

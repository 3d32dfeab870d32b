"""What a server may do, and how much: start at `Settings`."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from triplestore.errors import UsageError

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Settings:
    """How a store is served.

    update           updates are carried out; without, the store is only read
    seconds          each query or update may take so long, sending its answer included
    memory           maximum bytes of each
    threads          maximum number of concurrent requests
    wait             maximum seconds that a request waits for its turn
    grace            seconds that running requests get to end when the server stops
    body             the longest request that is read, in bytes
    union            the default graph of queries is the union of all graphs
    cors             pages of any site may ask
    hosts            the names under which the server may be addressed; empty for any
    allowed          names for `hosts` beside the server's own, such as the public one of a proxy;
                     `*` for any. Without, a server that others can reach takes any name

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

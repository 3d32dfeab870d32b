"""Limits of the work in this thread, for code that gets no budget as an argument.

Start reading at `look`. Callers with limits set them with `limited`; long loops deep in the code (a
translation, a compilation, a plan) call `look`, which costs 0.1 us if nothing is due. Memory is
what the process really uses without mapped files: Python objects, arrays and what kernels write.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Protocol, TypeVar

T = TypeVar("T")


OFTEN = 64
"""Number of short steps between two checks; checking at each took a tenth of a translation."""


class ThreadLimits(Protocol):
    """A limit of time or memory."""

    def look(self, about: object) -> None:
        """Raise if the limit is reached; `about` is the current item of work."""

    def needs(self, size: int) -> None:
        """Raise if there is no room for an object of this size that is made next."""


class _Here(threading.local):
    limits: ThreadLimits | None = None


_HERE = _Here()


@contextmanager
def limited(limits: ThreadLimits | None) -> Iterator[None]:
    """Set the limits that `look` checks in this thread until the end of the block; None for none.

    >>> class Never:
    ...     def look(self, about):
    ...         raise TimeoutError(f"no time for {about}")
    ...     def needs(self, size):
    ...         pass
    >>> with limited(Never()):
    ...     look("a list")
    Traceback (most recent call last):
    TimeoutError: no time for a list
    """
    before = _HERE.limits
    _HERE.limits = limits
    try:
        yield
    finally:
        _HERE.limits = before


def look(about: object = None) -> None:
    """Raise if a limit of this thread is reached.

    about  the current item of work: the error names the last one given
    """
    limits = _HERE.limits
    if limits is not None:
        limits.look(about)


def limits() -> ThreadLimits | None:
    """The limits of this thread."""
    return _HERE.limits


def needs(size: int) -> None:
    """Raise if there is no room for an object of this many bytes that is made next."""
    limits = _HERE.limits
    if limits is not None:
        limits.needs(size)


def looking(items: Iterable[T]) -> Iterator[T]:
    """The same items, with a check of the limits before the first and every `OFTEN`th after it. The
    error does not name an item. Not for items that may take long.

    >>> list(looking([1, 2]))
    [1, 2]
    """
    limits = _HERE.limits
    if limits is None:
        yield from items
        return
    for number, item in enumerate(items):
        if number % OFTEN == 0:
            limits.look(None)
        yield item


def memory_in_use() -> int:
    """The bytes of memory that only this process uses, without mapped files; 0 if the system does
    not say.

    >>> memory_in_use() >= 0
    True
    """
    try:
        file = os.open("/proc/self/statm", os.O_RDONLY)
        try:
            _, resident, shared, *_ = os.read(file, 128).split()
        finally:
            os.close(file)
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * _page()


@cache
def memory_allowed() -> int | None:
    """The maximum number of bytes of this process: the least of the limits of the machine, its
    container and the process, at the time of the first call.

    >>> allowed = memory_allowed()
    >>> allowed is None or allowed > 0
    True
    """
    found = [_machine(), _container(), _own()]
    return min((size for size in found if size is not None), default=None)


@cache
def _page() -> int:
    return os.sysconf("SC_PAGE_SIZE")


def _machine() -> int | None:
    try:
        return _page() * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _container() -> int | None:
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        try:
            return int((Path("/sys/fs/cgroup") / name).read_text())
        except (OSError, ValueError):  # not there, or "max"
            continue
    return None


def _own() -> int | None:
    """What `ulimit` leaves of the address space, beyond code and mapped files."""
    try:
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        if most == resource.RLIM_INFINITY:
            return None
        size, resident, shared, *_ = Path("/proc/self/statm").read_bytes().split()
        return max(1, most - (int(size) - int(resident) + int(shared)) * _page())
    except (ImportError, OSError, ValueError):
        return None

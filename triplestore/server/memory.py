"""Freed memory goes back to the system: start at `give_back`.

The C library keeps what is freed in an arena for each thread, so that a server whose threads have
each carried out one large query would hold the sum of their peaks. What is always true: nothing but
the size of the process depends on it.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

_GROWN = 64 << 20
"""Bytes that the process may grow before it is worth 10 ms to give memory back."""

_STATUS = Path("/proc/self/statm")
_lock = threading.Lock()
_after = 0  # the size of the process after memory was given back


def give_back() -> None:
    """Give freed memory back, if the process has grown since the last time.

    >>> give_back()
    """
    global _after
    trim = _trim()
    if trim is None or not _lock.acquire(blocking=False):
        return
    try:
        if _size() > _after + _GROWN:
            trim(0)
            _after = _size()
    finally:
        _lock.release()


def _size() -> int:
    """The bytes of memory that the process has."""
    return int(_STATUS.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@cache
def _trim() -> Callable[[int], int] | None:
    """What glibc gives memory back with; other C libraries do so by themselves, or never."""
    try:
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
    return trim if _STATUS.exists() else None

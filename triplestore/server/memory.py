"""Return freed memory to the system: start at `release_memory`.

The C library keeps freed memory in an arena per thread, so after one large query in each thread a
server would hold the sum of their peaks. Always true: only the size of the process depends on this.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

_GROWN = 64 << 20
"""Minimum growth of the process in bytes for returning memory, which takes 10 ms."""

_STATUS = Path("/proc/self/statm")
_lock = threading.Lock()
_after = 0  # the size of the process after memory was last returned


def release_memory() -> None:
    """Return freed memory to the system, if the process has grown since the last call.

    >>> release_memory()
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
    """The memory of the process in bytes."""
    return int(_STATUS.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@cache
def _trim() -> Callable[[int], int] | None:
    """glibc's function for it; None with other C libraries."""
    try:
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
    return trim if _STATUS.exists() else None

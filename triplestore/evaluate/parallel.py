"""Rules of one round side by side on the cores.

numpy and the kernels let go of the interpreter's lock while they work, but a thread that comes back
from a short call waits for the lock up to the interpreter's switch interval; so threads gain only
where calls are long: on millions of rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import TypeVar

from triplestore.operators.deep_calls import under_these_limits

T = TypeVar("T")

ROWS = 1 << 21
"""From so many rows on that rules look at, threads are worth it."""

_pool: ThreadPoolExecutor | None = None


def side_by_side(tasks: Sequence[Callable[[], T]], rows: int) -> list[T]:
    """The results of all tasks, in their order; on several threads if they look at many rows.

    >>> side_by_side([lambda: 1, lambda: 2], rows=10)
    [1, 2]
    """
    if rows < ROWS or len(tasks) < 2 or cores() < 2:
        return [task() for task in tasks]
    futures: list[Future[T]] = [_threads().submit(under_these_limits(task)) for task in tasks]
    try:
        return [future.result() for future in futures]
    except BaseException:
        for future in futures:
            future.cancel()
        raise


@cache
def cores() -> int:
    """How many threads work at the same time."""
    return min(os.cpu_count() or 1, 8)


def _threads() -> ThreadPoolExecutor:
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(cores(), thread_name_prefix="rules")
    return _pool

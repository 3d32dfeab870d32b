"""Work on large arrays shared between the processors.

Start reading at `each`. The calling thread takes parts of the work and does them; threads of one
pool take others, if they get a processor. Nothing waits for a thread that has not begun, so the
work never takes longer than in one thread by more than the hand-over (some 50 us), however many
callers there are, and work inside of work cannot wait for itself.

Always true
    - Results do not depend on the number of threads: parts write to places of their own.
    - The error of the first part that failed is raised, after all threads have ended their parts.
      An interrupted caller (Ctrl-C) waits for the parts that others have begun, milliseconds.
    - The caller's limits (`thread_limits`) hold in all threads.
    - A forked process has threads of its own.

Environment
    TRIPLESTORE_THREADS    number of threads; 1 does everything in the calling thread
                           (default: the processors that this process may use, at most 8)
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from typing import Generic, TypeVar

from triplestore.thread_limits import limited, limits

T = TypeVar("T")
R = TypeVar("R")

MOST_THREADS = 8
"""Maximum number of threads by default: memory is busy with fewer."""

_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None


def thread_count() -> int:
    """The number of threads that share large work.

    >>> thread_count() >= 1
    True
    """
    text = os.environ.get("TRIPLESTORE_THREADS", "")
    if text.isdecimal() and int(text) > 0:
        return int(text)
    try:
        found = len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        found = os.cpu_count() or 1
    return min(found, MOST_THREADS)


def shares(size: int, number: int) -> list[slice]:
    """Positions 0 .. size - 1 in `number` parts of about equal length. Several for each thread are
    best: then one that begins late does fewer of them.

    >>> shares(5, 2)
    [slice(0, 2, None), slice(2, 5, None)]
    """
    bounds = [size * part // number for part in range(number + 1)]
    return [slice(lo, hi) for lo, hi in pairwise(bounds)]


def each(function: Callable[[T], object], parts: Iterable[T]) -> None:
    """Call a function with each part, in several threads at a time.

    The function must write its results to places that no other part writes to.

    >>> squares = [0, 0, 0]
    >>> def write(n):
    ...     squares[n] = n * n
    >>> each(write, range(3))
    >>> squares
    [0, 1, 4]
    """
    listed = list(parts)
    helpers = min(thread_count(), len(listed)) - 1 if len(listed) > 1 else 0
    if helpers < 1:
        for part in listed:
            function(part)
        return
    work = _Work(function, listed)
    begun = [future for _ in range(helpers) if (future := _submit(work.help)) is not None]
    try:
        work.run()
    finally:
        work.stop()
        for future in begun:
            if not future.cancel():
                future.result()
    if work.failed:
        raise work.failed[min(work.failed)]


def results(function: Callable[[T], R], parts: Iterable[T]) -> list[R]:
    """What a function returns for each part, in several threads at a time.

    >>> results(abs, [-1, 2])
    [1, 2]
    """
    listed = list(parts)
    made: dict[int, R] = {}

    def call(number: int) -> None:
        made[number] = function(listed[number])

    each(call, range(len(listed)))
    return [made[number] for number in range(len(listed))]


class _Work(Generic[T]):
    """Parts that several threads take one after the other.

    failed  part -> its error; after one no further part is taken
    """

    def __init__(self, function: Callable[[T], object], parts: list[T]) -> None:
        self.failed: dict[int, BaseException] = {}
        self._function = function
        self._parts = enumerate(parts)
        self._limits = limits()
        self._ended = False

    def help(self) -> None:
        """Do parts under the limits of the caller, in another thread."""
        with limited(self._limits):
            self.run()

    def run(self) -> None:
        """Do parts until none is left."""
        while not self._ended:
            with _lock:
                found = next(self._parts, None)
            if found is None:
                return
            number, part = found
            try:
                self._function(part)
            except Exception as error:  # noqa: BLE001 - raised again in the caller
                self.failed[number] = error
                return self.stop()

    def stop(self) -> None:
        """Let no thread take a further part."""
        self._ended = True


def _submit(function: Callable[[], None]) -> Future[None] | None:
    """Have a thread of the pool call this; None if the system has no thread for it."""
    global _pool
    try:
        with _lock:
            if _pool is None:
                _pool = ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="parallel")
            return _pool.submit(function)
    except RuntimeError:  # no thread left, or the interpreter is ending
        return None


def _forget_threads() -> None:
    """In a forked process the threads of the pool do not exist, and the lock may be held."""
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)

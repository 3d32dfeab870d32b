"""What a running plan may use: memory and time, until it is cancelled.

Start at `Context`: operators call `check` between blocks and `charge` before they allocate. Code
that has no context at hand (parsers, functions of expressions) asks for that of its thread:
`current()`, which is set by `running`. Always true: `used` is the sum of what
is charged and not yet released, it never exceeds the budget, and it is back at its old value when a
plan has ended, however it ended; but for the terms that a query made, which stay charged as long as
its result is read. A call costs about 0.1 µs.
"""

from __future__ import annotations

import threading
import time
from typing import Protocol

from triplestore.errors import BudgetError, CancelledError, TimeLimitError, UsageError
from triplestore.text_limits import DEFAULT, TextLimits

BLOCK_ROWS = 65536
"""Operators hand on blocks of at most this many rows (a context may say fewer)."""

UNLIMITED = 1 << 62


class Flag(Protocol):
    """Something like `threading.Event`, which another thread sets to stop an operation."""

    def is_set(self) -> bool:
        """True if the operation should stop."""


class Budget(Protocol):
    """What the algorithms under the operators see of a context."""

    def check(self) -> None:
        """Raise if the operation was cancelled or is out of time."""

    def charge(self, size: int) -> None:
        """Take `size` bytes from the budget, or raise BudgetError and take nothing."""

    def release(self, size: int) -> None:
        """Give `size` bytes back."""


class Context:
    """A memory budget, a deadline and a cancel flag for the plans of one thread.

    budget      bytes that may be charged at the same time; None for no limit
    seconds     from now until the deadline; None for no deadline
    cancel      a `threading.Event`, set by any thread to stop the plans
    block_rows  the largest block that operators make
    text        how large the text of a query may be

    >>> context = Context(budget=1000)
    >>> context.charge(600)
    >>> context.charge(600)
    Traceback (most recent call last):
    triplestore.errors.BudgetError: 600 bytes more than the 600 bytes in use would exceed the \
memory budget of 1,000 bytes; raise the budget or make the query narrower
    >>> context.used, context.peak
    (600, 600)
    """

    __slots__ = ("block_rows", "budget", "cancel", "deadline", "peak", "text", "used")

    def __init__(
        self,
        budget: int | None = None,
        *,
        seconds: float | None = None,
        cancel: Flag | None = None,
        block_rows: int = BLOCK_ROWS,
        text: TextLimits = DEFAULT,
    ) -> None:
        if block_rows < 1:
            raise UsageError(f"block_rows must be at least 1, not {block_rows}")
        self.budget = UNLIMITED if budget is None else budget
        self.deadline = None if seconds is None else time.monotonic() + seconds
        self.cancel = cancel
        self.block_rows = block_rows
        self.text = text
        self.used = 0
        self.peak = 0

    def check(self) -> None:
        """Raise CancelledError or TimeLimitError if it is time to stop."""
        if self.cancel is not None and self.cancel.is_set():
            raise CancelledError("the operation was cancelled")
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise TimeLimitError("the operation went over its time limit")

    def need(self, size: int) -> None:
        """Raise BudgetError if `size` bytes more do not fit; take nothing. Checks the time, too."""
        self.check()
        self.charge(size)
        self.used -= size

    def charge(self, size: int) -> None:
        """Take `size` bytes from the budget, or raise BudgetError and take nothing."""
        used = self.used + size
        if used > self.budget:
            raise BudgetError(
                f"{size:,} bytes more than the {self.used:,} bytes in use would exceed the memory"
                f" budget of {self.budget:,} bytes; raise the budget or make the query narrower"
            )
        self.used = used
        if used > self.peak:
            self.peak = used

    def release(self, size: int) -> None:
        """Give `size` bytes back."""
        self.used -= size
        if self.used < 0:
            raise AssertionError(f"{-self.used} bytes were released that were never charged")


class _Thread(threading.local):
    """The context of what each thread runs."""

    context = Context()


_thread = _Thread()


def current() -> Context:
    """The context of what this thread runs; one without limits if none was set.

    >>> with running(Context(budget=1000)):
    ...     current().budget
    1000
    >>> current().budget == UNLIMITED
    True
    """
    return _thread.context


class running:  # noqa: N801 - it reads like a function, and costs a third of a generator
    """While this lasts, the limits of this thread are those of a context."""

    __slots__ = ("_before", "_context")

    def __init__(self, context: Context) -> None:
        self._context = context
        self._before = context

    def __enter__(self) -> None:
        self._before = _thread.context
        _thread.context = self._context

    def __exit__(self, *error: object) -> None:
        _thread.context = self._before

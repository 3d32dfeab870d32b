"""Limits of a running plan: memory, time and cancellation.

Start at `Context`: operators call `check` between blocks and `charge` before they allocate. Code
without a context at hand (parsers, functions of expressions) uses that of its thread: `current()`,
which is set by `running`. Always true: `used` is the sum of what is charged and not yet released;
it never exceeds the budget. It returns to its old value when a plan ends, for whatever reason,
except for the terms made by a query, which stay charged while its result is read. A call costs
about 0.1 µs.
"""

from __future__ import annotations

import threading
import time
from typing import Protocol

from triplestore.errors import BudgetError, CancelledError, TimeLimitError, UsageError
from triplestore.text_limits import DEFAULT, TextLimits

BLOCK_ROWS = 65536
"""Maximum number of rows of a block (a context may have a smaller maximum)."""

UNLIMITED = 1 << 62


class Flag(Protocol):
    """A flag like `threading.Event`, which another thread sets to stop an operation."""

    def is_set(self) -> bool:
        """True if the operation should stop."""


class Budget(Protocol):
    """The part of a context that algorithms below the operators use."""

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
    block_rows  maximum number of rows of a block
    text        limits of the text of a query

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
            raise TimeLimitError("the operation exceeded its time limit")

    def need(self, size: int) -> None:
        """Check the time, and raise BudgetError if `size` bytes more do not fit; take nothing."""
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


class ContextLimits:
    """The limits of a context, for code that checks those of its thread (`thread_limits.py`)."""

    __slots__ = ("_context",)

    def __init__(self, context: Context) -> None:
        self._context = context

    def look(self, about: object) -> None:
        """Raise if it is time to stop."""
        self._context.check()

    def needs(self, size: int) -> None:
        """Raise BudgetError if `size` more bytes exceed the budget."""
        self._context.need(size)


class _Thread(threading.local):
    """The context of each thread."""

    context = Context()


_thread = _Thread()


def current() -> Context:
    """The context of this thread; one without limits if none was set.

    >>> with running(Context(budget=1000)):
    ...     current().budget
    1000
    >>> current().budget == UNLIMITED
    True
    """
    return _thread.context


class running:  # noqa: N801 - used like a function, at a third of the cost of a generator
    """Sets the context of this thread for the duration of a `with` statement."""

    __slots__ = ("_before", "_context")

    def __init__(self, context: Context) -> None:
        self._context = context
        self._before = context

    def __enter__(self) -> None:
        self._before = _thread.context
        _thread.context = self._context

    def __exit__(self, *error: object) -> None:
        _thread.context = self._before

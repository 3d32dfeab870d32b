"""Deep calls on a separate stack: the stack of a Python thread has room for some thousand calls.

Start at `on_new_stack`, for one deep call, and `Elsewhere`, for an iterator that is made by deep
calls. Nothing runs in parallel: the caller waits. A hand-over costs some 100 us (15 to 40 us of CPU
time), so this is only used for deep calls. Always true: errors reach the caller unchanged.
An interrupted caller (Ctrl-C) continues at once; the call ends by itself, soon for parsing and
planning, and an iterator stops at its next check of the time. The caller's limits of both kinds
(`context` and `thread_limits`) also hold on the new stack (`under_these_limits`). If the system has
no thread left, BudgetError is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Thread
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from triplestore.errors import BudgetError
from triplestore.operators.context import current, running
from triplestore.thread_limits import limited, limits

_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")


LARGE = 150
"""Maximum number of tokens of a text that is processed on the stack of the caller."""


def on_new_stack(
    function: Callable[_Given, _Made], *arguments: _Given.args, **named: _Given.kwargs
) -> _Made:
    """The result of a function, called on a separate stack.

    >>> on_new_stack(max, 3, 5)
    5
    """
    made: Future[_Made] = Future()
    limited_function = under_these_limits(function)

    def call() -> None:
        try:
            made.set_result(limited_function(*arguments, **named))
        except BaseException as error:  # noqa: BLE001 - raised again in the caller
            made.set_exception(error)

    start(Thread(target=call, daemon=True))
    return made.result()


def start(thread: Thread) -> None:
    """Start a thread, or raise BudgetError if the system has none left."""
    try:
        thread.start()
    except RuntimeError as error:
        raise _no_thread(error) from None


def under_these_limits(function: Callable[_Given, _Made]) -> Callable[_Given, _Made]:
    """The same function for another thread, under the limits of this one.

    >>> under_these_limits(max)(3, 5)
    5
    """
    context, others = current(), limits()

    def call(*arguments: _Given.args, **named: _Given.kwargs) -> _Made:
        with running(context), limited(others):
            return function(*arguments, **named)

    return call


def _no_thread(error: RuntimeError) -> BudgetError:
    return BudgetError(
        f"the system has no thread left for this work ({error}); make the query shorter, run fewer "
        "queries at a time, or raise the limits of this process on threads and address space"
    )


def when_large(
    size: int,
    function: Callable[_Given, _Made],
    *arguments: _Given.args,
    **named: _Given.kwargs,
) -> _Made:
    """The result of a function; on a separate stack if `size`, the tokens of a text, is large.

    >>> when_large(10, max, 3, 5), when_large(10_000, max, 3, 5)
    (5, 5)
    """
    if size > LARGE:
        return on_new_stack(function, *arguments, **named)
    return function(*arguments, **named)


class Elsewhere(Generator[_Made, None, None]):
    """An iterator whose items are made in a separate thread, one at a time, on demand.

    stop   makes that thread stop soon; called if the waiting thread is interrupted
    close  closes the followed iterator

    >>> squares = Elsewhere(lambda: None, lambda items: items.close())
    >>> squares.follow(squares.call(lambda: (n * n for n in range(3))))
    >>> list(squares)
    [0, 1, 4]
    """

    def __init__(
        self, stop: Callable[[], None], close: Callable[[Generator[_Made, None, None]], None]
    ) -> None:
        self._stop = stop
        self._close = close
        self._thread = ThreadPoolExecutor(1)
        self._items: Generator[_Made, None, None] | None = None

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The result of a function, called in that thread."""
        try:
            future = self._thread.submit(under_these_limits(function), *arguments)
        except RuntimeError as error:
            raise _no_thread(error) from None
        try:
            return future.result()
        except BaseException:
            if not future.done():
                self._stop()
                wait([future])
            raise

    def follow(self, items: Generator[_Made, None, None]) -> None:
        """Yield the items of an iterator that was made in that thread."""
        self._items = items

    def send(self, value: None) -> _Made:
        """The next item."""
        if self._items is None:
            raise StopIteration
        item = self.call(next, self._items, None)
        if item is None:
            self.close()
            raise StopIteration
        made: _Made = item
        return made

    def throw(
        self,
        kind: type[BaseException] | BaseException,
        value: BaseException | object = None,
        traceback: TracebackType | None = None,
        /,
    ) -> _Made:
        """Raise an error where the iterator is; it cannot handle the error."""
        self.close()
        raise kind

    def close(self) -> None:
        """End the iterator and its thread."""
        items, self._items = self._items, None
        try:
            if items is not None:
                self.call(self._close, items)
        finally:
            self._thread.shutdown()

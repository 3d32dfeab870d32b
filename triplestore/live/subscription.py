"""A subscriber's end of a live query: start at `Subscription`.

Always true: changes come in the order of commits, each once; if some cannot be delivered, none
after them is, and the subscriber is told.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from triplestore.errors import LostPlaceError, TripleStoreError
from triplestore.live.events import ChangeStream, RowChanges
from triplestore.live.thresholds import LIVE


class Subscription(ChangeStream[RowChanges]):
    """The changes of a query's rows: iterate over it, or let a function be called with them.

    Iterating waits for the next change; `next(timeout)` waits for some seconds. `close()`, or the
    end of a `with` block, ends it.
    """

    def __init__(
        self,
        variables: tuple[str, ...],
        leave: Callable[[Subscription], None],
        progress: Callable[[], int],
    ) -> None:
        self.variables = variables
        self.ready: Callable[[], None] | None = None  # called when there is something to take
        self._leave = leave
        self._progress = progress
        self._state = threading.Condition()
        self._changes: deque[RowChanges] = deque()
        self._rows = 0
        self._taken = 0
        self._error: TripleStoreError | None = None

    @property
    def commit(self) -> int:
        """The commit up to which all changes were taken; `since` continues from it."""
        progress = self._progress()  # before the queue is looked at
        with self._state:
            behind = self._changes or self._error is not None
            return self._taken if behind else max(self._taken, progress)

    def next(self, timeout: float | None = None) -> RowChanges | None:
        """The next change; None if there is none within `timeout` seconds, or after the end.

        Raises what ended the subscription, such as a `LostPlaceError` of a slow subscriber.
        """
        end = None if timeout is None else time.monotonic() + timeout
        with self._state:
            while not self._changes:
                if self._error is not None:
                    raise self._error
                left = None if end is None else end - time.monotonic()
                if self._closed or (left is not None and left <= 0):
                    return None
                self._state.wait(left)
            found = self._changes.popleft()
            self._rows -= len(found)
            self._taken = found.commit
            return found

    def close(self) -> None:
        """End it; what was not taken is dropped."""
        with self._state:
            if self._closed:
                return
            self._closed = True
            self._changes.clear()
            self._state.notify_all()
        self._leave(self)
        self._wake()

    unsubscribe = close

    # -- for the hub ------------------------------------------------------------------------------

    def begin(self, commit: int) -> None:
        """Everything up to this commit is known to the subscriber."""
        self._taken = commit

    def deliver(self, changes: RowChanges) -> bool:
        """Queue a change; False if the queue is full, and the subscription over."""
        with self._state:
            if self._closed:
                return False
            full = len(self._changes) >= LIVE.queued_changes
            full |= bool(self._changes) and self._rows + len(changes) > LIVE.queued_rows
            if not full:
                self._changes.append(changes)
                self._rows += len(changes)
                self._state.notify_all()
        if full:
            self.fail(
                LostPlaceError(
                    f"{len(self._changes):,} changes were waiting to be taken: the subscriber is "
                    f"too slow, and has lost its place; subscribe again with since={self._taken}",
                    self._taken,
                )
            )
            return False
        self._wake()
        return True

    def fail(self, error: TripleStoreError) -> None:
        """End it with an error; changes that were not taken are dropped."""
        with self._state:
            if self._closed or self._error is not None:
                return
            self._error = error
            self._changes.clear()
            self._state.notify_all()
        self._wake()

    def _wake(self) -> None:
        ready = self.ready
        if ready is not None:
            ready()

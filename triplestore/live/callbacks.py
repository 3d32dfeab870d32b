"""Functions that are called with changes, on a thread of their own: start at `Caller`.

An error of such a function is logged and concerns nothing else.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable

from triplestore.errors import TripleStoreError
from triplestore.live.events import RowChanges
from triplestore.live.subscription import Subscription

logger = logging.getLogger("triplestore.live")

Callback = Callable[[RowChanges], object]
OnError = Callable[[TripleStoreError], object]


class Caller:
    """Calls the functions of all subscriptions of a store, one after the other."""

    def __init__(self) -> None:
        self._ready: queue.SimpleQueue[list[Callable[[], None]] | None] = queue.SimpleQueue()
        self._waiting: list[Callable[[], None]] = []
        self._thread: threading.Thread | None = None

    def attach(
        self, subscription: Subscription, callback: Callback, on_error: OnError | None
    ) -> None:
        """Call a function with each change of a subscription, after the next `flush`."""
        if self._thread is None:
            self._thread = threading.Thread(
                target=_call, args=(self._ready,), name="triplestore-callbacks", daemon=True
            )
            self._thread.start()

        def take() -> None:
            try:
                changes = subscription.next(0)
            except TripleStoreError as error:
                if on_error is None:
                    logger.error("a subscription has ended: %s", error)
                else:
                    on_error(error)
                return
            if changes is not None:
                callback(changes)

        subscription.ready = lambda: self._waiting.append(take)

    def flush(self) -> None:
        """Call the functions of all subscriptions with changes: waking the thread takes time."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._ready.put(waiting)

    def stop(self) -> None:
        """End the thread after what is queued."""
        self._ready.put(None)


def _call(ready: queue.SimpleQueue[list[Callable[[], None]] | None]) -> None:
    while (waiting := ready.get()) is not None:
        for take in waiting:
            try:
                take()
            except Exception:
                logger.exception("the callback of a subscription failed")

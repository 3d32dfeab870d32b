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
        self._ready: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def attach(
        self, subscription: Subscription, callback: Callback, on_error: OnError | None
    ) -> None:
        """Call a function with each change of a subscription."""
        if self._thread is None:
            self._thread = threading.Thread(
                target=_call, args=(self._ready,), name="triplestore-callbacks", daemon=True
            )
            self._thread.start()
        ready = self._ready

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

        subscription.ready = lambda: ready.put(take)

    def stop(self) -> None:
        """End the thread after what is queued."""
        self._ready.put(None)


def _call(ready: queue.SimpleQueue[Callable[[], None] | None]) -> None:
    while (take := ready.get()) is not None:
        try:
            take()
        except Exception:
            logger.exception("the callback of a subscription failed")

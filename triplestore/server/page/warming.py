"""Indexes of the page made before they are needed: start at `Warming.begin`.

The first completion and the first tree after a start would wait for them. They are made when a page
is opened, so a server without pages spends nothing.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from triplestore.browse.hierarchy.kept_hierarchies import hierarchy_of
from triplestore.browse.index.search_index import index_of
from triplestore.errors import TripleStoreError
from triplestore.store.readable import view_of

if TYPE_CHECKING:
    from triplestore.store import Store

logger = logging.getLogger("triplestore.server")


class Warming:
    """One thread at a time makes the indexes of a store.

    >>> from triplestore import Store
    >>> warming = Warming()
    >>> warming.begin(Store())
    >>> warming.stop()
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._ended = False

    def begin(self, store: Store) -> None:
        """Make the indexes of the newest state; nothing happens while that is under way."""
        with self._lock:
            if self._ended or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = threading.Thread(target=_warm, args=(store,), name="warming")
            self._thread.start()

    def stop(self) -> None:
        """Wait until the thread has ended; then none is begun."""
        with self._lock:
            self._ended = True
            thread = self._thread
        if thread is not None:
            thread.join()


def _warm(store: Store) -> None:
    try:
        view = view_of(store)
        index_of(view)
        hierarchy_of(view, "class")
    except (TripleStoreError, OSError, MemoryError) as error:
        logger.warning("the indexes of the page were not made: %s", error)

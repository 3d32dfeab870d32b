"""Brings a text index up to date behind the commits: start at `Upkeep.wake`.

A thread waits for commits; when none came for a moment, it adds their literals in one batch and
notes that on disk. What it has not done yet, the next query does.
"""

from __future__ import annotations

import logging
import threading
import weakref
from typing import TYPE_CHECKING

from triplestore.text_search.thresholds import TEXT

if TYPE_CHECKING:
    from triplestore.text_search.text_index import TextIndex

logger = logging.getLogger("triplestore.text_search")

_IDLE_SECONDS = 60.0
_MOST_WAITS = 10  # for a moment without commits


class _StoppedError(Exception):
    """The thread should end."""


class Upkeep:
    """The background work of one index; its thread ends when there is nothing to do."""

    def __init__(self, index: TextIndex) -> None:
        self._index = weakref.ref(index)
        self._lock = threading.Lock()
        self._woken = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def wake(self) -> None:
        """Note that there was a commit."""
        self._woken.set()
        if self._thread is None and not self._stop.is_set():
            with self._lock:
                if self._thread is None:
                    self._thread = threading.Thread(
                        target=self._run, name="triplestore-text", daemon=True
                    )
                    self._thread.start()

    def stop(self) -> None:
        """End the thread, and wait for it."""
        self._stop.set()
        self._woken.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        while self._woken.wait(_IDLE_SECONDS) and not self._stop.is_set():
            for _ in range(_MOST_WAITS):
                self._woken.clear()
                if self._stop.wait(TEXT.quiet_seconds) or not self._woken.is_set():
                    break
            if self._stop.is_set() or not self._caught_up():
                break
        with self._lock:
            self._thread = None
        if self._woken.is_set():
            self.wake()

    def _caught_up(self) -> bool:
        index = self._index()
        if index is None:
            return False
        try:
            index.catch_up(self._check)
        except _StoppedError:
            return False
        except Exception:
            # Of any kind: it must not end this thread. Queries stay exact without it, since they
            # read what the index lacks; and they raise what is wrong to their callers.
            logger.exception("the text index was not brought up to date; it is tried again")
        return True

    def _check(self) -> None:
        if self._stop.is_set():
            raise _StoppedError

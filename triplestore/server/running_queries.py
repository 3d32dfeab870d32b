"""The queries that run now, by id, so that people see and stop them: start at `RunningQueries`."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import uuid4

_LONGEST = 10_000
"""Maximum number of characters of a text that is kept for the list."""


@dataclass(slots=True)
class RunningQuery:
    """A query that runs.

    stop    ends it soon after it is set
    user    who sent it, if that is known
    store   the name of the store, if there are several
    """

    id: str
    text: str
    stop: threading.Event
    user: str | None = None
    store: str | None = None
    begun: float = field(default_factory=time.monotonic)
    stopped: bool = False

    def as_dict(self) -> dict[str, object]:
        """The query as plain data."""
        return {
            "id": self.id,
            "text": self.text,
            "seconds": round(time.monotonic() - self.begun, 3),
            "user": self.user,
        }


class RunningQueries:
    """All queries that run now.

    >>> queries, stop = RunningQueries(), threading.Event()
    >>> with queries.listed("ASK {}", stop, name="q1"):
    ...     [query.text for query in queries.all()], queries.stop("q1"), stop.is_set()
    (['ASK {}'], True, True)
    >>> queries.stop("q1")
    False
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: dict[str, RunningQuery] = {}

    def all(self, store: str | None = None) -> list[RunningQuery]:
        """The queries of a store, the oldest first."""
        with self._lock:
            return [query for query in self._found.values() if query.store == store]

    def get(self, name: str) -> RunningQuery | None:
        """The query with an id."""
        with self._lock:
            return self._found.get(name)

    def stop(self, name: str) -> bool:
        """Stop a query; False if it does not run."""
        query = self.get(name)
        if query is None:
            return False
        query.stopped = True
        query.stop.set()
        return True

    @contextmanager
    def listed(
        self,
        text: str,
        stop: threading.Event,
        user: str | None = None,
        store: str | None = None,
        name: str | None = None,
    ) -> Iterator[RunningQuery]:
        """List a query while the block runs; an id that is in use is replaced by another."""
        with self._lock:
            if name is None or name in self._found:
                name = uuid4().hex
            query = RunningQuery(name, text[:_LONGEST], stop, user, store)
            self._found[name] = query
        try:
            yield query
        finally:
            with self._lock:
                self._found.pop(name, None)

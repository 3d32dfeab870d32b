"""How much of the history a store keeps: start at `HistoryLimits`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta

from triplestore.data_classes import data_class
from triplestore.errors import UsageError
from triplestore.storage.metadata import HISTORY
from triplestore.storage.state import value_of


@data_class
class HistoryLimits:
    """What is kept: the commits within all limits that are given, and always the last one.

    commits  how many
    age      seconds since a commit was made
    size     bytes of what is kept of them
    since    the first commit of which anything was kept

    >>> HistoryLimits.given(commits=100, age=timedelta(days=1))
    HistoryLimits(commits=100, age=86400.0, size=None, since=0)
    """

    commits: int | None = None
    age: float | None = None
    size: int | None = None
    since: int = 0

    @classmethod
    def given(
        cls,
        commits: int | None = None,
        age: float | timedelta | None = None,
        size: int | None = None,
        since: int = 0,
    ) -> HistoryLimits:
        """Limits as a caller says them."""
        seconds = age.total_seconds() if isinstance(age, timedelta) else age
        for name, value in (("commits", commits), ("age", seconds), ("size", size)):
            if value is not None and (isinstance(value, bool) or not value >= 0):
                raise UsageError(f"{name}={value!r} cannot limit a history: give 0 or more")
        return cls(commits, seconds, size, since)

    @classmethod
    def of(cls, meta: Mapping[str, bytes]) -> HistoryLimits | None:
        """Those that a store keeps; None if it keeps no history."""
        none: HistoryLimits | None = None
        return value_of(meta, HISTORY, lambda value: cls(**json.loads(value)), none)

    def to_bytes(self) -> bytes:
        """The form in which they are kept."""
        said = {"commits": self.commits, "age": self.age, "size": self.size, "since": self.since}
        return json.dumps(said).encode()

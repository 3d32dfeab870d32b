"""What an agent may do, and how much of it: start at `AgentSettings`."""

from __future__ import annotations

import os
from dataclasses import field

from triplestore.data_classes import data_class
from triplestore.errors import UsageError


@data_class
class AgentSettings:
    """Permissions and limits.

    update      whether the agent may change the store
    seconds     maximum seconds of one call; the agent may ask for fewer
    memory      maximum bytes of a query or an update
    rows        maximum rows of one answer
    characters  approximate maximum length of one answer as text

    >>> AgentSettings(rows=0)
    Traceback (most recent call last):
    triplestore.errors.UsageError: rows must be more than 0, not 0
    """

    update: bool = False
    seconds: float = 30.0
    memory: int = field(
        default_factory=lambda: os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 8
    )
    rows: int = 1_000
    characters: int = 24_000

    def __post_init__(self) -> None:
        for name in ("seconds", "memory", "rows", "characters"):
            if getattr(self, name) <= 0:
                raise UsageError(f"{name} must be more than 0, not {getattr(self, name)}")

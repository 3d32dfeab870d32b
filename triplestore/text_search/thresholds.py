"""The numbers that decide how a text index is brought up to date."""

from __future__ import annotations

from triplestore.data_classes import data_class
from triplestore.thresholds import Thresholds


@data_class(frozen=False)
class TextThresholds(Thresholds):
    """Thresholds of text indexes."""

    quiet_seconds: float = 0.5
    """The background waits this long after a commit, so that many commits are one batch."""

    batch: int = 100_000
    """Maximum number of literals that are added before the index is written to disk."""

    recent: int = 20_000
    """Maximum number of literals of recent commits that are indexed in memory, when a query asks
    for them, until the background writes them to disk."""

    block: int = 2048
    """Number of literals that are decoded at once; the limits are checked in between."""

    heap_bytes: int = 40_000_000
    """Memory in which an index in a folder collects what is added, before it writes a segment."""

    small_heap_bytes: int = 15_000_000
    """The same for an index in memory; the library accepts no less."""

    in_memory: int = 200_000
    """Maximum number of literals of an index that only this process needs and that is kept in
    memory; a larger one is made in a temporary folder."""

    views: int = 8
    """Maximum number of states for which literals outside of the index are kept."""

    query_size: int = 10_000
    """Maximum number of characters of a text query."""

    query_parts: int = 1_000
    """Maximum number of words and groups of a text query."""

    query_depth: int = 50
    """Maximum depth of nested groups of a text query."""


TEXT = TextThresholds()

"""Thresholds of live queries: what is kept for followers, and when they have lost their place."""

from __future__ import annotations

from triplestore.data_classes import data_class
from triplestore.thresholds import Thresholds


@data_class(frozen=False)
class LiveThresholds(Thresholds):
    """See `LIVE`."""

    kept_commits: int = 1000
    """Maximum number of past commits that are kept for resuming; each keeps the layers of its
    state, some ten kilobytes after a commit of one fact."""

    kept_rows: int = 2_000_000
    """Maximum number of changed rows of these commits together; the last commit is always kept."""

    queued_changes: int = 1000
    """Maximum number of changes that wait for one subscriber; with more it has lost its place."""

    queued_rows: int = 1_000_000
    """Maximum number of rows in them; one change is always delivered."""

    branches: int = 16
    """Maximum number of parts into which the UNIONs of a query are taken apart."""

    plan_uses: int = 500
    """Number of uses after which a plan is made again, because sizes may have changed."""

    event_quads: int = 1000
    """Maximum number of quads in one message of a change feed; larger commits are several."""

    query_seconds: float = 60.0
    """Maximum time that one commit may take for one query; a query that takes longer is ended."""


LIVE = LiveThresholds()

"""The thresholds of storage; tests make them small."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tuning:
    """Thresholds; the defaults are measured (DESIGN.md)."""

    journal_bytes: int = 4 << 20
    """Minimum size of the journal for a checkpoint: it limits what opening has to replay."""

    journal_records: int = 4096
    """Minimum number of commits in the journal for a checkpoint."""

    large_bytes: int = 1 << 20
    """Minimum size of a layer or term segment to be written to its own file instead of the
    journal."""

    large_rows: int = 1 << 15
    """Minimum number of changed rows, or of new terms, for the same."""

    group_seconds: float = 0.03
    """With durability "group", seconds after which written commits are made durable together."""

    reserve_after: int = 16
    """Minimum number of commits in a journal for which zeros are written ahead."""

    term_tier: int = 3
    """Term segments are merged until each has over this many times the terms of all later ones."""

    retry_seconds: float = 5.0
    """Seconds to wait after background work failed (for example on a full disk)."""

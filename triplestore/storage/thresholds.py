"""Thresholds of storage: when commits go to files of their own, and when background work is due."""

from __future__ import annotations

from triplestore.data_classes import data_class
from triplestore.thresholds import Thresholds


@data_class(frozen=False)
class StorageThresholds(Thresholds):
    """See `STORAGE`; a test may open a database with others."""

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

    reserve_bytes: int = 1 << 20
    """Number of zeros that are written ahead at a time."""

    term_tier: int = 3
    """Term segments are merged until each has more than this many times the terms of all later
    ones."""

    retry_seconds: float = 5.0
    """Seconds to wait after background work failed (for example on a full disk)."""

    settle_seconds: float = 3.0
    """Seconds after opening in which commits do not begin merges of what was there before."""

    settle_layers: int = 4
    """Maximum number of layers of new commits in that time; more are merged at once."""

    written_bytes: int = 1 << 20
    """Maximum size of one write to a section file, a multiple of the size of a block."""

    gathered_bytes: int = 1 << 16
    """Minimum size of data that is written at once; smaller data is gathered first."""

    synced_bytes: int = 4 << 20
    """Background work syncs a section file whenever this much was written."""


STORAGE = StorageThresholds()

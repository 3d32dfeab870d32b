"""The numbers that decide when storage does what; tests make them small."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tuning:
    """Bounds; the defaults are measured (DESIGN.md)."""

    journal_bytes: int = 4 << 20
    """A checkpoint is due when the journal is so long: it bounds what opening has to replay."""

    journal_records: int = 4096
    """A checkpoint is also due after so many commits."""

    large_bytes: int = 1 << 20
    """A layer or term segment of so many bytes goes to a file of its own, not into the journal."""

    large_rows: int = 1 << 15
    """Changes of so many rows, or so many new terms, do."""

    group_seconds: float = 0.03
    """With durability "group", written commits are made durable after so long, together."""

    reserve_after: int = 16
    """Journals of so many commits get zeros written ahead."""

    term_tier: int = 3
    """Term segments are merged until each has over so many times the terms of all after it."""

    retry_seconds: float = 5.0
    """After background work failed (a full disk), it is not tried again before this."""

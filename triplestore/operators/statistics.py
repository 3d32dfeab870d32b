"""The statistics of one operator; `explain` shows those of a plan.

Always true: rows, blocks and calls are exact, even if a plan was stopped (they count what was
passed on until then); seconds include those of the operators below; bytes are the maximum that the
operator itself had charged at a time.
"""

from __future__ import annotations


class Statistics:
    """The statistics of one operator, summed over its calls since the last `clear`."""

    __slots__ = ("blocks", "bytes", "calls", "rows", "seconds")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Reset all figures to zero."""
        self.calls = 0
        self.blocks = 0
        self.rows = 0
        self.seconds = 0.0
        self.bytes = 0

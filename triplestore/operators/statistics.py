"""The record of what one operator did; `explain` shows those of a plan.

Always true: rows, blocks and calls are exact, also when a plan was stopped half-way (they say what
was handed on until then); seconds include those of the operators below; bytes are the maximum that
the operator itself had charged at one time.
"""

from __future__ import annotations


class Statistics:
    """The record of one operator, summed over its calls since the last `clear`."""

    __slots__ = ("blocks", "bytes", "calls", "rows", "seconds")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Begin again from nothing."""
        self.calls = 0
        self.blocks = 0
        self.rows = 0
        self.seconds = 0.0
        self.bytes = 0

"""What a user sees while the closure is brought up to date: a line on stderr."""

from __future__ import annotations

import time

from triplestore.live_line import LiveLine

FIRST = 0.5
"""Seconds until there is something to see."""


class ProgressLine:
    """What is going on, on stderr: replaced in place on a terminal and in a notebook."""

    def __init__(self) -> None:
        self._line = LiveLine()
        self._next = time.monotonic() + FIRST

    def __call__(self, text: str) -> None:
        """Show a line, if it is time to."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + self._line.every
        self._line.show(text)

    def close(self) -> None:
        """Take the line away."""
        self._line.clear()

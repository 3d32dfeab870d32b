"""What a user sees while the closure is brought up to date: a line on stderr."""

from __future__ import annotations

import sys
import time

FIRST = 0.5
"""Seconds until there is something to see."""


class ProgressLine:
    """What is going on, on stderr: on a terminal ten times a second, elsewhere now and then."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._next = time.monotonic() + FIRST
        self._written = False

    def __call__(self, text: str) -> None:
        """Show a line, if it is time to."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (0.1 if self._terminal else 5.0)
        sys.stderr.write(f"\r\x1b[K{text}" if self._terminal else f"{text}\n")
        sys.stderr.flush()
        self._written = True

    def close(self) -> None:
        """Take the line away."""
        if self._written and self._terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

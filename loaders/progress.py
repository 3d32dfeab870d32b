"""The progress of a load: a bar on a terminal, a line every few seconds elsewhere.

Start at `Progress`. It writes to stderr only: ten times a second on a terminal, every five seconds
otherwise, and nothing for loads of less than half a second.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from typing import TextIO

from triplestore.live_line import LiveLine

_QUIET = 0.5
_BAR = 24


class Progress:
    """A bar with rate and estimate; `total` is in bytes, None if unknown."""

    def __init__(
        self,
        total: int | None,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._line = LiveLine(stream)
        self._clock = clock
        self._total = total
        self._began = clock()
        self._next = self._began + _QUIET

    def update(self, done: int, statements: int, note: str = "") -> None:
        """Update the bar, if it is time."""
        now = self._clock()
        if now < self._next:
            return
        self._next = now + self._line.every
        text = self._text(done, statements, now - self._began, note)
        if self._line.on_terminal:
            text = text[: shutil.get_terminal_size().columns - 1]
        self._line.show(text)

    def close(self) -> None:
        """Remove the bar."""
        self._line.clear()

    def _text(self, done: int, statements: int, seconds: float, note: str) -> str:
        rate = statements / seconds if seconds > 0 else 0.0
        parts = [f"{statements:,} statements", f"{_short(rate)}/s"] if statements else ["reading"]
        if self._total:
            share = min(1.0, done / self._total)
            filled = round(share * _BAR)
            bar = "#" * filled + "." * (_BAR - filled)
            parts.insert(0, f"[{bar}] {share:4.0%}")
            if share > 0:
                parts.append(f"{_clock_text(seconds * (1 - share) / share)} left")
        if note:
            parts.append(note)
        return "  ".join(parts)


def _short(number: float) -> str:
    for unit in ("", "k", "M"):
        if number < 1000:
            return f"{number:.3g}{unit}"
        number /= 1000
    return f"{number:.3g}G"


def _clock_text(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"

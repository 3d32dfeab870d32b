"""Budgets as texts: start at `limits_of`."""

from __future__ import annotations

import re
import time

from triplestore.comparison.sides.states import Limits
from triplestore.errors import TimeLimitError, UsageError

_SECONDS = {"s": 1, "sec": 1, "min": 60, "m": 60, "h": 3600}
_BYTES = {"kb": 1000, "mb": 1000**2, "gb": 1000**3, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]+)")


def limits_of(budget: str | None) -> Limits:
    """The limits that a text names: times, sizes, or one of each.

    >>> limits_of("2GB, 10min")
    Limits(seconds=600.0, bytes=2000000000)
    """
    found: dict[str, float] = {}
    for part in (budget or "").split(","):
        if not part.strip():
            continue
        match = _PART.fullmatch(part.strip())
        unit = match[2].lower() if match else ""
        kind = "seconds" if unit in _SECONDS else "bytes"
        scale = _SECONDS.get(unit) or _BYTES.get(unit)
        if match is None or scale is None or kind in found:
            raise UsageError(f"{budget!r} is not a budget; use for example 90s, 10min, 2GB or both")
        found[kind] = float(match[1]) * scale
    size = found.get("bytes")
    return Limits(found.get("seconds"), None if size is None else int(size))


class Deadline:
    """The end of the time of a whole comparison, for `thread_limits.limited`.

    >>> Deadline(0.0).look("looking for causes")
    Traceback (most recent call last):
    triplestore.errors.TimeLimitError: the comparison took more than 0 seconds, while looking for
    causes; nothing has changed; raise its budget, or compare less
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def look(self, about: object) -> None:
        """Raise if the time is over."""
        if time.monotonic() >= self._end:
            where = f", while {about}" if isinstance(about, str) else ""
            raise TimeLimitError(
                f"the comparison took more than {self._seconds:g} seconds{where}; nothing has "
                "changed; raise its budget, or compare less"
            )

    def needs(self, size: int) -> None:
        """Memory is limited where facts are inferred."""

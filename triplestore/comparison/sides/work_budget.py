"""Budgets as texts: start at `limits_of`."""

from __future__ import annotations

import re

from triplestore.comparison.sides.states import Limits
from triplestore.errors import UsageError

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

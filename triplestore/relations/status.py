"""The status of a row: one small number, whose bits also serve as a filter.

A row *holds* if its status is not 0. `EXPLICIT` and `INFERRED` partition what holds: explicit is
what somebody stated, inferred what holds and was not stated. A filter (`where`) is a mask of
statuses: a row passes if `status & where` is not 0.

    >>> bool(INFERRED & HOLDS), bool(INFERRED & EXPLICIT)
    (True, False)
"""

from __future__ import annotations

REMOVED = 0
"""In a layer: the row does not hold any more."""

EXPLICIT = 1
"""Somebody stated it."""

INFERRED = 2
"""It follows, and was not stated."""

HOLDS = EXPLICIT | INFERRED
"""The filter that lets all rows pass that hold, whatever their status."""

STATUS_BITS = 4
"""A status fits in this many bits; two of them make the byte that the journal keeps."""

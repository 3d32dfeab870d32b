"""The status of a row: one small number, whose bits also serve as a filter.

A row *holds* if its status is not 0. Rows that hold are either `EXPLICIT` (asserted) or `INFERRED`
(inferred and not asserted). A filter (`where`) is a mask of statuses: a row passes if
`status & where` is not 0.

    >>> bool(INFERRED & HOLDS), bool(INFERRED & EXPLICIT)
    (True, False)
"""

from __future__ import annotations

REMOVED = 0
"""In a layer: the row is deleted."""

EXPLICIT = 1
"""The row is asserted."""

INFERRED = 2
"""The row is inferred and not asserted."""

HOLDS = EXPLICIT | INFERRED
"""The filter that all rows that hold pass."""

STATUS_BITS = 4
"""The number of bits of a status; a byte of the journal holds two statuses."""

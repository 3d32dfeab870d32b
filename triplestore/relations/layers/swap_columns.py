"""Sorted rows turned round: first and second id changed over, and sorted again.

Start reading at `turned`. The rows are counted by their second id and put where it says; as they
come in the order of the first, nothing is compared: a third of what sorting takes. Where second ids
are far apart beside the number of rows, counting them all would cost more, and rows are sorted.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np

from triplestore.relations.packed_keys import U8, U32, U64, swap

_LEAST = 1 << 12
"""Rows from which counting is worth it."""

_SPAN = 8
"""So many ids there may be for each row then."""

_PIECE = 1 << 20
"""Rows for one call of a kernel, so that Ctrl-C is not kept waiting."""


def turned(keys: U64, out: U64 | None = None) -> U64:
    """Sorted keys with their ids changed over, sorted; written to `out`, if it is given.

    >>> keys = np.array([1 << 32 | 9, 2 << 32 | 7], np.uint64)
    >>> [divmod(key, 1 << 32) for key in turned(keys).tolist()]
    [(7, 2), (9, 1)]
    """
    found = _cursors(keys)
    if found is None:
        made = swap(keys, out)
        made.sort()
        return made
    out = np.empty(len(keys), dtype=np.uint64) if out is None else out
    least, cursors = found
    for at in range(0, len(keys), _PIECE):
        _kernels().turn_by_second(keys[at : at + _PIECE], least, cursors, out)
    return out


def turned_rows(keys: U64, status: U8, counts: U32) -> tuple[U64, U8, U32]:
    """The same with what stands beside each row."""
    found = _cursors(keys)
    if found is None:
        made = swap(keys)
        order = np.argsort(made)
        return made[order], status[order], counts[order]
    least, cursors = found
    size = len(keys)
    out = np.empty(size, np.uint64), np.empty(size, np.uint8), np.empty(size, np.uint32)
    for at in range(0, size, _PIECE):
        piece = slice(at, at + _PIECE)
        rows = keys[piece], status[piece], counts[piece]
        _kernels().turn_rows_by_second(*rows, least, cursors, *out)
    return out


def _cursors(keys: U64) -> tuple[np.uint64, U32] | None:
    """The least second id, and where the keys of each one begin when they are sorted by it; None
    where sorting is as fast."""
    if not _LEAST <= len(keys) < 1 << 32:
        return None
    kernels = _kernels()
    pieces = [keys[at : at + _PIECE] for at in range(0, len(keys), _PIECE)]
    bounds = keys[:1].repeat(2) & np.uint64(0xFFFFFFFF)
    for piece in pieces:
        kernels.second_bounds(piece, bounds)
    span = int(bounds[1] - bounds[0]) + 1
    if span > _SPAN * len(keys):
        return None
    cursors = np.zeros(span, dtype=np.uint32)
    for piece in pieces:
        kernels.count_seconds(piece, bounds[0], cursors)
    kernels.begin_cursors(cursors)
    return bounds[0], cursors


def _kernels() -> ModuleType:
    """Importing them costs more than few rows do."""
    from triplestore.kernels.rows import swap_columns

    return swap_columns

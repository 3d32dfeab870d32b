"""Sets of quads as sorted keys of four ids (subject, predicate, object, graph).

Start reading at `rows_of`. A key sorts like its ids, in the byte order of `key_of`.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplestore.relations.packed_keys import U32, Bools, Columns, columns_of, distinct, key_of

QuadRows: TypeAlias = "NDArray[np.bytes_]"
"""Sorted, distinct keys of quads."""

NO_ROWS: QuadRows = np.zeros(0, dtype="S16")


def rows_of(s: U32, p: U32, o: U32, g: U32) -> QuadRows:
    """The quads of some columns."""
    if not len(s):
        return NO_ROWS
    keys = np.sort(key_of((s, p, o, g)))
    found: QuadRows = distinct(keys)
    return found


def united(parts: list[QuadRows]) -> QuadRows:
    """All quads of several sets."""
    filled = [part for part in parts if len(part)]
    if len(filled) < 2:
        return filled[0] if filled else NO_ROWS
    found: QuadRows = distinct(np.sort(np.concatenate(filled)))
    return found


def within(rows: QuadRows, known: QuadRows) -> Bools:
    """Which quads of a set are in another one."""
    if not len(known) or not len(rows):
        return np.zeros(len(rows), np.bool_)
    at = np.minimum(known.searchsorted(rows), len(known) - 1)
    found: Bools = known[at] == rows
    return found


def without(rows: QuadRows, known: QuadRows) -> QuadRows:
    """The quads that are not in another set."""
    found: QuadRows = rows[~within(rows, known)]
    return found


def columns_in(rows: QuadRows) -> Columns:
    """The ids of quads: subjects, predicates, objects and graphs."""
    return columns_of(rows, 4)

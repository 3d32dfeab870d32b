"""The answers of several parts of a view, concatenated."""

from __future__ import annotations

import numpy as np

from triplestore.relations.packed_keys import I64, Columns


def joined(found: list[tuple[I64, Columns]]) -> tuple[I64, Columns]:
    """All rows of at least one answer (numbers of values, columns)."""
    if len(found) == 1:
        return found[0]
    index = np.concatenate([f[0] for f in found])
    columns = zip(*(f[1] for f in found), strict=True)
    return index, tuple(np.concatenate(column) for column in columns)

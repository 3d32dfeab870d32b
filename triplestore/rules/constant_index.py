"""The constants of a family by some of their columns, to be looked up. Start at `TableIndex`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplestore.relations.facts.sorted_arrays import match
from triplestore.relations.packed_keys import I64, U32, Keys, key_of, pack


class TableIndex:
    """Rows of a table by some of its columns.

    By one column: the rows as pairs (value, number of the row), which are looked up as relations
    are. By several: sorted keys, and the number of the row that each is of.
    """

    def __init__(self, columns: list[U32]) -> None:
        self.alone = len(columns) == 1
        numbers = np.arange(len(columns[0]), dtype=np.uint32)
        if self.alone:
            self.keys: Keys = np.sort(pack(columns[0], numbers))
        else:
            keys = key_of(columns)
            self.order = np.argsort(keys, kind="stable")
            self.keys = keys[self.order]

    def match(self, values: list[U32]) -> tuple[I64, NDArray[np.integer[Any]]]:
        """(number of the value, row of the table) for all pairs that are equal."""
        if self.alone:
            return match(values[0], self.keys)
        wanted = key_of(values)
        lo = self.keys.searchsorted(wanted)
        sizes = self.keys.searchsorted(wanted, side="right") - lo
        index = np.repeat(np.arange(len(wanted)), sizes)
        rows = np.arange(len(index)) + np.repeat(lo - (np.cumsum(sizes) - sizes), sizes)
        return index, self.order[rows]

"""The constants of a family, joined with a frame: one row for each rule of the family."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplestore.engine.families import Family
from triplestore.engine.frames import Rows, column, take
from triplestore.engine.plans import TableStep
from triplestore.engine.sets.arrays import match
from triplestore.tables.rows import I64, U32, Keys, key_of, pack


def join_table(family: Family, step: TableStep, rows: Rows, n: int) -> tuple[Rows, int]:
    """Join a frame with the family's constants."""
    table = family.table
    assert table is not None
    columns = dict(zip(table.variables, table.columns, strict=True))
    if not step.bound:
        size = len(family.rules)
        empty = n == 1 and not any(c is not None for c in rows)
        made: Rows = (
            [None] * len(rows) if empty else take(rows, np.repeat(np.arange(n), size), step.keep)
        )
        for variable in step.free:
            made[variable] = columns[variable] if empty else np.tile(columns[variable], n)
        return made, n * size
    index = family.plans.get(step.bound)
    if index is None:  # the table's rows as a relation, with their numbers in the last column
        index = family.plans[step.bound] = _TableIndex([columns[v] for v in step.bound])
    places, found = index.match([column(rows, v, n) for v in step.bound])
    made = take(rows, places, step.keep)
    for variable in step.free:
        made[variable] = columns[variable][found]
    return made, len(places)


class _TableIndex:
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

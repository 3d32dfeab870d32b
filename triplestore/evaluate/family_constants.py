"""The constants of a family, joined with a frame: one row for each rule of the family."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplestore.evaluate.binding_frames import Rows, column, take
from triplestore.relations.facts.sorted_arrays import match
from triplestore.relations.packed_keys import (
    I64,
    NO_IDS,
    SHIFT,
    U32,
    U64,
    Keys,
    high,
    key_of,
    low,
    pack,
)
from triplestore.rules.body_plans import TableStep
from triplestore.rules.families import Family

SLICES = "slices"
"""What a family's plans call the constants by which it takes slices of changed facts."""

LOW = np.uint64(0xFFFFFFFF)


def join_table(family: Family, step: TableStep, rows: Rows, n: int) -> tuple[Rows, int]:
    """Join a frame with the family's constants."""
    table = family.table
    assert table is not None
    columns = dict(zip(table.variables, table.columns, strict=True))
    if not step.bound:
        size = len(family.rules)
        empty = n == 1 and not any(c is not None for c in rows)
        # Rule after rule, so that what is looked up next comes in the order of the frame.
        made: Rows = (
            [None] * len(rows) if empty else take(rows, np.tile(np.arange(n), size), step.keep)
        )
        for variable in step.free:
            made[variable] = columns[variable] if empty else np.repeat(columns[variable], n)
        return made, n * size
    index = family.plans.get(step.bound)
    if index is None:  # the table's rows as a relation, with their numbers in the last column
        index = family.plans[step.bound] = _TableIndex([columns[v] for v in step.bound])
    places, found = index.match([column(rows, v, n) for v in step.bound])
    made = take(rows, places, step.keep)
    for variable in step.free:
        made[variable] = columns[variable][found]
    return made, len(places)


def slices_of(family: Family, term: int, keys: U64) -> tuple[U32, U32] | None:
    """Of sorted keys those whose first id is one of the constants that a variable of the table
    stands for, as columns; None if reading all keys costs less than looking for each constant."""
    table = family.table
    if table is None or term not in table.variables:
        return None
    firsts: U64 | None = family.plans.get((SLICES, term))
    if firsts is None:
        column = table.columns[table.variables.index(term)]
        firsts = family.plans[SLICES, term] = np.unique(column).astype(np.uint64) << SHIFT
    if len(firsts) * 8 > len(keys):
        return None
    lo, hi = keys.searchsorted(firsts), keys.searchsorted(firsts | LOW, side="right")
    found = (lo < hi).nonzero()[0]
    pieces = [keys[i:j] for i, j in zip(lo[found].tolist(), hi[found].tolist(), strict=True)]
    if not pieces:
        return NO_IDS, NO_IDS
    every = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
    return high(every), low(every)


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

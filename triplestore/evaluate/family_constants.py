"""The constants of a family, joined with a frame: one row for each rule of the family."""

from __future__ import annotations

import numpy as np

from triplestore.evaluate.binding_frames import Rows, column, take
from triplestore.relations.packed_keys import (
    NO_IDS,
    SHIFT,
    U32,
    U64,
    high,
    low,
)
from triplestore.rules.body_plans import TableStep
from triplestore.rules.constant_index import TableIndex
from triplestore.rules.families import Family

_LOW = np.uint64(0xFFFFFFFF)


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
    indexes = family.known.indexes
    index = indexes.get(step.bound)
    if index is None:  # the table's rows as a relation, with their numbers in the last column
        index = indexes[step.bound] = TableIndex([columns[v] for v in step.bound])
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
    slices = family.known.slices
    firsts = slices.get(term)
    if firsts is None:
        column = table.columns[table.variables.index(term)]
        firsts = slices[term] = np.unique(column).astype(np.uint64) << SHIFT
    if len(firsts) * 8 > len(keys):
        return None
    lo, hi = keys.searchsorted(firsts), keys.searchsorted(firsts | _LOW, side="right")
    found = (lo < hi).nonzero()[0]
    pieces = [keys[i:j] for i, j in zip(lo[found].tolist(), hi[found].tolist(), strict=True)]
    if not pieces:
        return NO_IDS, NO_IDS
    every = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
    return high(every), low(every)

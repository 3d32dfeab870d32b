"""The constants of a family, joined with a frame: one row for each rule of the family."""

from __future__ import annotations

import numpy as np

from triplestore.engine.families import Family
from triplestore.engine.frames import Rows, column, take
from triplestore.engine.plans import TableStep
from triplestore.tables.rows import I64, U32, Keys, key_of


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
    """Rows of a table by some of its columns."""

    def __init__(self, columns: list[U32]) -> None:
        keys = key_of(columns)
        self.order = np.argsort(keys, kind="stable")
        self.keys = keys[self.order]

    def match(self, values: list[U32]) -> tuple[I64, I64]:
        """(number of the value, row of the table) for all pairs that are equal."""
        wanted = key_of(values)
        if len(self.keys) * 4 < len(wanted):
            return self._match_many(wanted)
        lo = self.keys.searchsorted(wanted)
        sizes = self.keys.searchsorted(wanted, side="right") - lo
        index = np.repeat(np.arange(len(wanted)), sizes)
        rows = np.arange(len(index)) + np.repeat(lo - (np.cumsum(sizes) - sizes), sizes)
        return index, self.order[rows]

    def _match_many(self, wanted: Keys) -> tuple[I64, I64]:
        """Where the values are mostly in order, as classes of a sorted batch are: run by run."""
        begins = np.flatnonzero(np.concatenate(([True], wanted[1:] != wanted[:-1])))
        if len(begins) * 4 > len(wanted):
            begins = np.arange(len(wanted))
        lengths = np.diff(begins, append=len(wanted))
        lo = self.keys.searchsorted(wanted[begins])
        sizes = self.keys.searchsorted(wanted[begins], side="right") - lo
        hit = sizes > 0
        lo, sizes, begins, lengths = lo[hit], sizes[hit], begins[hit], lengths[hit]
        # every row of a run meets every row of its range
        per_row = np.repeat(sizes, lengths)
        rows_at = np.arange(int(lengths.sum())) + np.repeat(
            begins - (np.cumsum(lengths) - lengths), lengths
        )
        index = np.repeat(rows_at, per_row)
        start = np.repeat(np.repeat(lo, lengths), per_row)
        offset = np.arange(len(index)) - np.repeat(np.cumsum(per_row) - per_row, per_row)
        return index, self.order[start + offset]

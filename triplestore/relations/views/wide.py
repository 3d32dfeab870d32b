"""Relations of one, three or more columns, as user-defined rules make them.

Start reading at `TupleRelation`. Rows are compared as keys of all columns (see `packed_keys`). A
look-up by leading columns is a binary search; one by other columns uses an order that each run
makes at the first such look-up and keeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from triplestore.relations.layers.sorted_order import filter_keys, newest, ranges
from triplestore.relations.layers.wide_rows import TupleRun
from triplestore.relations.packed_keys import (
    I64,
    NO_IDS,
    U8,
    U32,
    Columns,
    Keys,
    columns_of,
    distinct,
    key_of,
)
from triplestore.relations.relation import BLOCK, Answering
from triplestore.relations.status import HOLDS


class TupleRelation(Answering):
    """The rows of one relation of `arity` columns, read through all layers.

    >>> import numpy as np
    >>> from triplestore.relations import ChangedRows, Changes, Layer, Tables
    >>> rows = ChangedRows.of(([1, 1], [2, 3], [4, 4]))
    >>> tables = Tables([Layer.build(Changes(tuples={(9, 3): rows}))])
    >>> index, free = tables.tuples(9, 3).probe([2], [np.array([4], np.uint32)])
    >>> index.tolist(), [column.tolist() for column in free]
    ([0, 0], [[1, 1], [2, 3]])
    """

    __slots__ = ("_runs", "arity", "explicit", "inferred", "name")

    def __init__(self, name: int, arity: int, runs: tuple[TupleRun, ...]) -> None:
        self.name = name
        self.arity = arity
        self._runs = runs
        self.explicit = sum(run.explicit for run in runs)
        self.inferred = sum(run.inferred for run in runs)

    def __repr__(self) -> str:
        return f"<relation {self.name}/{self.arity}: {len(self)} rows in {len(self._runs)} runs>"

    def keys(self, where: int = HOLDS) -> Keys:
        """All rows as sorted keys."""
        parts = [(run.keys, run.statuses()) for run in self._runs]
        return filter_keys(*newest(parts), where) if parts else key_of([NO_IDS] * self.arity)

    def scan(
        self,
        where: int = HOLDS,
        *,
        order: int = 0,
        first: int | None = None,
        block_rows: int = BLOCK,
    ) -> Iterator[Columns]:
        """All rows in blocks of columns; see `Relation.scan`."""
        if first is None:
            columns = columns_of(self.keys(where), self.arity)
            if order:
                places = [order, *(place for place in range(self.arity) if place != order)]
                sort = np.argsort(key_of([columns[place] for place in places]))
                columns = tuple(column[sort] for column in columns)
        else:
            index, free = self.probe([order], [np.array([first], dtype=np.uint32)], where)
            known = np.full(len(index), first, dtype=np.uint32)
            columns = (*free[:order], known, *free[order:])
        for start in range(0, len(columns[0]), block_rows):
            yield tuple(column[start : start + block_rows] for column in columns)

    def probe(
        self, columns: Sequence[int], values: Sequence[U32], where: int = HOLDS
    ) -> tuple[I64, Columns]:
        """The rows with these values; see `Relation.probe`."""
        bounds = [_bounds(run, columns, values) for run in self._runs]
        return self._expand(columns, bounds, where)

    def fanout(self, columns: Sequence[int], values: Sequence[U32]) -> I64:
        """For each i how many rows a probe looks at."""
        sizes = np.zeros(len(values[0]), dtype=np.int64)
        for run in self._runs:
            lo, hi, _ = _bounds(run, columns, values)
            sizes += hi - lo
        return sizes

    def status_of(self, rows: Columns) -> U8:
        """The statuses of these rows; 0 for those that do not hold."""
        status = np.zeros(len(rows[0]), dtype=np.uint8)
        for run, found, places in self._found(key_of(rows)):
            status[found] = run.statuses()[places]
        return status

    def count_of(self, rows: Columns) -> U32:
        """The counts kept with these rows; 0 for those that do not hold."""
        counts = np.zeros(len(rows[0]), dtype=np.uint32)
        for run, found, places in self._found(key_of(rows)):
            counts[found] = np.where(run.statuses()[places], run.counts()[places], 0)
        return counts

    def _found(self, keys: Keys) -> Iterator[tuple[TupleRun, I64, I64]]:
        """(run, positions in `keys`, positions in the run): each key in the newest run with it."""
        open_ = np.arange(len(keys))
        for run in reversed(self._runs):
            stored = run.keys
            wanted = keys[open_]
            places = np.minimum(stored.searchsorted(wanted), len(stored) - 1)
            found = stored[places] == wanted
            yield run, open_[found], places[found]
            open_ = open_[~found]

    def distinct(self, column: int, where: int = HOLDS) -> U32:
        """The ids that occur in this column, increasing."""
        return distinct(np.sort(columns_of(self.keys(where), self.arity)[column]))

    def distinct_estimate(self, column: int) -> int:
        """An estimate without counting: each column is assumed to divide the rows equally."""
        return int(len(self) ** (1.0 / self.arity))

    def estimate(self, bound: Sequence[int] = ()) -> float:
        """How many rows to expect when these columns are given; exact for none.

        All columns together leave one row at most.
        """
        share = len(set(bound)) / self.arity
        return float(len(self) ** (1.0 - share)) if len(self) else 0.0

    def _expand(
        self, columns: Sequence[int], bounds: list[tuple[I64, I64, I64 | None]], where: int
    ) -> tuple[I64, Columns]:
        """The rows between the bounds; where runs overlap, the newest entry for a row wins."""
        free_places = [place for place in range(self.arity) if place not in columns]
        parts = []
        for run, (lo, hi, positions) in zip(self._runs, bounds, strict=True):
            rows = ranges(lo, hi - lo)
            if len(rows) == 0:
                continue
            index = np.repeat(np.arange(len(lo), dtype=np.uint32), hi - lo)
            rows = rows if positions is None else positions[rows]
            stored = columns_of(run.keys[rows], self.arity)
            keys = key_of([index, *(stored[place] for place in free_places)])
            # Sorted by index; rows of one index agree in the given columns, and are in order.
            parts.append((keys, run.statuses()[rows]))
        if not parts:
            return np.zeros(0, dtype=np.int64), (NO_IDS,) * len(free_places)
        keys = filter_keys(*newest(parts), where)
        index, *free = columns_of(keys, 1 + len(free_places))
        return index.astype(np.int64), tuple(free)


def _bounds(
    run: TupleRun, columns: Sequence[int], values: Sequence[U32]
) -> tuple[I64, I64, I64 | None]:
    """Where the rows with these values begin and end, and which rows these positions stand for."""
    by_place = sorted(zip(columns, values, strict=True), key=lambda pair: pair[0])
    leading = [place for place, _ in by_place]
    wanted = [value for _, value in by_place]
    if leading == list(range(len(leading))):
        rest = run.arity - len(leading)
        lowest = np.zeros(len(wanted[0]), dtype=np.uint32)
        highest = np.full(len(wanted[0]), 0xFFFFFFFF, dtype=np.uint32)
        lo = run.keys.searchsorted(key_of([*wanted, *[lowest] * rest]))
        hi = run.keys.searchsorted(key_of([*wanted, *[highest] * rest]), "right")
        return lo, hi, None
    keys, positions = run.ordered_by(leading)
    needles = key_of(wanted)
    return keys.searchsorted(needles), keys.searchsorted(needles, "right"), positions

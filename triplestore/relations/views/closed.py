"""Closed relations: stored rows, and all pairs of their closure, which are not stored.

Start reading at `ClosedRelation`. The stored rows are the edges of the closure: facts that are
asserted or that other rules derive, with statuses and counts of their own. Every other pair of the
closure is inferred and has no count. Pairs are looked up in the closure from either side, and
listed in blocks; only `keys` and `runs` write all of them out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from triplestore.relations.layers.sorted_order import SortedRun, bounded_groups, make_order
from triplestore.relations.packed_keys import (
    I64,
    NO_KEYS,
    U8,
    U32,
    U64,
    Bools,
    Columns,
    in_sorted,
    pack,
    swap,
)
from triplestore.relations.pair_relation import PairRelation
from triplestore.relations.relation import BLOCK
from triplestore.relations.status import EXPLICIT, HOLDS, INFERRED
from triplestore.relations.views.plain import BACKWARD, FORWARD, PlainRelation


def resolved(pairs: Any, read: Callable[[int, bool], PairRelation]) -> PairRelation:
    """The pairs; a union that only names its parts becomes a view of these.

    read  the pairs of a relation; with True only those stored as rows
    """
    over = getattr(type(pairs), "over", None)  # of the class: some instances are built on demand
    found: PairRelation = pairs if over is None else over(pairs, read)
    return found


class ClosedRelation(PlainRelation):
    """A relation of two columns of which the closure holds, and is not stored.

    rows    what is stored
    closed  the pairs; those of the stored rows are among them
    """

    __slots__ = ("_distinct", "_written", "closed", "rows")

    def __init__(self, rows: PlainRelation, closed: PairRelation) -> None:
        inferred = max(0, closed.count() - rows.explicit)
        super().__init__(rows.name, (), (), rows.explicit, inferred)
        self.rows = rows
        self.closed = closed
        self._written: dict[int, tuple[SortedRun, ...]] = {}
        self._distinct: dict[int, int] = {}

    def __repr__(self) -> str:
        return f"<relation {self.name}: closure of {len(self.rows)} rows, {len(self)} pairs>"

    @property
    def stored_rows(self) -> int:
        """How many pairs there are: at least as many as hold."""
        return max(len(self), self.rows.stored_rows)

    def runs(self, order: int) -> tuple[SortedRun, ...]:
        """All pairs as one run, written out."""
        found = self._written.get(order)
        if found is None:
            blocks = list(self.closed.blocks(swapped=order == BACKWARD))
            keys = np.concatenate(blocks) if blocks else NO_KEYS
            status = np.full(len(keys), INFERRED, dtype=np.uint8)
            stated = in_sorted(keys, self.rows.keys(order, EXPLICIT))
            status[stated] = EXPLICIT
            names = np.full(len(keys), self.name, dtype=np.uint32)
            made = make_order(names, keys, status=status)
            found = self._written[order] = (made.run(0),) if len(keys) else ()
        return found

    def match_counts(self, place: int, values: U32) -> I64:
        """The number of pairs with each of these ids in one place."""
        return self.closed.match_counts(place, values)

    # -- slices ---------------------------------------------------------------------------------

    def _slice(self, order: int, first: int, where: int) -> U32:
        if where == EXPLICIT:
            return self.rows._slice(order, first, where)
        found = self.closed.match(order, np.array([first], dtype=np.uint32))[1]
        if where == INFERRED:
            found = found[~in_sorted(found, self.rows._slice(order, first, EXPLICIT))]
        return found

    # -- scans ----------------------------------------------------------------------------------

    def keys(self, order: int = FORWARD, where: int = HOLDS) -> U64:
        """All rows as packed keys, sorted, written out."""
        if where == EXPLICIT:
            return self.rows.keys(order, where)
        blocks = list(self.scan_keys(where, order=order))
        return np.concatenate(blocks) if blocks else NO_KEYS

    def scan_keys(
        self,
        where: int = HOLDS,
        *,
        order: int = FORWARD,
        first: int | None = None,
        block_rows: int = BLOCK,
    ) -> Iterator[U64]:
        """`scan`, with rows as packed keys (second id in front in the backward order)."""
        if where == EXPLICIT:
            yield from self.rows.scan_keys(where, order=order, first=first, block_rows=block_rows)
            return
        if first is not None:
            seconds = self._slice(order, first, where)
            for at in range(0, len(seconds), block_rows):
                part = seconds[at : at + block_rows]
                yield pack(np.full(len(part), first, dtype=np.uint32), part)
            return
        stated = self.rows.keys(order, EXPLICIT) if where == INFERRED else NO_KEYS
        for block in self.closed.blocks(block_rows, swapped=order == BACKWARD):
            keys = block
            if len(stated):
                keys = keys[~in_sorted(keys, stated)]
            if len(keys):
                yield keys

    def distinct(self, column: int, where: int = HOLDS) -> U32:
        """The ids that occur in this column, increasing."""
        if where == HOLDS:
            return self.closed.distinct(column)
        return super().distinct(column, where)

    # -- batches --------------------------------------------------------------------------------

    def probe_blocks(
        self,
        columns: Sequence[int],
        values: Sequence[U32],
        where: int = HOLDS,
        block_rows: int = BLOCK,
    ) -> Iterator[tuple[I64, Columns]]:
        """`probe` in pieces of about `block_rows`, except that one value's rows stay together."""
        if where == EXPLICIT:
            yield from self.rows.probe_blocks(columns, values, where, block_rows)
            return
        if len(columns) == 2:
            yield from super().probe_blocks(columns, values, where, block_rows)
            return
        place, ids = columns[0], values[0]
        sizes = self.closed.match_counts(place, ids)
        for start, stop in bounded_groups(sizes, block_rows):
            part = ids[start:stop]
            index, found = self.closed.match(place, part)
            if where == INFERRED and len(index):
                ends = (part[index], found) if place == 0 else (found, part[index])
                keep = self.rows.status_of(ends) != EXPLICIT
                index, found = index[keep], found[keep]
            for at in range(0, len(index), block_rows):
                stop_at = at + block_rows
                yield index[at:stop_at] + start, (found[at:stop_at],)

    def fanout(self, columns: Sequence[int], values: Sequence[U32]) -> I64:
        """For each value how many rows a probe looks at."""
        if len(columns) == 2:
            return np.ones(len(values[0]), dtype=np.int64)
        return self.closed.match_counts(columns[0], values[0])

    def rows_with(self, column: int, value: int) -> int:
        """How many rows a look-up of one id in a column reads."""
        return int(self.fanout((column,), (np.array([value], dtype=np.uint32),))[0])

    def status(self, first: int, second: int) -> int:
        """The status of one row; 0 if it does not hold."""
        status = self.rows.status(first, second)
        if status == 0:
            key = np.array([first << 32 | second], dtype=np.uint64)
            status = INFERRED if self.closed.contains_keys(key)[0] else 0
        return status

    def status_of_keys(self, keys: U64, order: int = FORWARD) -> U8:
        """The statuses of rows given as packed keys, in any order; see `PlainRelation`."""
        status = self.rows.status_of_keys(keys, order)
        return self._with_closed(keys if order == FORWARD else swap(keys), status)

    def look_up_keys(self, keys: U64) -> tuple[U8, U32]:
        """The statuses and the counts of rows given as packed keys; 0 where they do not hold."""
        status, counts = self.rows.look_up_keys(keys)
        return self._with_closed(keys, status), counts

    def _with_closed(self, keys: U64, status: U8) -> U8:
        """Statuses, given those of the stored rows."""
        open_ = np.flatnonzero(status == 0)
        if len(open_):
            held = self.closed.contains_keys(keys[open_])
            status[open_[held]] = INFERRED
        return status

    def count_of(self, rows: Columns) -> U32:
        """The counts kept with these rows; 0 for those that have none."""
        return self.rows.count_of(rows)

    def semijoin(self, column: int, ids: U32, where: int = HOLDS) -> Bools:
        """Which of `ids` occur in this column, without listing the rows."""
        if where == EXPLICIT:
            return self.rows.semijoin(column, ids, where)
        occurs: Bools = self.closed.match_counts(column, ids) > 0
        if where == HOLDS:
            return occurs
        (places,) = occurs.nonzero()
        occurs[:] = False
        for index, _ in self.probe_blocks((column,), (ids[places],), where):
            occurs[places[index]] = True
        return occurs

    # -- statistics -----------------------------------------------------------------------------

    def distinct_estimate(self, column: int) -> int:
        """The number of ids in this column: counted once, because every plan needs it."""
        found = self._distinct.get(column)
        if found is None:
            found = self._distinct[column] = len(self.closed.distinct(column))
        return found

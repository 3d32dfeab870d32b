"""Plain relations: two columns of stored rows, read through all layers of a snapshot.

Start reading at `PlainRelation`. It holds, oldest first, the run of each layer that has rows of the
relation, in both orders. Where one run has all rows that matter, reading is slicing: views, no
copies. Otherwise the slices of several runs are merged, and the newest entry for a row wins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from triplestore.relations.layers.sorted_order import (
    SortedRun,
    bounded_groups,
    filter_keys,
    newest,
    ranges,
    windows,
)
from triplestore.relations.layers.table import Table
from triplestore.relations.packed_keys import (
    I64,
    NO_IDS,
    NO_KEYS,
    SHIFT,
    U8,
    U32,
    U64,
    Bools,
    Columns,
    distinct,
    high,
    least_keys,
    low,
    pack,
)
from triplestore.relations.pair_relation import PairRelation
from triplestore.relations.relation import BLOCK, Answering
from triplestore.relations.status import HOLDS
from triplestore.relations.thresholds import RELATIONS

FORWARD, BACKWARD = 0, 1

_FEW = 16
"""Number of rows that `few` reads at first."""


class PlainRelation(Answering, PairRelation):
    """The rows of one relation of two columns.

    >>> import numpy as np
    >>> from triplestore.relations import Tables, bulk_layer
    >>> s, p, o = np.array([[1, 9, 5], [1, 9, 6], [2, 9, 5]], dtype=np.uint32).T
    >>> knows = Tables([bulk_layer(p, s, o)]).relation(9)
    >>> len(knows), knows.by_first(1).tolist(), knows.by_second(5).tolist()
    (3, [5, 6], [1, 2])
    """

    __slots__ = ("_runs", "_sources", "explicit", "inferred", "name")

    arity = 2

    def __init__(
        self,
        name: int,
        forward: tuple[SortedRun, ...],
        backward: tuple[SortedRun, ...],
        explicit: int,
        inferred: int,
        sources: tuple[tuple[Table, int], ...] = (),
    ) -> None:
        self.name = name
        self.explicit = explicit
        self.inferred = inferred
        self._runs = forward, backward
        self._sources = sources

    def __repr__(self) -> str:
        runs = len(self._runs[FORWARD])
        return f"<relation {self.name}: {len(self)} rows in {runs} runs>"

    @property
    def stored_rows(self) -> int:
        """How many rows the runs have together: at least as many as hold."""
        return sum(len(run) for run in self._runs[FORWARD])

    def runs(self, order: int) -> tuple[SortedRun, ...]:
        """The runs of one order (0: by first id, 1: by second), oldest first."""
        return self._runs[order]

    # -- slices ---------------------------------------------------------------------------------

    def by_first(self, first: int, where: int = HOLDS) -> U32:
        """The second ids of the rows with this first id, increasing."""
        return self._slice(FORWARD, first, where)

    def by_second(self, second: int, where: int = HOLDS) -> U32:
        """The first ids of the rows with this second id, increasing."""
        return self._slice(BACKWARD, second, where)

    def few(self, order: int, first: int, where: int, most: int) -> list[int] | None:
        """The other ids of the rows with this one (0: as first id, 1: as second), increasing; None
        if more than `most` rows have it. A list, which is faster to make of few rows."""
        runs = self._runs[order]
        if len(runs) == 1 and runs[0].uniform is not None:
            run, least, above = runs[0], first << 32, (first + 1) << 32
            if not runs[0].uniform & where:
                return []
            lo = run.keys.search(least, run.lo, run.hi)
            for size in (_FEW, most + 1):
                keys = run.keys.listed(lo, min(lo + size, run.hi))
                if len(keys) < size or keys[-1] >= above:
                    return [key - least for key in keys if key < above]
            return None
        bounds = [run.bounds(first) for run in runs]
        if sum(hi - lo for lo, hi in bounds) > most:
            return None
        found: list[int] = self._slice(order, first, where).tolist()
        return found

    def _slice(self, order: int, first: int, where: int) -> U32:
        runs = self.runs(order)
        if len(runs) == 1:
            run = runs[0]
            lo, hi = run.bounds(first)
            if run.uniform is None:
                return low(filter_keys(run.keys[lo:hi], run.statuses(lo, hi), where))
            return low(run.keys[lo:hi]) if run.uniform & where and lo < hi else NO_IDS
        parts = []
        for run in runs:
            lo, hi = run.bounds(first)
            if lo < hi:
                parts.append((run.keys[lo:hi], run.statuses(lo, hi)))
        return low(filter_keys(*newest(parts), where)) if parts else NO_IDS

    # -- scans ----------------------------------------------------------------------------------

    def keys(self, order: int = FORWARD, where: int = HOLDS) -> U64:
        """All rows as packed keys, sorted: a view if they are one run that needs no filter."""
        runs = self.runs(order)
        if len(runs) == 1 and (runs[0].uniform or 0) & where:
            return runs[0].keys[runs[0].lo : runs[0].hi]
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
        pieces = []
        for run in self.runs(order):
            lo, hi = (run.lo, run.hi) if first is None else run.bounds(first)
            if lo < hi:
                pieces.append((run, lo, hi))
        if len(pieces) == 1:
            ((run, lo, hi),) = pieces
            if hi - lo <= block_rows and (run.uniform or 0) & where:
                return iter((run.keys[lo:hi],))
            blocks = _scan_one(run, lo, hi, where, block_rows)
        else:
            blocks = _scan_several(pieces, where, block_rows)
        return (block for block in blocks if len(block))

    def scan(
        self,
        where: int = HOLDS,
        *,
        order: int = FORWARD,
        first: int | None = None,
        block_rows: int = BLOCK,
    ) -> Iterator[Columns]:
        """All rows in blocks of columns; see `Relation.scan`."""
        for keys in self.scan_keys(where, order=order, first=first, block_rows=block_rows):
            yield (high(keys), low(keys)) if order == FORWARD else (low(keys), high(keys))

    def distinct(self, column: int, where: int = HOLDS) -> U32:
        """The ids that occur in this column, increasing.

        Where few ids have many rows each, the rows of an id are skipped.
        """
        if self.distinct_estimate(column) * RELATIONS.skipped_rows <= self.stored_rows:
            heads = [NO_IDS, *(run.firsts() for run in self.runs(column))]
            ids = distinct(np.sort(np.concatenate(heads)))
            occur = [self._occurs(column, first, where) for first in ids.tolist()]
            return ids[np.array(occur, dtype=np.bool_)]
        heads = [distinct(high(keys)) for keys in self.scan_keys(where, order=column)]
        return distinct(np.concatenate(heads)) if heads else NO_IDS

    def _occurs(self, order: int, first: int, where: int) -> bool:
        """Whether a row with this first id holds; usually one of the first rows does."""
        runs = self.runs(order)
        if len(runs) == 1 and (runs[0].uniform or 0) & where:
            return True
        pieces = [(run, *run.bounds(first)) for run in runs]
        pieces = [(run, lo, hi) for run, lo, hi in pieces if lo < hi]
        small = RELATIONS.skipped_rows
        looked_at = islice(_scan_several(pieces, where, small), 2)
        if any(len(keys) for keys in looked_at):
            return True
        return any(True for _ in self.scan_keys(where, order=order, first=first))

    # -- as a `PairRelation` --------------------------------------------------------------------

    def match(self, place: int, values: U32) -> tuple[I64, U32]:
        """The rows with these ids in one place: (position in `values`, id in the other place)."""
        index, (others,) = self.probe((place,), (values,))
        return index, others

    def match_counts(self, place: int, values: U32) -> I64:
        """The number of rows with each of these ids in one place."""
        return np.bincount(self.match(place, values)[0], minlength=len(values))

    def contains_keys(self, keys: U64) -> Bools:
        """Which of these rows hold."""
        found: Bools = self.status_of_keys(keys) != 0
        return found

    def blocks(self, size: int = BLOCK, *, swapped: bool = False) -> Iterator[U64]:
        """All rows as sorted packed keys, in pieces."""
        return self.scan_keys(order=int(swapped), block_rows=size)

    # -- batches --------------------------------------------------------------------------------

    def probe(
        self, columns: Sequence[int], values: Sequence[U32], where: int = HOLDS
    ) -> tuple[I64, Columns]:
        """The rows with these values; see `Relation.probe`."""
        if len(columns) == 2:
            return self._probe_rows(columns, values, where)
        return self._joined_blocks(columns, values, where)

    def probe_blocks(
        self,
        columns: Sequence[int],
        values: Sequence[U32],
        where: int = HOLDS,
        block_rows: int = BLOCK,
    ) -> Iterator[tuple[I64, Columns]]:
        """`probe` in pieces of about `block_rows`."""
        if len(columns) == 2:
            for at in range(0, len(values[0]), block_rows):
                part = [value[at : at + block_rows] for value in values]
                index, free = self._probe_rows(columns, part, where)
                yield index + at, free
            return
        order, ids = columns[0], values[0]
        if len(ids) <= RELATIONS.probed_ids and len(self._runs[order]) == 1:
            few = _probe_few(self._runs[order][0], ids, where, block_rows)
            if few is not None:
                if len(few[0]):
                    yield few
                return
        bounds = [run.bounds_many(ids) for run in self.runs(order)]
        sizes = sum((hi - lo for lo, hi in bounds), np.zeros(len(ids), dtype=np.int64))
        for start, stop in bounded_groups(sizes, block_rows):
            if stop - start == 1 and sizes[start] > block_rows:
                first = int(ids[start])
                for keys in self.scan_keys(where, order=order, first=first, block_rows=block_rows):
                    yield np.full(len(keys), start, dtype=np.int64), (low(keys),)
                continue
            parts = [(lo[start:stop], hi[start:stop]) for lo, hi in bounds]
            index, found = self._expand(order, parts, where)
            if len(index):
                yield index + start, (found,)

    def _expand(self, order: int, bounds: list[tuple[I64, I64]], where: int) -> tuple[I64, U32]:
        """The rows between these bounds of each run: (number of the bounds, free id)."""
        runs = self.runs(order)
        parts = []
        for run, (lo, hi) in zip(runs, bounds, strict=True):
            rows = ranges(lo, hi - lo)
            if len(rows) == 0:
                continue
            index = np.repeat(np.arange(len(lo)), hi - lo)
            found = low(run.keys.take(rows))
            if len(runs) == 1 and (run.uniform or 0) & where:
                return index, found
            parts.append(((index.astype(np.uint64) << SHIFT) | found, run.statuses_at(rows)))
        if not parts:
            return np.zeros(0, dtype=np.int64), NO_IDS
        keys = filter_keys(*newest(parts), where)
        return high(keys).astype(np.int64), low(keys)

    def _probe_rows(
        self, columns: Sequence[int], values: Sequence[U32], where: int
    ) -> tuple[I64, Columns]:
        first, second = values if tuple(columns) == (0, 1) else (values[1], values[0])
        return np.flatnonzero(self.contains((first, second), where)), ()

    def fanout(self, columns: Sequence[int], values: Sequence[U32]) -> I64:
        """For each value how many rows a probe looks at."""
        sizes = np.zeros(len(values[0]), dtype=np.int64)
        if len(columns) == 2:
            return sizes + 1
        for run in self.runs(columns[0]):
            lo, hi = run.bounds_many(values[0])
            sizes += hi - lo
        return sizes

    def rows_with(self, column: int, value: int) -> int:
        """How many rows a look-up of one id in a column reads."""
        rows = 0
        for run in self.runs(column):
            lo, hi = run.bounds(value)
            rows += hi - lo
        return rows

    def status(self, first: int, second: int) -> int:
        """The status of one row; 0 if it does not hold. Faster than `status_of` for one."""
        key = first << 32 | second
        for run in reversed(self.runs(FORWARD)):
            place = run.keys.search(key, run.lo, run.hi)
            if place < run.hi and run.keys.at(place) == key:
                status = run.order.status
                return run.order.uniform if status is None else status.at(place)
        return 0

    def status_and_count(self, first: int, second: int) -> tuple[int, int]:
        """The status and the count of one row; 0 if it does not hold. See `status`."""
        key = first << 32 | second
        for run in reversed(self.runs(FORWARD)):
            place = run.keys.search(key, run.lo, run.hi)
            if place < run.hi and run.keys.at(place) == key:
                column, counts = run.order.status, run.order.count
                status = run.order.uniform if column is None else column.at(place)
                return status, counts.at(place) if counts is not None and status else 0
        return 0, 0

    def status_of(self, rows: Columns) -> U8:
        """The statuses of these rows; 0 for those that do not hold."""
        return self.status_of_keys(pack(rows[0], rows[1]))

    def status_of_keys(self, keys: U64, order: int = FORWARD) -> U8:
        """The statuses of rows given as packed keys, in any order. For the order by second id, keys
        have the second id in front."""
        runs = self._runs[order]
        uniform = runs[0].uniform if len(runs) == 1 else None
        if uniform is not None:
            run = runs[0]
            places = np.minimum(run.keys.search_many(keys, run.lo, run.hi), run.hi - 1)
            found: U8 = (run.keys.take(places) == keys).view(np.uint8)
            found *= np.uint8(uniform)
            return found
        status = np.zeros(len(keys), dtype=np.uint8)
        for run, rows, places in self._found(keys, order):
            status[rows] = run.statuses_at(places)
        return status

    def look_up_keys(self, keys: U64) -> tuple[U8, U32]:
        """The statuses and the counts of rows given as packed keys; 0 where they do not hold."""
        status = np.zeros(len(keys), dtype=np.uint8)
        counts = np.zeros(len(keys), dtype=np.uint32)
        for run, rows, places in self._found(keys):
            found = run.statuses_at(places)
            status[rows] = found
            if run.order.count is not None:
                counts[rows] = np.where(found, run.order.count.take(places), 0)
        return status, counts

    def has(self, first: int, second: int, where: int = HOLDS) -> bool:
        """Whether one row holds: ten times as fast as `contains`."""
        return bool(self.status(first, second) & where)

    def count_of(self, rows: Columns) -> U32:
        """The counts kept with these rows; 0 for those that do not hold."""
        counts = np.zeros(len(rows[0]), dtype=np.uint32)
        for run, found, places in self._found(pack(rows[0], rows[1])):
            column = run.order.count
            if column is not None:
                counts[found] = np.where(run.statuses_at(places), column.take(places), 0)
        return counts

    def _found(self, keys: U64, order: int = FORWARD) -> Iterator[tuple[SortedRun, I64, I64]]:
        """(run, positions in `keys`, positions in the run): each key in the newest run with it."""
        open_ = np.arange(len(keys))
        for run in reversed(self._runs[order]):
            wanted = keys[open_]
            places = np.minimum(run.keys.search_many(wanted, run.lo, run.hi), run.hi - 1)
            found = run.keys.take(places) == wanted
            if found.any():
                yield run, open_[found], places[found]
                open_ = open_[~found]
                if len(open_) == 0:
                    return

    def semijoin(self, column: int, ids: U32, where: int = HOLDS) -> Bools:
        """Which of `ids` occur in this column, without listing the rows."""
        runs = self.runs(column)
        occurs = np.zeros(len(ids), dtype=np.bool_)
        if len(runs) == 1 and (runs[0].uniform or 0) & where:
            run = runs[0]
            lo = run.keys.search_many(least_keys(ids), run.lo, run.hi)
            inside = np.flatnonzero(lo < run.hi)
            occurs[inside] = (run.keys.take(lo[inside]) >> SHIFT) == ids[inside]
            return occurs
        return super().semijoin(column, ids, where)

    # -- statistics -----------------------------------------------------------------------------

    def distinct_estimate(self, column: int) -> int:
        """About how many ids occur in this column; exact where one run has all rows."""
        if not self._sources:
            return len(self)
        counts = [int(table.distinct.of(column)[place]) for table, place in self._sources]
        return min(sum(counts), len(self))


def _probe_few(run: SortedRun, ids: U32, where: int, most: int) -> tuple[I64, Columns] | None:
    """`probe` of few ids in one run, for at most `most` rows; None if there are more.

    About ten calls of numpy fewer than the general way.
    """
    if run.uniform is None or not run.uniform & where:
        return None
    number = len(ids)
    if number == 1:
        lo, hi = run.bounds(int(ids[0]))
        return None if hi - lo > most else (np.zeros(hi - lo, np.int64), (low(run.keys[lo:hi]),))
    first, last = run.bounds_many(ids)
    sizes = last - first
    listed = sizes.tolist()
    total = sum(listed)
    if total > most:
        return None
    index = np.arange(number)
    if listed.count(1) == number:
        rows = first
    else:
        index = index.repeat(sizes)
        rows = (first - (sizes.cumsum() - sizes)).take(index)
        rows += np.arange(total)
    return index, (low(run.keys.take(rows)),)


def _scan_one(run: SortedRun, lo: int, hi: int, where: int, block_rows: int) -> Iterator[U64]:
    if run.uniform is not None and not run.uniform & where:
        return
    for start in range(lo, hi, block_rows):
        stop = min(start + block_rows, hi)
        keys = run.keys[start:stop]
        if run.uniform is None:
            keys = filter_keys(keys, run.statuses(start, stop), where)
        yield keys


def _scan_several(
    pieces: list[tuple[SortedRun, int, int]], where: int, block_rows: int
) -> Iterator[U64]:
    """Where only one run has rows in a window of keys, nothing is merged."""
    for parts in windows(pieces, block_rows):
        if len(parts) == 1:
            yield from _scan_one(*parts[0], where, block_rows)
        else:
            merged = newest([(r.keys[lo:hi], r.statuses(lo, hi)) for r, lo, hi in parts])
            yield filter_keys(*merged, where)

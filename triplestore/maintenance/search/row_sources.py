"""Where the rows of a join step come from, if they are needed a few at a time.

Start reading at `RowSource`. A step of a plan that makes rows is opened for the rows of a frame.
Each row then has a number of *places*: ranges of a sorted run or of a table. Any range of these
places can be taken later. Nothing is read twice, and what is not taken costs nothing. Places may
hold rows that are not visible (gone, or changed by a newer run); these are left out when taken.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias

import numpy as np

from triplestore.evaluate.binding_frames import Bindings, column
from triplestore.maintenance.thresholds import MAINTENANCE
from triplestore.relations.facts.body_views import Setting
from triplestore.relations.facts.fact_sets import ANY
from triplestore.relations.layers.sorted_order import SortedRun, ranges
from triplestore.relations.packed_keys import I64, U32, U64, Bools, high, key_of, low, swap
from triplestore.relations.status import HOLDS
from triplestore.rules.body_plans import AtomStep, TableStep
from triplestore.rules.families import Family

Opened: TypeAlias = tuple[I64, ...]
"""Ranges, which a source remembers for each row."""

Taken: TypeAlias = tuple[I64, dict[int, U32], int]
"""For each new row the number of the row that it continues; the values of its new variables; and
the number of rows read."""


_ALL = 1 << 62


class RowSource(Protocol):
    """A step that makes rows.

    most  maximum number of rows for which it is asked at a time
    """

    most: int

    def open(self, rows: Bindings, n: int) -> tuple[Opened, I64]:
        """Open rows: what to remember of each row, and its number of places."""

    def take(self, rows: Bindings, opened: Opened, at: I64, count: I64, setting: Setting) -> Taken:
        """The rows in the places [at, at + count) of each row."""


class PairSource:
    """An atom of a stored relation of two columns; one place is given, or none."""

    most = _ALL

    def __init__(self, step: AtomStep, setting: Setting) -> None:
        assert setting.stored is not None
        assert not setting.plus
        self.step = step
        self.given = step.bound[0] if step.bound else None
        name = step.atom.relation
        assert isinstance(name, int)
        self.name = name
        pairs = setting.stored.pairs(name)
        place = self.given[0] if self.given else 0
        self.runs: tuple[SortedRun, ...] = pairs.relation.runs(
            1 - place if pairs.flipped else place
        )

    def open(self, rows: Bindings, n: int) -> tuple[Opened, I64]:
        """See `RowSource.open`."""
        opened: list[I64] = []
        size = np.zeros(n, dtype=np.int64)
        values = None if self.given is None else column(rows, self.given[1], n)
        for run in self.runs:
            if values is None:
                lo = np.full(n, run.lo, dtype=np.int64)
                length = np.full(n, run.hi - run.lo, dtype=np.int64)
            else:
                lo, hi = run.bounds_many(values)
                length = hi - lo
            opened += [lo, length]
            size += length
        return tuple(opened), size

    def take(self, rows: Bindings, opened: Opened, at: I64, count: I64, setting: Setting) -> Taken:
        """See `RowSource.take`."""
        parts: list[tuple[I64, U64]] = []
        looked = 0
        before = np.zeros(len(at), dtype=np.int64)
        for number, run in enumerate(self.runs):
            lo, length = opened[2 * number], opened[2 * number + 1]
            start = np.clip(at - before, 0, length)
            wanted = np.clip(at + count - before, 0, length) - start
            before += length
            places = ranges(lo + start, wanted)
            if len(places) == 0:
                continue
            looked += len(places)
            index, keys = np.repeat(np.arange(len(at)), wanted), run.keys.take(places)
            seen = self._said_last(number, places, keys)
            parts.append((index, keys) if seen is None else (index[seen], keys[seen]))
        if not parts:
            return np.zeros(0, dtype=np.int64), _empty(self.step), looked
        index = parts[0][0] if len(parts) == 1 else np.concatenate([part[0] for part in parts])
        keys = parts[0][1] if len(parts) == 1 else np.concatenate([part[1] for part in parts])
        index, keys = self._seen(index, keys, setting)
        if self.given is None:
            index, values = _by_variable(self.step, index, {0: high(keys), 1: low(keys)})
        else:
            index, values = _by_variable(self.step, index, {1 - self.given[0]: low(keys)})
        return index, values, looked

    def _said_last(self, number: int, places: I64, keys: U64) -> Bools | None:
        """Which rows of a run hold, and are in no newer run; None for all."""
        run, newer = self.runs[number], self.runs[number + 1 :]
        if not newer and (run.uniform or 0) & HOLDS:
            return None
        seen: Bools = (run.statuses_at(places) & np.uint8(HOLDS)) != 0
        for other in newer:
            there = np.minimum(other.keys.search_many(keys, other.lo, other.hi), other.hi - 1)
            seen &= other.keys.take(there) != keys
        return seen

    def _seen(self, index: I64, keys: U64, setting: Setting) -> tuple[I64, U64]:
        taken_away = [gone for sets in setting.minus if (gone := sets.get(self.name)) is not None]
        if not taken_away:
            return index, keys
        own = keys if self.given is None or self.given[0] == 0 else swap(keys)
        seen = np.ones(len(keys), dtype=np.bool_)
        for gone in taken_away:
            seen &= ~gone.contains(own)
        return index[seen], keys[seen]


class TableSource:
    """A family's table of constants."""

    most = _ALL

    def __init__(self, family: Family, step: TableStep) -> None:
        table = family.table
        assert table is not None
        columns = dict(zip(table.variables, table.columns, strict=True))
        self.bound = step.bound
        if step.bound:
            keys = key_of([columns[v] for v in step.bound])
            order = np.argsort(keys, kind="stable")
            self.keys = keys[order]
        else:
            order = np.arange(len(family.rules))
        self.free = {v: columns[v][order] for v in step.free}
        self.count = len(order)

    def open(self, rows: Bindings, n: int) -> tuple[Opened, I64]:
        """See `RowSource.open`."""
        if not self.bound:
            return (np.zeros(n, dtype=np.int64),), np.full(n, self.count, dtype=np.int64)
        wanted = key_of([column(rows, v, n) for v in self.bound])
        lo = self.keys.searchsorted(wanted)
        return (lo,), self.keys.searchsorted(wanted, side="right") - lo

    def take(self, rows: Bindings, opened: Opened, at: I64, count: I64, setting: Setting) -> Taken:
        """See `RowSource.take`."""
        places = ranges(opened[0] + at, count)
        index = np.repeat(np.arange(len(at)), count)
        return index, {v: values[places] for v, values in self.free.items()}, 0


class ProbeSource:
    """An atom of a relation of three columns or more, or of all triples.

    All rows of a look-up come at once, as one place, and wait in the next stage. If many rows are
    expected, few look-ups are made at a time.
    """

    def __init__(self, step: AtomStep, setting: Setting) -> None:
        self.step = step
        expected = setting.view(step.atom.relation).estimate([place for place, _ in step.bound])
        self.most = max(1, int(MAINTENANCE.source_rows / (expected + 1)))

    def open(self, rows: Bindings, n: int) -> tuple[Opened, I64]:
        """See `RowSource.open`."""
        return (), np.ones(n, dtype=np.int64)

    def take(self, rows: Bindings, opened: Opened, at: I64, count: I64, setting: Setting) -> Taken:
        """See `RowSource.take`."""
        step, n = self.step, len(at)
        view = setting.view(step.atom.relation)
        places = [place for place, _ in step.bound]
        if places:
            values = [column(rows, term, n) for _, term in step.bound]
            index, free = view.probe(places, values)
        else:
            free = view.scan()
            size = len(free[0])
            index = np.repeat(np.arange(n), size)
            free = tuple(np.tile(c, n) for c in free)
        looked = len(index)
        left = [place for place in range(len(step.atom.terms)) if place not in places]
        index, found = _by_variable(step, index, dict(zip(left, free, strict=True)))
        return index, found, looked


def source_of(family: Family, step: AtomStep | TableStep, setting: Setting) -> RowSource:
    """The source of the rows of a step."""
    if isinstance(step, TableStep):
        return TableSource(family, step)
    if isinstance(step.atom.relation, int) and step.atom.relation != ANY:
        return PairSource(step, setting)
    return ProbeSource(step, setting)


def _empty(step: AtomStep) -> dict[int, U32]:
    return {variable: np.empty(0, dtype=np.uint32) for _, variable in step.free}


def _by_variable(
    step: AtomStep, index: I64, by_place: dict[int, U32]
) -> tuple[I64, dict[int, U32]]:
    """The rows in which repeated variables agree, and the values of the variables."""
    if step.same:
        keep = np.ones(len(index), dtype=np.bool_)
        for one, other in step.same:
            keep &= by_place[one] == by_place[other]
        index = index[keep]
        by_place = {place: values[keep] for place, values in by_place.items()}
    return index, {variable: by_place[place] for place, variable in step.free}

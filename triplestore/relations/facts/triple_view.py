"""The view of all triples, for atoms with a variable as property."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from triplestore.relations.facts.fact_sets import FactSet, joined
from triplestore.relations.facts.stored_facts import Stored
from triplestore.relations.packed_keys import I64, NO_IDS, U32, U64, Bools, Columns, high, low


class PropertyView(Protocol):
    """The facts of one property that a body sees; `PairView` is one."""

    def match(self, place: int, values: U32) -> tuple[I64, U32]:
        """The rows with these ids in one place: (position in `values`, id in the other place)."""

    def contains(self, columns: Columns) -> Bools:
        """Which rows are seen."""

    def keys(self) -> U64:
        """All rows, as keys."""


class VisibleFacts(Protocol):
    """Which facts a body sees; `Setting` is one."""

    @property
    def stored(self) -> Stored | None:
        """The snapshot."""

    @property
    def plus(self) -> tuple[FactSet, ...]:
        """Sets that are seen beside it."""

    @property
    def type_id(self) -> int:
        """The id of rdf:type."""

    def pairs(self, name: int) -> PropertyView:
        """The view of a property."""


class TripleView:
    """All triples (s, p, o), property by property, including properties that appear later."""

    __slots__ = ("_names", "_setting", "_type")

    arity = 3

    def __init__(self, setting: VisibleFacts) -> None:
        self._setting = setting
        self._type = setting.type_id
        self._names: list[int] | None = None

    def names(self) -> list[int]:
        """The properties that may have rows."""
        if self._names is None:
            found = set(self._setting.stored.names().tolist()) if self._setting.stored else set()
            for plus in self._setting.plus:
                found |= {name for name in plus if isinstance(name, int)}
            self._names = sorted(found)
        return self._names

    def without(self, left_out: Sequence[int]) -> TripleView:
        """The triples of all other properties."""
        made = TripleView(self._setting)
        made._names = [name for name in self.names() if name not in left_out]
        return made

    def _place(self, name: int, place: int) -> int:
        """Where in the pair of a property the subject (0) or object (2) stands."""
        return place // 2 ^ (1 if name == self._type else 0)

    def probe(self, places: Sequence[int], values: Sequence[U32]) -> tuple[I64, Columns]:
        """See `Relation.probe`."""
        given = dict(zip(places, values, strict=True))
        free = [place for place in (0, 1, 2) if place not in given]
        found = []
        if 1 in given:
            p = given[1]
            for name in np.unique(p).tolist():
                rows = np.flatnonzero(p == name)
                found.append(
                    self._probe_one(name, {k: v[rows] for k, v in given.items()}, free, rows)
                )
        else:
            found += [self._probe_one(name, given, free, None) for name in self.names()]
        found = [f for f in found if len(f[0])]
        if not found:
            return np.zeros(0, dtype=np.int64), (NO_IDS,) * len(free)
        return joined(found)

    def _probe_one(
        self, name: int, given: dict[int, U32], free: list[int], rows: I64 | None
    ) -> tuple[I64, Columns]:
        view = self._setting.pairs(name)
        ends = [place for place in (0, 2) if place in given]
        columns: dict[int, U32] = {}
        if len(ends) == 2:
            s, o = given[0], given[2]
            index = view.contains((o, s) if name == self._type else (s, o)).nonzero()[0]
        elif ends:
            index, other = view.match(self._place(name, ends[0]), given[ends[0]])
            columns[2 - ends[0]] = other
        else:
            keys = view.keys()
            times = len(given[1]) if 1 in given else 1
            index = np.repeat(np.arange(times), len(keys))
            first, second = np.tile(high(keys), times), np.tile(low(keys), times)
            columns[0], columns[2] = (second, first) if name == self._type else (first, second)
        if 1 not in given:
            columns[1] = np.full(len(index), name, dtype=np.uint32)
        if rows is not None:
            index = rows[index]
        return index, tuple(columns[place] for place in free)

    def scan(self, places: Sequence[int] = (), ids: Sequence[int] = ()) -> Columns:
        """See `BodyView.scan`."""
        if places:
            return self.probe(places, [np.array([i], dtype=np.uint32) for i in ids])[1]
        found = [self._probe_one(name, {}, [0, 1, 2], None) for name in self.names()]
        found = [f for f in found if len(f[0])]
        return joined(found)[1] if found else (NO_IDS,) * 3

    def contains(self, columns: Columns) -> Bools:
        """See `Relation.contains`."""
        s, p, o = columns
        seen = np.zeros(len(p), dtype=np.bool_)
        for name in np.unique(p).tolist():
            rows = np.flatnonzero(p == name)
            ends = (o[rows], s[rows]) if name == self._type else (s[rows], o[rows])
            seen[rows] = self._setting.pairs(name).contains(ends)
        return seen

    def estimate(self, places: Sequence[int] = ()) -> float:
        """See `Relation.estimate`."""
        rows = float(self._setting.stored.tables.total()) if self._setting.stored else 0.0
        rows += sum(plus.total() for plus in self._setting.plus)
        return rows ** (1 - len(places) / 3) if rows else 0.0

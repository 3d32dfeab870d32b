"""Stored relations as rules read them.

Rules name classes, so facts of rdf:type are read as (class, member): a class is then a slice, and
its members are sorted. All other properties are read as (subject, object). Look-ups of few rows use
the relation's own methods, which touch (and verify) only these rows. Look-ups of many rows use
arrays of all keys and compiled kernels.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from triplestore.relations import EXPLICIT, HOLDS, INFERRED, Tables
from triplestore.relations.facts.fact_sets import RelationKey
from triplestore.relations.facts.sorted_arrays import (
    beside,
    bounds,
    check_room,
    is_bounded,
    match,
    member,
)
from triplestore.relations.packed_keys import (
    I64,
    U8,
    U32,
    U64,
    Bools,
    Columns,
    Keys,
    columns_of,
    high,
    low,
    swap,
)
from triplestore.relations.thresholds import RELATIONS
from triplestore.relations.views.closed import ClosedRelation
from triplestore.relations.views.plain import PlainRelation
from triplestore.relations.views.wide import TupleRelation


class StoredPairs:
    """A stored relation of two columns.

    flipped  rdf:type: its rows are (class, member), not (subject, object)
    where    the statuses that are visible
    """

    __slots__ = ("_arrays", "_asked", "_order", "flipped", "relation", "where")

    def __init__(self, relation: PlainRelation, flipped: bool, where: int = HOLDS) -> None:
        self.relation = relation
        self.flipped = flipped
        self.where = where
        self._order = (1, 0) if flipped else (0, 1)
        self._arrays: list[U64 | None] = [None, None]
        self._asked = [0, 0]

    def __len__(self) -> int:
        return self.relation.count(self.where)

    def array(self, place: int) -> U64:
        """All rows as keys sorted by one place, with that place in front."""
        found = self._arrays[place]
        if found is None:
            found = self._arrays[place] = self.relation.keys(self._order[place], self.where)
        return found

    def _worthwhile(self, place: int, rows: int) -> bool:
        """Whether to look this many rows up in the array of all rows."""
        if self._arrays[place] is not None:
            return True
        self._asked[place] += RELATIONS.look_up_rows + 8 * rows
        if self._asked[place] > RELATIONS.look_up_rows + self.relation.stored_rows:
            return True
        if rows < RELATIONS.cold_rows:
            return False
        runs = self.relation.runs(self._order[place])
        one = len(runs) == 1 and bool((runs[0].uniform or 0) & self.where)
        return one or rows * 8 > self.relation.stored_rows

    def array_for(self, place: int, rows: int) -> U64 | None:
        """`array` if it is worthwhile for this many look-ups, else None."""
        return self.array(place) if self._worthwhile(place, rows) else None

    def match(self, place: int, values: U32) -> tuple[I64, U32]:
        """The rows with these ids in one place: (number of the value, id in the other place)."""
        if self._worthwhile(place, len(values)):
            return match(values, self.array(place))
        column = self._order[place]
        if len(values) == 1:
            relation, value = self.relation, int(values[0])
            read = relation.by_first if column == 0 else relation.by_second
            found = read(value, self.where)
            return np.zeros(len(found), dtype=np.int64), found
        if is_bounded():
            check_room(int(self.relation.fanout((column,), (values,)).sum()))
        index, (others,) = self.relation.probe((column,), (values,), self.where)
        return index, others

    def slice(self, place: int, value: int) -> U32:
        """The ids in the other place of the rows with this id, increasing."""
        relation = self.relation
        read = relation.by_first if self._order[place] == 0 else relation.by_second
        return read(value, self.where)

    def scan(self) -> Columns:
        """All rows."""
        keys = self.array(0)
        return high(keys), low(keys)

    def blocks(self) -> Iterator[U64]:
        """All rows as sorted keys, in blocks."""
        return iter((self.array(0),))

    def contains_keys(self, keys: U64) -> Bools:
        """Which of these rows hold."""
        if self._worthwhile(0, len(keys)):
            return member(keys, self.array(0))
        found: Bools = (self.status(keys) & np.uint8(self.where)) != 0
        return found

    def contains_beside(self, first: int, second: U32) -> Bools:
        """Which of these ids hold with one first id, for example as members of a class."""
        keys = beside(first, second)
        if not self._worthwhile(0, len(keys)):
            return self.contains_keys(keys)
        every = self.array(0)
        lo, hi = bounds(every, first)
        return member(keys, every[lo:hi])

    def status(self, keys: U64) -> U8:
        """The statuses of rows; 0 for those that do not hold."""
        if len(keys) == 1:
            first, second = divmod(int(keys[0]), 1 << 32)
            one = (
                self.relation.status(second, first)
                if self.flipped
                else self.relation.status(first, second)
            )
            return np.array([one], dtype=np.uint8)
        uniform = self._uniform()
        if uniform and uniform & self.where and self._worthwhile(0, len(keys)):
            return member(keys, self.array(0)).view(np.uint8) * np.uint8(uniform)
        if not self.flipped:
            return self.relation.status_of_keys(keys)
        if type(self.relation) is PlainRelation:  # the keys mostly are in this order
            return self.relation.status_of_keys(keys, self._order[0])
        return self.relation.status_of_keys(swap(keys))

    def look_up(self, keys: U64) -> tuple[U8, U32]:
        """The statuses and counts of rows; 0 where they do not hold."""
        if len(keys) == 1 and type(self.relation) is PlainRelation:  # usual in small updates
            first, second = divmod(int(keys[0]), 1 << 32)
            row = (second, first) if self.flipped else (first, second)
            one, count = self.relation.status_and_count(*row)
            return np.array([one], dtype=np.uint8), np.array([count], dtype=np.uint32)
        if self._uncounted():
            return self.status(keys), np.zeros(len(keys), dtype=np.uint32)
        if not self.flipped:
            return self.relation.look_up_keys(keys)
        forward = swap(keys)
        if len(keys) < RELATIONS.sorted_look_ups:
            return self.relation.look_up_keys(forward)
        # Counts are only kept in the other order; few of the rows are there.
        status, counts = self.status(keys), np.zeros(len(keys), np.uint32)
        there = status.nonzero()[0]
        counts[there] = self.relation.look_up_keys(forward[there])[1]
        return status, counts

    def _uncounted(self) -> bool:
        return all(run.order.count is None for run in self.relation.runs(0))

    def _uniform(self) -> int:
        """The status of all rows, if they are one run of one status; else 0."""
        runs = self.relation.runs(self._order[0])
        return (runs[0].uniform or 0) if len(runs) == 1 else 0

    def counts(self, keys: U64) -> U32:
        """The counts kept with rows."""
        if self._uncounted():
            return np.zeros(len(keys), dtype=np.uint32)
        first, second = high(keys), low(keys)
        return self.relation.count_of((second, first) if self.flipped else (first, second))

    def estimate(self, place: int | None) -> float:
        """How many rows to expect: all rows, or those with one id in `place`."""
        rows = float(len(self))
        if place is None or rows == 0:
            return rows
        return rows / max(1, self.relation.distinct_estimate(self._order[place]))


class ClosedPairs(StoredPairs):
    """A closed relation: its pairs are looked up in the closure, never read as an array."""

    __slots__ = ("closed", "rows")

    def __init__(self, relation: ClosedRelation) -> None:
        super().__init__(relation, False)
        self.closed = relation.closed
        self.rows = StoredPairs(relation.rows, False)

    def _worthwhile(self, place: int, rows: int) -> bool:
        return False

    def _uncounted(self) -> bool:
        return self.rows._uncounted()

    def _uniform(self) -> int:
        return 0

    def match(self, place: int, values: U32) -> tuple[I64, U32]:
        """The rows with these ids in one place: (number of the value, id in the other place)."""
        check_room(int(self.closed.match_counts(place, values).sum()))
        return self.closed.match(place, values)

    def contains_keys(self, keys: U64) -> Bools:
        """Which of these rows hold."""
        return self.closed.contains_keys(keys)

    def blocks(self) -> Iterator[U64]:
        """All rows as sorted keys, in blocks."""
        return self.closed.blocks()


class StoredTuples:
    """A stored relation of three or more columns."""

    __slots__ = ("relation", "where")

    def __init__(self, relation: TupleRelation, where: int = HOLDS) -> None:
        self.relation = relation
        self.where = where

    def __len__(self) -> int:
        return self.relation.count(self.where)

    def keys(self) -> Keys:
        """All rows, sorted."""
        return self.relation.keys(self.where)

    def status(self, keys: Keys) -> U8:
        """The statuses of rows; 0 for those that do not hold."""
        return self.relation.status_of(columns_of(keys, self.relation.arity))

    def contains_keys(self, keys: Keys) -> Bools:
        """Which of these rows hold."""
        found: Bools = (self.status(keys) & np.uint8(self.where)) != 0
        return found

    def counts(self, keys: Keys) -> U32:
        """The counts kept with rows."""
        return self.relation.count_of(columns_of(keys, self.relation.arity))

    def look_up(self, keys: Keys) -> tuple[U8, U32]:
        """The statuses and counts of rows; 0 where they do not hold."""
        return self.status(keys), self.counts(keys)


def unsupported_keys(stored: Stored, relation: RelationKey) -> Keys:
    """The inferred facts whose count is 0: those that only recursive rules derive."""
    found = stored.of(relation)
    keys = found.keys() if isinstance(found, StoredTuples) else found.array(0)
    status, counts = found.look_up(keys)
    unsupported: Keys = keys[(status == INFERRED) & (counts == 0)]
    return unsupported


class Stored:
    """The relations of one snapshot, each made at first use."""

    def __init__(self, tables: Tables, type_id: int, where: int = HOLDS) -> None:
        self.tables = tables
        self.type_id = type_id
        self.where = where
        self._pairs: dict[int, StoredPairs] = {}
        self._tuples: dict[tuple[int, int], StoredTuples] = {}

    def explicit(self) -> Stored:
        """The asserted facts only."""
        return Stored(self.tables, self.type_id, EXPLICIT)

    def pairs(self, name: int) -> StoredPairs:
        """A relation of two columns."""
        found = self._pairs.get(name)
        if found is None:
            found = self._pairs[name] = self._make_pairs(name)
        return found

    def _make_pairs(self, name: int) -> StoredPairs:
        if self.where == HOLDS:
            relation = self.tables.relation(name)
            if isinstance(relation, ClosedRelation):
                return ClosedPairs(relation)
        return self.rows(name)

    def rows(self, name: int) -> StoredPairs:
        """The rows of a relation of two columns, without the pairs of its closure."""
        relation = self.tables.stored_relation(name)
        return StoredPairs(relation, name == self.type_id, self.where)

    def tuples(self, name: tuple[int, int]) -> StoredTuples:
        """A relation of three or more columns."""
        found = self._tuples.get(name)
        if found is None:
            found = self._tuples[name] = StoredTuples(self.tables.tuples(*name), self.where)
        return found

    def of(self, relation: RelationKey) -> StoredPairs | StoredTuples:
        """Any relation except that of all triples."""
        return self.tuples(relation) if isinstance(relation, tuple) else self.pairs(relation)

    def names(self) -> U32:
        """The properties with rows."""
        return self.tables.names()

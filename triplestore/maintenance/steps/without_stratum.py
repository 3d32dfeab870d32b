"""Stored facts as if nothing were derived in one stratum, and what was derived, as sorted arrays.

Start reading at `WithoutStratum`, a view for evaluating a stratum from scratch. `Derived` has the
facts that were derived before, for comparison. Runs are read as a whole and in order, which costs a
few nanoseconds a row; a look-up costs a hundred.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from weakref import WeakKeyDictionary

import numpy as np

from triplestore.maintenance.thresholds import MAINTENANCE
from triplestore.relations import EXPLICIT, HOLDS, INFERRED
from triplestore.relations.facts.fact_sets import RelationKey, no_keys
from triplestore.relations.facts.sorted_arrays import beside, unite, without
from triplestore.relations.facts.stored_facts import Stored, StoredPairs, StoredTuples
from triplestore.relations.layers.sorted_order import ranges
from triplestore.relations.layers.swap_columns import turned
from triplestore.relations.packed_keys import (
    I64,
    U32,
    U64,
    Bools,
    Keys,
    high,
    last_of_equals,
    start_of_runs,
    swap,
)
from triplestore.relations.thresholds import RELATIONS
from triplestore.relations.views.closed import ClosedRelation
from triplestore.relations.views.plain import PlainRelation
from triplestore.relations.views.wide import TupleRelation
from triplestore.rules.strata import Levels


class WithoutStratum(Stored):
    """Stored facts, but those of one stratum only if they are asserted.

    All facts of lower strata are visible. No rule of the stratum reads facts of higher ones.
    """

    def __init__(self, stored: Stored, levels: Levels, number: int) -> None:
        super().__init__(stored.tables, stored.type_id)
        self._whole = stored
        self._levels = levels
        self._number = number

    def pairs(self, name: int) -> StoredPairs:
        """A relation of two columns."""
        found = self._pairs.get(name)
        if found is None:
            if name == self.type_id:
                asserted = AssertedPairs(self.tables.stored_relation(name), True)
                found = _Classes(self._whole.pairs(name), asserted, self._is_lower)
            elif self._levels.relation(name) < self._number:
                found = self._whole.pairs(name)
            else:
                found = AssertedPairs(self.tables.stored_relation(name), False)
            self._pairs[name] = found
        return found

    def tuples(self, name: tuple[int, int]) -> StoredTuples:
        """A relation of three or more columns."""
        found = self._tuples.get(name)
        if found is None:
            lower = self._levels.relation(name) < self._number
            relation = self.tables.tuples(*name)
            found = self._whole.tuples(name) if lower else StoredTuples(relation, EXPLICIT)
            self._tuples[name] = found
        return found

    def _is_lower(self, classes: U32) -> Bools:
        return by_runs(classes, lambda ids: self._levels.classes(ids) < self._number)


class AssertedPairs(StoredPairs):
    """The asserted rows of a relation of two columns."""

    __slots__ = ()

    def __init__(self, relation: PlainRelation, flipped: bool) -> None:
        super().__init__(relation, flipped, EXPLICIT)

    def array(self, place: int) -> U64:
        """All rows sorted by one place, that one in front."""
        found = self._arrays[place]
        if found is None:
            found = _plain_keys(self.relation, self._order[place], EXPLICIT)
            self._arrays[place] = found
        return found


class _Classes(StoredPairs):
    """The facts (class, member): all those of lower classes, and the asserted ones of other
    classes."""

    __slots__ = ("_asserted", "_every", "_is_lower")

    def __init__(
        self, every: StoredPairs, asserted: StoredPairs, is_lower: Callable[[U32], Bools]
    ) -> None:
        super().__init__(every.relation, True)
        self._every = every
        self._asserted = asserted
        self._is_lower = is_lower

    def _of(self, class_: int) -> StoredPairs:
        one = np.array([class_], dtype=np.uint32)
        return self._every if self._is_lower(one)[0] else self._asserted

    def array(self, place: int) -> U64:
        """All rows sorted by one place, that one in front."""
        found = self._arrays[place]
        if found is None:
            if place == 0:
                lower = self._every.array(0)
                found = unite(lower[self._is_lower(high(lower))], self._asserted.array(0))
            else:
                found = turned(self.array(0))
            self._arrays[place] = found
        return found

    def match(self, place: int, values: U32) -> tuple[I64, U32]:
        """The rows with these ids in one place: (number of the value, id in the other place)."""
        if place == 0:
            if len(values) == 1:
                return self._of(int(values[0])).match(0, values)
            lower = self._is_lower(values)
            if lower.all():
                return self._every.match(0, values)
            if not lower.any():
                return self._asserted.match(0, values)
            (one,), (other,) = lower.nonzero(), (~lower).nonzero()
            index, members = self._every.match(0, values[one])
            more, others = self._asserted.match(0, values[other])
            return np.concatenate((one[index], other[more])), np.concatenate((members, others))
        index, classes = self._every.match(1, values)
        keep = self._is_lower(classes)
        more, others = self._asserted.match(1, values)
        own = ~self._is_lower(others)
        return (
            np.concatenate((index[keep], more[own])),
            np.concatenate((classes[keep], others[own])),
        )

    def contains_keys(self, keys: U64) -> Bools:
        """Which of these rows hold."""
        lower = self._is_lower(high(keys))
        if lower.all():
            return self._every.contains_keys(keys)
        found = self._asserted.contains_keys(keys)
        if lower.any():
            found[lower] = self._every.contains_keys(keys[lower])
        return found

    def contains_beside(self, first: int, second: U32) -> Bools:
        """Which of these ids hold beside one first id."""
        return self._of(first).contains_beside(first, second)

    def estimate(self, place: int | None) -> float:
        """The expected number of rows: of all, or of those with one id in a place."""
        return self._every.estimate(place)


def by_runs(ids: U32, test: Callable[[U32], Bools]) -> Bools:
    """A test of ids, of which equal ones are mostly neighbours.

    >>> import numpy as np
    >>> by_runs(np.array([7, 7, 7, 2, 2], np.uint32), lambda each: each > 5).tolist()
    [True, True, True, False, False]
    """
    if len(ids) == 0:
        return np.zeros(0, dtype=np.bool_)
    starts = start_of_runs(ids)
    passed = test(ids[starts[:-1]])
    return passed if len(passed) == len(ids) else np.repeat(passed, np.diff(starts))


# -- facts derived before ------------------------------------------------------------------------


class Derived:
    """The facts that were derived before, by stratum, for comparison."""

    def __init__(self, levels: Levels) -> None:
        self._levels = levels
        self._inferred: _ByClass | None = None
        self._counted: _ByClass | None = None

    @staticmethod
    def of(stored: Stored, levels: Levels) -> Derived:
        """The derived facts of stored facts. What is read for one stratum serves the next."""
        found = _KNOWN.get(stored)
        if found is None:
            found = _KNOWN[stored] = Derived(levels)
        return found

    def inferred(
        self, stored: Stored, name: RelationKey, number: int, classes: Collection[int] | None
    ) -> Keys:
        """The inferred facts of a relation and a stratum.

        classes  for rdf:type, the only classes that may have such facts, if known
        """
        if name != stored.type_id:
            return stored_keys(stored, name, INFERRED)
        if classes is not None and len(classes) <= MAINTENANCE.few_classes:
            return _beside(stored, classes, INFERRED)
        if self._inferred is None:
            keys = stored_keys(stored, name, INFERRED)
            self._inferred = _ByClass(keys, np.zeros(0, dtype=np.int64), self._levels)
        return self._inferred.of_stratum(number)[0]

    def counts(
        self, stored: Stored, name: RelationKey, number: int, classes: Collection[int] | None
    ) -> tuple[Keys, I64]:
        """The facts of a relation and a stratum with counts above 0, and their counts."""
        if name != stored.type_id:
            return stored_counts(stored, name)
        if (
            classes is not None
            and len(classes) <= MAINTENANCE.few_classes
            and self._counted is None
        ):
            keys = _beside(stored, classes, HOLDS)
            if len(keys) * MAINTENANCE.count_rows < len(stored.pairs(name)):
                counts = stored.pairs(name).counts(keys).astype(np.int64)
                return keys[counts > 0], counts[counts > 0]
        if self._counted is None:
            self._counted = _ByClass(*stored_counts(stored, name), self._levels)
        return self._counted.of_stratum(number)


def _beside(stored: Stored, classes: Collection[int], where: int) -> U64:
    relation = stored.pairs(stored.type_id).relation
    found = [beside(class_, relation.by_second(class_, where)) for class_ in sorted(classes)]
    return np.concatenate(found) if found else no_keys(0)


_KNOWN: WeakKeyDictionary[Stored, Derived] = WeakKeyDictionary()


class _ByClass:
    """Facts (class, member) with a value each, or no values, by the strata of their classes."""

    def __init__(self, keys: U64, values: I64, levels: Levels) -> None:
        self.keys = keys
        self.values = values
        self.starts = start_of_runs(high(keys))
        self.levels = levels.classes(high(keys[self.starts[:-1]]))

    def of_stratum(self, number: int) -> tuple[U64, I64]:
        """The facts of one stratum."""
        own = (self.levels == number).nonzero()[0]
        if len(own) == len(self.levels):
            return self.keys, self.values
        rows = ranges(self.starts[own], np.diff(self.starts)[own])
        return self.keys[rows], self.values[rows] if len(self.values) else self.values


def stored_keys(stored: Stored, name: RelationKey, where: int) -> Keys:
    """The facts of a relation with some status, sorted as views expect them."""
    relation = stored.of(name).relation
    if isinstance(relation, TupleRelation):
        return relation.keys(where)
    return _plain_keys(relation, 1 if name == stored.type_id else 0, where)


def _plain_keys(relation: PlainRelation, order: int, where: int) -> U64:
    """`relation.keys`, with runs merged in order instead of sorted."""
    if isinstance(relation, ClosedRelation):
        return relation.keys(order, where)
    runs = relation.runs(order)
    if len(runs) < 2 or relation.stored_rows < RELATIONS.cold_rows:
        return relation.keys(order, where)
    found: U64 = no_keys(0)
    for run in runs:
        keys = run.keys[run.lo : run.hi]
        found = without(found, keys)  # the newest run decides about a fact
        if run.uniform is None:
            keys = keys[run.statuses(run.lo, run.hi) & np.uint8(where) != 0]
        if run.uniform is None or run.uniform & where:
            found = unite(found, keys)
    return found


def stored_counts(stored: Stored, name: RelationKey) -> tuple[Keys, I64]:
    """The facts of a relation with counts above 0, sorted as views expect them."""
    if isinstance(name, tuple):
        keys = stored.tuples(name).keys()
        counts = stored.tuples(name).counts(keys).astype(np.int64)
    else:
        keys, counts = _plain_counts(stored.tables.stored_relation(name))
    counted = counts > 0
    if not counted.all():
        keys, counts = keys[counted], counts[counted]
    if name == stored.type_id:
        keys = swap(keys)
        order = np.argsort(keys)
        keys, counts = keys[order], counts[order]
    return keys, counts


def _plain_counts(relation: PlainRelation) -> tuple[U64, I64]:
    found: list[tuple[U64, I64]] = []
    for run in relation.runs(0):
        if run.order.count is None and not found:
            continue  # no run below, so these rows hide nothing
        counts = run.order.counts(run.lo, run.hi).astype(np.int64)
        counts[run.statuses(run.lo, run.hi) & np.uint8(HOLDS) == 0] = 0
        found.append((run.keys[run.lo : run.hi], counts))
    if not found:
        return no_keys(0), np.zeros(0, dtype=np.int64)
    keys, counts = found[0]
    if len(found) > 1:
        keys = np.concatenate([one for one, _ in found])
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        last = last_of_equals(keys)
        keys = keys[last]
        counts = np.concatenate([by for _, by in found])[order[last]]
    return keys, counts

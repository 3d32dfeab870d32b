"""Views: the facts that rule bodies are matched with during an update.

Start reading at `Setting`: it says which facts a body sees (stored facts or none, plus some sets,
minus others) and makes the view of each relation. The papers' sets are such settings:

    I                    Setting(stored)
    I \\ (D \\ A)          Setting(stored, minus=[gone])
    (I \\ D) u A          Setting(stored, plus=[added], minus=[gone])
    I u A                Setting(stored, plus=[added])

Here `gone` is D \\ A and `added` is A \\ I; they are disjoint. Facts in `plus` are never stored;
facts in `minus` are left out of everything.

There are three kinds of views: of relations of two columns (`PairView`), of all triples
(`TripleView`), and of relations of three or more columns (`TupleView`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Protocol, cast

import numpy as np

from triplestore.relations.facts.difference_set import DifferenceSet
from triplestore.relations.facts.fact_sets import (
    ANY,
    FactSet,
    KeySet,
    RelationKey,
    TupleSet,
    joined,
)
from triplestore.relations.facts.sorted_arrays import beside, check_room, fans, is_bounded
from triplestore.relations.facts.stored_facts import ClosedPairs, Stored, StoredPairs, StoredTuples
from triplestore.relations.facts.triple_view import TripleView
from triplestore.relations.packed_keys import (
    I64,
    NO_IDS,
    NO_KEYS,
    SHIFT,
    U32,
    U64,
    Bools,
    Columns,
    Keys,
    columns_of,
    high,
    key_of,
    low,
    pack,
)
from triplestore.relations.relation import Relation
from triplestore.relations.thresholds import RELATIONS


class BodyView(Relation, Protocol):
    """The facts of a relation that a body sees."""

    def scan(self, places: Sequence[int] = (), ids: Sequence[int] = ()) -> Columns:
        """The rows with these ids in some places: the columns of the other places."""


class PairView:
    """A relation of two columns, from stored rows and sets."""

    __slots__ = ("minus", "parts", "stored")

    arity = 2

    def __init__(
        self, stored: StoredPairs | None, parts: list[KeySet], minus: list[KeySet]
    ) -> None:
        self.stored = stored
        self.parts = parts
        self.minus = minus

    def match(self, place: int, values: U32) -> tuple[I64, U32]:
        """The rows with these ids in one place: (position in `values`, id in the other place)."""
        found: list[tuple[I64, U32]] = []
        if self.stored is not None:
            found.append(self.stored.match(place, values))
        for part in self.parts:
            extra = part.match(place, values)
            if len(extra[0]):
                found.append(extra)
        if not found:
            return np.zeros(0, dtype=np.int64), NO_IDS
        index, other = found[0]
        if len(found) > 1:
            index = np.concatenate([f[0] for f in found])
            other = np.concatenate([f[1] for f in found])
        if self.minus and len(index):
            left = self._kept(_keys(place, values[index], other))
            if left is not None:
                index, other = index[left], other[left]
        return index, other

    def _kept(self, keys: U64) -> Bools | None:
        """Which rows are in no set that is left out; None for all."""
        keep: Bools | None = None
        for taken in self.minus:
            gone = taken.contains(keys)
            if gone.any():
                left: Bools = ~gone
                keep = left if keep is None else keep & left
        return keep

    def fanout(self, place: int, values: U32, exact: bool = True) -> I64 | None:
        """How many rows have each of these ids in one place; None if they would have to be
        listed. Unless `exact`, left-out rows may be counted."""
        if exact and any(map(len, self.minus)):
            return None
        sizes = np.zeros(len(values), dtype=np.int64)
        if isinstance(self.stored, ClosedPairs):
            sizes += self.stored.closed.match_counts(place, values)
        elif self.stored is not None and len(self.stored):
            array = self.stored.array_for(place, len(values))
            if array is None:
                return None
            sizes += fans(values, array)
        for part in self.parts:
            if not isinstance(part, KeySet):
                return None
            for run in part.runs if place == 0 else part.ordered(1):
                sizes += fans(values, run)
        return sizes

    def probe(self, places: Sequence[int], values: Sequence[U32]) -> tuple[I64, Columns]:
        """See `Relation.probe`."""
        if len(places) == 2:
            first, second = values if places[0] == 0 else (values[1], values[0])
            return self.contains((first, second)).nonzero()[0], ()
        index, other = self.match(places[0], values[0])
        return index, (other,)

    def scan(self, places: Sequence[int] = (), ids: Sequence[int] = ()) -> Columns:
        """See `BodyView.scan`."""
        if len(places) == 2:
            return ()
        if len(places) == 1:
            _, other = self.match(places[0], np.array([ids[0]], dtype=np.uint32))
            return (other,)
        keys = self.keys()
        return high(keys), low(keys)

    def keys(self) -> U64:
        """All rows, as keys; sorted if they come from one source."""
        parts = [] if self.stored is None else [self.stored.array(0)]
        parts += [part.keys() for part in self.parts]
        keys = parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, np.uint64), *parts])
        keep = self._kept(keys) if len(keys) else None
        return keys if keep is None else keys[keep]

    def is_large(self) -> bool:
        """Whether a closure of many pairs is visible, which should not be written out."""
        if isinstance(self.stored, ClosedPairs) and len(self.stored) > RELATIONS.written_pairs:
            return True
        return any(
            isinstance(p, DifferenceSet) and len(p) > RELATIONS.written_pairs for p in self.parts
        )

    def blocks(self) -> Iterator[U64]:
        """All rows as keys, in blocks."""
        sources = [] if self.stored is None else [self.stored.blocks()]
        sources += map(_blocks, self.parts)
        for keys in chain.from_iterable(sources):
            keep = self._kept(keys) if len(keys) else None
            left = keys if keep is None else keys[keep]
            if len(left):
                yield left

    def contains(self, columns: Columns) -> Bools:
        """See `Relation.contains`."""
        return self.contains_keys(pack(columns[0], columns[1]))

    def contains_keys(self, keys: U64) -> Bools:
        """Which rows, as keys, are seen."""
        if self.stored is None:
            found: Bools = np.zeros(len(keys), dtype=np.bool_)
        else:
            found = self.stored.contains_keys(keys)
        for part in self.parts:
            found = found | part.contains(keys)
        left = self._kept(keys) if self.minus else None
        return found if left is None else found & left

    def contains_beside(self, first: int, second: U32) -> Bools:
        """Which of these ids are seen beside one first id."""
        if self.stored is None or len(second) < RELATIONS.range_ids:
            return self.contains_keys(beside(first, second))
        found = self.stored.contains_beside(first, second)
        if self.parts or self.minus:
            keys = beside(first, second)
            for part in self.parts:
                found = found | part.contains(keys)
            left = self._kept(keys) if self.minus else None
            return found if left is None else found & left
        return found

    def arrays(self, place: int, rows: int) -> tuple[list[U64], tuple[U64, U64]] | None:
        """The sorted arrays that hold the rows, with one place in front, and two arrays of keys
        that are left out. None if that is not all, or if `rows` look-ups do not justify reading all
        stored rows."""
        found: list[U64] = []
        if self.stored is not None and len(self.stored):
            array = self.stored.array_for(place, rows)
            if array is None:
                return None
            found.append(array)
        for part in self.parts:
            if not isinstance(part, KeySet):
                return None
            found += part.runs if place == 0 else part.ordered(1)
        taken: list[U64] = []
        for out in self.minus:
            if not isinstance(out, KeySet):
                return None
            taken += out.runs
        if len(taken) > 2:  # merged into two arrays if that is cheap
            if sum(map(len, taken)) > RELATIONS.united_keys or len(self.minus) > 2:
                return None
            taken = [out.keys() for out in self.minus]
        taken += [NO_KEYS] * (2 - len(taken))
        return found, (taken[0], taken[1])

    def estimate(self, places: Sequence[int] = ()) -> float:
        """See `Relation.estimate`."""
        if len(places) == 2:
            return 0.5
        place = places[0] if places else None
        rows = 0.0 if self.stored is None else self.stored.estimate(place)
        for part in self.parts:
            size = float(len(part))
            rows += size if place is None else size**0.5
        return rows


def _blocks(part: object) -> Iterator[U64]:
    if isinstance(part, DifferenceSet):
        return part.blocks()
    assert isinstance(part, KeySet)
    return iter((part.keys(),))


class TupleView:
    """A relation of three or more columns, from stored rows and sets."""

    __slots__ = ("arity", "minus", "parts", "stored")

    def __init__(
        self,
        arity: int,
        stored: StoredTuples | None,
        parts: list[TupleSet],
        minus: list[TupleSet],
    ) -> None:
        self.arity = arity
        self.stored = stored
        self.parts = parts
        self.minus = minus

    def probe(self, places: Sequence[int], values: Sequence[U32]) -> tuple[I64, Columns]:
        """See `Relation.probe`."""
        if len(places) == self.arity:
            by_place = [values[list(places).index(c)] for c in range(self.arity)]
            return self.contains(tuple(by_place)).nonzero()[0], ()
        found = []
        if self.stored is not None:
            if is_bounded():
                check_room(int(self.stored.relation.fanout(places, values).sum()))
            found.append(self.stored.relation.probe(places, values, self.stored.where))
        found += [part.probe(places, values) for part in self.parts]
        if not found:
            free = self.arity - len(places)
            return np.zeros(0, dtype=np.int64), (NO_IDS,) * free
        index, columns = joined(found)
        if self.minus and len(index):
            rest = iter(columns)
            every = [
                values[list(places).index(c)][index] if c in places else next(rest)
                for c in range(self.arity)
            ]
            keep = self._kept(key_of(every))
            index, columns = index[keep], tuple(column[keep] for column in columns)
        return index, columns

    def _kept(self, keys: Keys) -> Bools:
        keep = np.ones(len(keys), dtype=np.bool_)
        for taken in self.minus:
            keep &= ~taken.contains(keys)
        return keep

    def scan(self, places: Sequence[int] = (), ids: Sequence[int] = ()) -> Columns:
        """See `BodyView.scan`."""
        if places:
            values = [np.array([i], dtype=np.uint32) for i in ids]
            return self.probe(places, values)[1]
        return columns_of(self.keys(), self.arity)

    def keys(self) -> Keys:
        """All rows, as keys."""
        parts = [] if self.stored is None else [self.stored.keys()]
        parts += [part.keys() for part in self.parts]
        keys = (
            parts[0] if len(parts) == 1 else np.concatenate([key_of([NO_IDS] * self.arity), *parts])
        )
        return keys[self._kept(keys)] if self.minus else keys

    def contains(self, columns: Columns) -> Bools:
        """See `Relation.contains`."""
        keys = key_of(columns)
        found = (
            np.zeros(len(keys), dtype=np.bool_)
            if self.stored is None
            else self.stored.contains_keys(keys)
        )
        for part in self.parts:
            found = found | part.contains(keys)
        return found & self._kept(keys) if self.minus else found

    def estimate(self, places: Sequence[int] = ()) -> float:
        """See `Relation.estimate`."""
        rows = float(0 if self.stored is None else len(self.stored)) + sum(map(len, self.parts))
        return rows ** (1 - len(places) / self.arity) if rows else 0.0


class Setting:
    """Which facts the atoms of a body are matched with.

    stored  the snapshot, or None if stored facts are not visible
    plus    sets that are visible in addition
    minus   sets that are not visible
    """

    __slots__ = ("_views", "minus", "plus", "stored", "type_id")

    def __init__(
        self,
        stored: Stored | None,
        plus: Sequence[FactSet] = (),
        minus: Sequence[FactSet] = (),
        *,
        type_id: int = 0,
    ) -> None:
        self.stored = stored
        self.plus = tuple(plus)
        self.minus = tuple(minus)
        self.type_id = stored.type_id if stored is not None else type_id
        self._views: dict[RelationKey, BodyView] = {}

    def without(self, *sets: FactSet) -> Setting:
        """The same setting with more sets left out."""
        minus = (*self.minus, *sets)
        return Setting(self.stored, self.plus, minus, type_id=self.type_id)

    def beside(self, more: FactSet) -> Setting:
        """The same setting with additional facts, none of them visible yet."""
        plus = (*self.plus, more)
        return Setting(self.stored, plus, self.minus, type_id=self.type_id)

    def view(self, relation: RelationKey) -> BodyView:
        """The view of any relation."""
        found = self._views.get(relation)
        if found is None:
            if relation == ANY:
                found = TripleView(self)
            elif isinstance(relation, tuple):
                found = self._tuples(relation)
            else:
                found = self._pairs(relation)
            self._views[relation] = found
        return found

    def pairs(self, name: int) -> PairView:
        """The view of a property."""
        view = self.view(name)
        assert isinstance(view, PairView)
        return view

    def _pairs(self, name: int) -> PairView:
        stored = None if self.stored is None else self.stored.pairs(name)
        return PairView(
            stored,
            [cast("KeySet", s[name]) for s in self.plus if name in s],
            [cast("KeySet", s[name]) for s in self.minus if name in s],
        )

    def _tuples(self, name: tuple[int, int]) -> TupleView:
        stored = None if self.stored is None else self.stored.tuples(name)
        return TupleView(
            name[1],
            stored,
            [cast("TupleSet", s[name]) for s in self.plus if name in s],
            [cast("TupleSet", s[name]) for s in self.minus if name in s],
        )


def _keys(place: int, given: U32, other: U32) -> U64:
    if place == 0:
        return pack(given, other)
    keys = other.astype(np.uint64)
    keys <<= SHIFT
    keys |= given
    return keys

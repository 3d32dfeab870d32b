"""Sets of facts that an update makes: deleted facts, added facts, facts of the last round.

Start reading at `FactSet`: relation -> its facts in the set, as `KeySet` (relations of two columns:
packed keys in the engine's order) or `TupleSet` (others). Sets grow by whole batches. A set is
a few sorted runs, each at least twice as long as the next, so that a fact is merged O(log n) times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeAlias, cast

import numpy as np

from triplestore.relations.facts.sorted_arrays import check_room, match, member, unite, without
from triplestore.relations.layers.sorted_order import ranges
from triplestore.relations.layers.swap_columns import turned
from triplestore.relations.packed_keys import (
    I64,
    NO_IDS,
    NO_KEYS,
    U32,
    U64,
    Bools,
    Columns,
    Keys,
    columns_of,
    key_of,
)
from triplestore.relations.thresholds import RELATIONS

RelationKey: TypeAlias = int | tuple[int, int]
"""The id of a property, or (id of the name, arity) of a user's relation."""

ANY = 0
"""The relation of all triples (s, p, o), for atoms with a variable as property."""


class KeySet:
    """Distinct packed keys, looked up by first or second id.

    >>> import numpy as np
    >>> some = KeySet(np.array([1 << 32 | 5, 2 << 32 | 7], np.uint64))
    >>> some.add(np.array([1 << 32 | 6], np.uint64))
    >>> len(some), some.match(0, np.array([1], np.uint32))[1].tolist()
    (3, [5, 6])
    """

    __slots__ = ("_back", "runs")

    def __init__(self, keys: U64 = NO_KEYS) -> None:
        self.runs: list[U64] = [keys] if len(keys) else []
        self._back: dict[int, tuple[U64, U64]] = {}

    def __len__(self) -> int:
        return sum(map(len, self.runs))

    def copied(self) -> KeySet:
        """An independent copy."""
        made = KeySet()
        made.runs, made._back = list(self.runs), self._back
        return made

    def add(self, keys: U64) -> None:
        """Add sorted, distinct keys that are not in the set."""
        if len(keys) == 0:
            return
        runs = self.runs
        runs.append(keys)
        while len(runs) > 1 and len(runs[-2]) < max(2 * len(runs[-1]), RELATIONS.run_keys):
            last = runs.pop()
            runs[-1] = unite(runs[-1], last)

    def discard(self, keys: U64) -> None:
        """Remove those of the sorted keys that are in the set."""
        left = (without(run, keys) for run in self.runs)
        self.runs = [run for run in left if len(run)]

    def keys(self) -> U64:
        """All keys, sorted."""
        runs = self.runs
        if len(runs) > 1:
            united = runs[-1]
            for run in runs[-2::-1]:
                united = unite(run, united)
            self.runs = runs = [united]  # at once: other threads may be reading
        return runs[0] if runs else NO_KEYS

    def contains(self, keys: U64) -> Bools:
        """Which of these keys, in any order, are in the set."""
        if not self.runs:
            return np.zeros(len(keys), dtype=np.bool_)
        found = member(keys, self.runs[0])
        for run in self.runs[1:]:
            found |= member(keys, run)
        return found

    def ordered(self, place: int) -> Iterator[U64]:
        """The runs sorted by the first (0) or second (1) id; these have the second id in front."""
        if place == 0:
            yield from self.runs
            return
        fresh: dict[int, tuple[U64, U64]] = {}
        for run in self.runs:  # made at first use, and kept while the run exists
            kept = self._back.get(id(run))
            fresh[id(run)] = kept if kept is not None else (run, turned(run))
            yield fresh[id(run)][1]
        self._back = fresh

    def match(self, place: int, values: U32) -> tuple[I64, U32]:
        """The keys with these ids in one place: (number of the value, id in the other place)."""
        found = [match(values, run) for run in self.ordered(place)]
        if len(found) == 1:
            return found[0]
        if not found:
            return np.zeros(0, dtype=np.int64), NO_IDS
        return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])


class WideRun:
    """Sorted, distinct rows of a relation of three or more columns, and their orders by others."""

    __slots__ = ("_orders", "arity", "rows")

    def __init__(self, rows: Keys, arity: int) -> None:
        self.rows = rows
        self.arity = arity
        self._orders: dict[tuple[int, ...], tuple[Keys, I64 | None]] = {}

    def probe(self, wanted: tuple[int, ...], keys: Keys) -> tuple[I64, Columns]:
        """The rows with these keys in some places: (number of the key, the other columns)."""
        given, order = self._order(wanted)
        lo, hi = given.searchsorted(keys), given.searchsorted(keys, side="right")
        sizes = hi - lo
        check_room(int(sizes.sum()))
        index = np.repeat(np.arange(len(keys)), sizes)
        rows = ranges(lo, sizes)
        columns = columns_of(self.rows[rows if order is None else order[rows]], self.arity)
        return index, tuple(columns[c] for c in range(self.arity) if c not in wanted)

    def _order(self, wanted: tuple[int, ...]) -> tuple[Keys, I64 | None]:
        """The keys of some places in order, and the row of each; None for the order of the rows."""
        found = self._orders.get(wanted)
        if found is None:
            columns = columns_of(self.rows, self.arity)
            given = key_of([columns[place] for place in wanted])
            if wanted == tuple(range(len(wanted))):
                found = given, None
            else:
                order = np.argsort(given, kind="stable")
                found = given[order], order
            self._orders[wanted] = found
        return found


class TupleSet:
    """Distinct rows of a relation of three or more columns, as sorted keys of all of them."""

    __slots__ = ("_runs", "arity")

    def __init__(self, arity: int, keys: Keys | None = None) -> None:
        self.arity = arity
        self._runs = [] if keys is None or len(keys) == 0 else [WideRun(keys, arity)]

    def __len__(self) -> int:
        return sum(len(run.rows) for run in self._runs)

    def copied(self) -> TupleSet:
        """An independent copy."""
        made = TupleSet(self.arity)
        made._runs = list(self._runs)
        return made

    def add(self, keys: Keys) -> None:
        """Add sorted, distinct keys that are not in the set."""
        if len(keys) == 0:
            return
        runs = [*self._runs, WideRun(keys, self.arity)]
        while len(runs) > 1 and len(runs[-2].rows) < max(
            2 * len(runs[-1].rows), RELATIONS.wide_run_keys
        ):
            last, before = runs.pop(), runs.pop()
            runs.append(WideRun(unite(before.rows, last.rows), self.arity))
        self._runs = runs

    def discard(self, keys: Keys) -> None:
        """Remove those of the sorted keys that are in the set."""
        left = [(run, without(run.rows, keys)) for run in self._runs]
        self._runs = [
            run if rows is run.rows else WideRun(rows, self.arity)
            for run, rows in left
            if len(rows)
        ]

    def keys(self) -> Keys:
        """All keys, sorted."""
        runs = self._runs
        if len(runs) > 1:
            united = runs[-1].rows
            for run in runs[-2::-1]:
                united = unite(run.rows, united)
            self._runs = runs = [WideRun(united, self.arity)]  # at once: threads may be reading
        return runs[0].rows if runs else key_of([NO_IDS] * self.arity)

    def contains(self, keys: Keys) -> Bools:
        """Which of these keys are in the set."""
        found = np.zeros(len(keys), dtype=np.bool_)
        for run in self._runs:
            found |= member(keys, run.rows)
        return found

    def columns(self) -> Columns:
        """All rows as columns."""
        return columns_of(self.keys(), self.arity)

    def probe(self, places: Sequence[int], values: Sequence[U32]) -> tuple[I64, Columns]:
        """The rows with these values: (number of the value, the other columns)."""
        wanted, keys = tuple(places), key_of(list(values))
        found = [run.probe(wanted, keys) for run in self._runs]
        if not found:
            return np.zeros(0, dtype=np.int64), (NO_IDS,) * (self.arity - len(wanted))
        return joined(found)


SetOfKeys: TypeAlias = KeySet | TupleSet


class ReadOnlySet(Protocol):
    """What is read of a set of facts of two columns; `DifferenceSet` has only this."""

    def __len__(self) -> int: ...

    def keys(self) -> U64:
        """All keys, sorted."""

    def contains(self, keys: U64) -> Bools:
        """Which of these keys are in the set."""

    def match(self, place: int, values: U32) -> tuple[I64, U32]:
        """The keys with these ids in one place: (position in `values`, id in the other place)."""


class FactSet(dict[RelationKey, SetOfKeys]):
    """Facts by relation."""

    def of(self, relation: RelationKey) -> SetOfKeys:
        """The facts of one relation, to be added to."""
        found = self.get(relation)
        if found is None:
            found = self[relation] = new_set(relation)
        return found

    def add(self, relation: RelationKey, keys: Keys) -> None:
        """Add sorted, distinct facts that are not in the set."""
        if len(keys):
            self.of(relation).add(keys)

    def put(self, relation: RelationKey, facts: SetOfKeys | ReadOnlySet) -> None:
        """Set the facts of a relation; the set is only read from now on."""
        self[relation] = cast("SetOfKeys", facts)  # only read

    def discard(self, relation: RelationKey, keys: Keys) -> None:
        """Remove those facts that are in the set."""
        found = self.get(relation)
        if found is not None and len(keys):
            found.discard(keys)

    def contains(self, relation: RelationKey, keys: Keys) -> Bools:
        """Which of these facts are in the set."""
        found = self.get(relation)
        return np.zeros(len(keys), dtype=np.bool_) if found is None else found.contains(keys)

    def keys_of(self, relation: RelationKey) -> Keys:
        """The facts of one relation, sorted."""
        found = self.get(relation)
        return no_keys(relation) if found is None else found.keys()

    def total(self) -> int:
        """How many facts there are."""
        return sum(map(len, self.values()))

    def copied(self) -> FactSet:
        """An independent copy."""
        return FactSet({name: found.copied() for name, found in self.items()})

    def batches(self) -> Batch:
        """The facts as sorted arrays; relations without facts are left out."""
        return {name: found.keys() for name, found in self.items() if len(found)}


Batch: TypeAlias = dict[RelationKey, Keys]
"""Facts by relation as sorted, distinct keys, none of them empty."""


def new_set(relation: RelationKey, keys: Keys | None = None) -> SetOfKeys:
    """A set of facts of one relation."""
    if isinstance(relation, tuple):
        return TupleSet(relation[1], keys)
    return KeySet(NO_KEYS if keys is None else keys)


def set_of(batch: Batch) -> FactSet:
    """A batch as a set."""
    return FactSet({name: new_set(name, keys) for name, keys in batch.items()})


def no_keys(relation: RelationKey) -> Keys:
    """No facts of a relation."""
    return key_of([NO_IDS] * relation[1]) if isinstance(relation, tuple) else NO_KEYS


def size_of(batch: Batch) -> int:
    """How many facts a batch has."""
    return sum(map(len, batch.values()))


def joined(found: list[tuple[I64, Columns]]) -> tuple[I64, Columns]:
    """All rows of at least one answer (numbers of values, columns)."""
    if len(found) == 1:
        return found[0]
    index = np.concatenate([f[0] for f in found])
    columns = zip(*(f[1] for f in found), strict=True)
    return index, tuple(np.concatenate(column) for column in columns)

"""How many rule instances derive each fact.

Start reading at `CountChanges`: changes of the stored counts of nonrecursive instances (C_nr in the
papers). In the papers an asserted fact has one more in its count. Here callers add that one,
because the status says whether a fact is asserted.

`RecursiveCounts`, which is optional, has the counts of recursive instances (C_r) of one closure, in
memory. With it DRed^c knows which facts are rederived without searching for derivations. An update
writes to a `RecursiveChanges`; dropping that undoes the update, `keep` adds it to the table. Facts
without such instances are not listed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplestore.relations.facts.fact_sets import RelationKey, no_keys
from triplestore.relations.facts.sorted_arrays import bounds, places_in, summed
from triplestore.relations.facts.stored_facts import Stored
from triplestore.relations.packed_keys import I64, U32, Keys
from triplestore.relations.thresholds import RELATIONS

_Piece: TypeAlias = tuple[Keys, I64]


class CountChanges:
    """Net changes of the counts of facts, by relation.

    >>> import numpy as np
    >>> from triplestore.relations import Tables
    >>> counts = CountChanges(Stored(Tables(), 0))
    >>> fact = np.array([1 << 32 | 5], np.uint64)
    >>> counts.change(9, fact, np.array([2]))
    >>> counts.change(9, fact, np.array([-1]))
    >>> counts.current(9, fact).tolist()
    [1]
    """

    __slots__ = ("_pieces", "stored")

    def __init__(self, stored: Stored | None) -> None:
        self.stored = stored
        self._pieces: dict[RelationKey, list[tuple[Keys, I64]]] = {}

    def change(self, relation: RelationKey, keys: Keys, by: NDArray[np.integer]) -> None:
        """Add to the counts of sorted, distinct facts."""
        if len(keys):
            self._pieces.setdefault(relation, []).append((keys, by.astype(np.int64, copy=False)))

    def current(self, relation: RelationKey, keys: Keys, before: U32 | None = None) -> I64:
        """The counts of facts now; `before` are those stored, if they are known."""
        if before is None and self.stored is not None:
            before = self.stored.of(relation).counts(keys)
        counts = np.zeros(len(keys), np.int64) if before is None else before.astype(np.int64)
        pieces = self._pieces.get(relation, [])
        if len(pieces) > RELATIONS.count_pieces:
            _merge(pieces)
        for known, by in pieces:
            places = places_in(keys, known)
            counts += np.where(places >= 0, by[places], 0)
        return counts

    def changed(self, relation: RelationKey) -> tuple[Keys, I64]:
        """The facts of a relation whose counts changed, sorted, and by how much."""
        pieces = self._pieces.get(relation)
        if not pieces:
            return no_keys(relation), np.zeros(0, dtype=np.int64)
        if len(pieces) > 1:
            pieces[:] = [_together(pieces)]
        keys, by = pieces[0]
        moved = by != 0
        return (keys, by) if moved.all() else (keys[moved], by[moved])

    def copied(self) -> CountChanges:
        """A copy that can be changed independently."""
        made = CountChanges(self.stored)
        made._pieces = {name: list(pieces) for name, pieces in self._pieces.items()}
        return made

    def relations(self) -> list[RelationKey]:
        """The relations with changes."""
        return list(self._pieces)

    def taken(self, relation: RelationKey) -> list[tuple[Keys, I64]]:
        """Remove the changes of a relation and return them, to be put back later."""
        return self._pieces.pop(relation, [])

    def put_back(self, relation: RelationKey, pieces: list[tuple[Keys, I64]]) -> None:
        """Put removed changes back."""
        if pieces:
            self._pieces[relation] = pieces

    def forget(self, relation: RelationKey) -> None:
        """Drop the changes of a relation."""
        self._pieces.pop(relation, None)


def _together(pieces: list[_Piece]) -> _Piece:
    """All pieces as one."""
    blocks = _blocks(pieces)
    if blocks is None:
        return _merged(pieces)
    parts = [_merged(blocks[first]) for first in sorted(blocks)]
    return np.concatenate([keys for keys, _ in parts]), np.concatenate([by for _, by in parts])


def _merged(pieces: list[_Piece]) -> _Piece:
    """All pieces merged as one: neighbours in pairs, so that a row is copied log n times."""
    while len(pieces) > 1:
        pairs = zip(pieces[::2], pieces[1::2], strict=False)
        odd = pieces[-1:] if len(pieces) % 2 else []
        pieces = [summed(*one, *other) for one, other in pairs] + odd
    return pieces[0]


def _blocks(pieces: list[_Piece]) -> dict[int, list[_Piece]] | None:
    """The rows by first id, or None if there are many first ids: members of a class come from one
    stratum, so they are copied once instead of being merged repeatedly."""
    if (
        pieces[0][0].dtype != np.uint64
        or sum(len(keys) for keys, _ in pieces) < RELATIONS.block_rows
    ):
        return None
    blocks: dict[int, list[_Piece]] = {}
    for keys, by in pieces:
        at, left = 0, len(keys) // RELATIONS.rows_per_block
        while at < len(keys):
            if left < 0:
                return None
            first = int(keys[at]) >> 32
            stop = bounds(keys, first)[1]
            blocks.setdefault(first, []).append((keys[at:stop], by[at:stop]))
            at, left = stop, left - 1
    return blocks


def _merge(pieces: list[tuple[Keys, I64]]) -> None:
    """Merge the last pieces, as long as the one before is not twice as long."""
    pieces[-2:] = [summed(*pieces[-2], *pieces[-1])]
    while len(pieces) > 1 and len(pieces[-2][0]) < 2 * len(pieces[-1][0]):
        pieces[-2:] = [summed(*pieces[-2], *pieces[-1])]


class RecursiveCounts:
    """Counts of facts by relation: a few sorted runs, each at least twice as long as the next.

    >>> table = RecursiveCounts()
    >>> facts = np.array([1 << 32 | 5, 1 << 32 | 7], np.uint64)
    >>> changes = table.begin()
    >>> changes.change(9, facts, np.array([2, 1]))
    >>> table.current(9, facts).tolist(), changes.current(9, facts).tolist()
    ([0, 0], [2, 1])
    >>> changes.keep(), table.current(9, facts).tolist()
    (True, [2, 1])
    """

    __slots__ = ("_runs",)

    def __init__(self) -> None:
        self._runs: dict[RelationKey, list[tuple[Keys, I64]]] = {}

    def begin(self) -> RecursiveChanges:
        """The changes of a new update."""
        return RecursiveChanges(self)

    def current(self, relation: RelationKey, keys: Keys) -> I64:
        """The counts of facts."""
        counts = np.zeros(len(keys), dtype=np.int64)
        for known, by in self._runs.get(relation, ()):
            places = places_in(keys, known)
            counts += np.where(places >= 0, by[places], 0)
        return counts

    def add(self, relation: RelationKey, keys: Keys, by: I64) -> None:
        """Add to the counts of sorted, distinct facts."""
        if len(keys) == 0:
            return
        runs = self._runs.setdefault(relation, [])
        runs.append((keys, by))
        while len(runs) > 1 and len(runs[-2][0]) < 2 * len(runs[-1][0]):
            last = runs.pop()
            runs[-1] = summed(*runs[-1], *last)
        if len(runs) == 1:
            self._clean(relation)

    def _clean(self, relation: RelationKey) -> None:
        """Remove facts without instances from the only run of a relation."""
        keys, by = self._runs[relation][0]
        counted = by != 0
        if not counted.any():
            del self._runs[relation]
        elif not counted.all():
            self._runs[relation] = [(keys[counted], by[counted])]

    def items(self) -> Iterator[tuple[RelationKey, Keys, I64]]:
        """All facts that have recursive instances, and their counts."""
        for relation, runs in list(self._runs.items()):
            while len(runs) > 1:
                last = runs.pop()
                runs[-1] = summed(*runs[-1], *last)
            self._clean(relation)
        for relation, runs in self._runs.items():
            yield relation, *runs[0]

    @property
    def nbytes(self) -> int:
        """Size of the table in bytes."""
        return sum(keys.nbytes + by.nbytes for runs in self._runs.values() for keys, by in runs)


class RecursiveChanges:
    """The changes that one update makes to the counts."""

    __slots__ = ("_changes", "complete", "table")

    def __init__(self, table: RecursiveCounts) -> None:
        self.table = table
        self.complete = True
        """Whether all changes were recorded; if not, the table is invalid after the update."""
        self._changes = CountChanges(None)

    def change(self, relation: RelationKey, keys: Keys, by: NDArray[np.integer]) -> None:
        """Add to the counts of sorted, distinct facts."""
        self._changes.change(relation, keys, by)

    def current(self, relation: RelationKey, keys: Keys) -> I64:
        """The counts of facts now."""
        return self.table.current(relation, keys) + self._changes.current(relation, keys)

    def copied(self) -> RecursiveChanges:
        """A copy that can be changed independently."""
        made = RecursiveChanges(self.table)
        made.complete = self.complete
        made._changes = self._changes.copied()
        return made

    def keep(self) -> bool:
        """Add the changes to the table; False if it must be rebuilt."""
        if not self.complete:
            return False
        for relation in self._changes.relations():
            self.table.add(relation, *self._changes.changed(relation))
        self._changes = CountChanges(None)
        return True

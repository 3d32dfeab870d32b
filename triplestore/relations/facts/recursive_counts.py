"""How many recursive rule instances derive each fact: C_r in the papers. Optional.

Start reading at `RecursiveCounts`, a table in memory for one closure. With it DRed^c knows which
facts are rederived without searching for derivations. An update writes to a `RecursiveChanges`;
dropping that undoes the update, `keep` adds it to the table. Facts without such instances are not
listed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from triplestore.relations.facts.counts import CountChanges
from triplestore.relations.facts.fact_sets import RelationKey
from triplestore.relations.facts.sorted_arrays import places_in, summed
from triplestore.relations.packed_keys import I64, Keys


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

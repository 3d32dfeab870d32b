"""Which reads of which queries a commit concerns: start at `TriggerIndex.hits`.

Reads are indexed by predicate, and among these by a constant subject or object, so that the cost of
a commit depends on the reads that it concerns and not on the number of queries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from triplestore.data_classes import data_class
from triplestore.expressions.tree import Constant
from triplestore.live.fact_changes import ANY, FactChanges
from triplestore.live.reads import Read
from triplestore.relations import ChangedRows
from triplestore.relations.packed_keys import in_sorted
from triplestore.terms import Dictionary

PREDICATE, SUBJECT, OBJECT, GRAPH = 0, 1, 2, 3
"""The columns of changed facts."""

Place = tuple[int, int]
"""A predicate and a column."""


@data_class(frozen=False, eq=False)
class Trigger:
    """A read of one query, with the ids of its constants.

    owner   the query
    number  of the read among those of the query
    named   whether it reads named graphs
    ids     of the constants, by column; 0 if the store does not have one
    """

    owner: Any
    number: int
    read: Read
    named: bool
    ids: dict[int, int]

    @classmethod
    def of(
        cls, owner: Any, number: int, read: Read, named: bool, dictionary: Dictionary
    ) -> Trigger:
        """The trigger of a read."""
        made = cls(owner, number, read, named, {})
        made.look_up(dictionary)
        return made

    def look_up(self, dictionary: Dictionary) -> None:
        """Find the ids of the constants."""
        constants = self._constants()
        found = dictionary.lookup_keys([constant.key for _, constant in constants]).tolist()
        self.ids = {place: i for (place, _), i in zip(constants, found, strict=True)}

    def _constants(self) -> list[tuple[int, Constant]]:
        s, p, o = self.read.pattern
        graph = self.read.graph if self.named else None
        terms = ((PREDICATE, p), (SUBJECT, s), (OBJECT, o), (GRAPH, graph))
        return [(place, term) for place, term in terms if isinstance(term, Constant)]

    @property
    def waits(self) -> bool:
        """Whether the store lacks one of the constants, so that nothing can match."""
        return 0 in self.ids.values()

    @property
    def missing(self) -> list[bytes]:
        """The keys of the constants that the store lacks."""
        return [constant.key for place, constant in self._constants() if not self.ids[place]]

    @property
    def places(self) -> tuple[Place, int] | Place:
        """Where the index has it: under a constant end, or under its predicate."""
        predicate = self.ids.get(PREDICATE, ANY)
        for column in (OBJECT, SUBJECT):
            if column in self.ids:
                return (predicate, column), self.ids[column]
        return predicate, PREDICATE

    def matched(self, rows: ChangedRows) -> ChangedRows:
        """The changed facts that it reads."""
        mask = np.ones(len(rows), np.bool_)
        for column, term_id in self.ids.items():
            mask &= rows.columns[column] == np.uint32(term_id)
        s, p, o = self.read.pattern
        for one, other, columns in ((s, o, (1, 2)), (s, p, (1, 0)), (p, o, (0, 2))):
            if one == other and not isinstance(one, Constant):
                mask &= rows.columns[columns[0]] == rows.columns[columns[1]]
        return rows if mask.all() else rows.take(mask)


class TriggerIndex:
    """The triggers of all queries over the default graph, or over named graphs."""

    def __init__(self, named: bool) -> None:
        self._named = named
        self._plain: dict[int, dict[Trigger, None]] = {}
        self._ends: dict[Place, dict[int, dict[Trigger, None]]] = {}
        self._waiting: dict[Trigger, None] = {}
        self._missing: list[bytes] | None = None

    def add(self, trigger: Trigger) -> None:
        """Add a trigger."""
        if trigger.waits:
            self._waiting[trigger] = None
            self._missing = None
            return
        first, second = trigger.places
        if isinstance(first, tuple):
            self._ends.setdefault(first, {}).setdefault(second, {})[trigger] = None
        else:
            self._plain.setdefault(first, {})[trigger] = None

    def discard(self, trigger: Trigger) -> None:
        """Remove a trigger."""
        if trigger in self._waiting:
            del self._waiting[trigger]
            self._missing = None
            return
        first, second = trigger.places
        if isinstance(first, tuple):
            at_ends = self._ends[first]
            del at_ends[second][trigger]
            if not at_ends[second]:
                del at_ends[second]
            if not at_ends:
                del self._ends[first]
        else:
            del self._plain[first][trigger]
            if not self._plain[first]:
                del self._plain[first]

    def wake(self, dictionary: Dictionary) -> None:
        """Look up the constants that were unknown, after terms were added."""
        if not self._waiting:
            return
        if self._missing is None:
            self._missing = list({key for trigger in self._waiting for key in trigger.missing})
        if not dictionary.lookup_keys(self._missing).any():
            return
        waiting, self._waiting, self._missing = self._waiting, {}, None
        for trigger in waiting:
            trigger.look_up(dictionary)
            self.add(trigger)

    def hits(self, changes: FactChanges) -> Iterator[Trigger]:
        """The triggers that a commit may concern."""
        if changes.of(ANY, self._named) is None:
            return
        for predicate in (*changes.predicates(self._named), ANY):
            yield from self._plain.get(predicate, ())
            for column in (SUBJECT, OBJECT):
                ends = self._ends.get((predicate, column))
                if ends:
                    rows = changes.of(predicate, self._named)
                    if rows is not None:
                        for term_id in _shared(ends, rows.columns[column]):
                            yield from ends[term_id]


def _shared(ends: dict[int, Any], values: Any) -> Iterable[int]:
    """The keys that occur among some values."""
    if len(values) <= 64:
        return [value for value in set(values.tolist()) if value in ends]
    wanted = np.fromiter(ends, np.uint32, len(ends))
    found: list[int] = wanted[in_sorted(wanted, np.unique(values))].tolist()
    return found

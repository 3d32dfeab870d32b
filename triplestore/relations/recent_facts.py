"""Facts that were changed one by one, and are not in a layer yet.

Start reading at `RecentFacts`. To make a layer of one fact, and to merge it with the topmost one,
takes longer than all the rest of a commit. So a few changed facts are only noted, in a list that
successive tables share; the layer is made when something is read, or when there are many of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from triplestore.relations.changes import NO_FACTS, ChangedRows

if TYPE_CHECKING:
    from triplestore.relations.tables import Tables

Fact = tuple[int, int, int]
"""Predicate, subject and object of a fact of the default graph."""


class FactChange(NamedTuple):
    """A fact with its new status, and the one that it had before."""

    fact: Fact
    status: int
    previous: int


class RecentFacts:
    """Changes on top of some tables, oldest first. Tables that share it see the first of
    them, as many as there were.

    known  the newest status of each changed fact
    """

    __slots__ = ("base", "changes", "known")

    def __init__(self, base: Tables) -> None:
        self.base = base
        self.changes: list[FactChange] = []
        self.known: dict[Fact, int] = {}

    def add(self, changes: Sequence[FactChange]) -> int:
        """Append changes; returns how many there are then."""
        self.changes += changes
        for fact, status, _ in changes:
            self.known[fact] = status
        return len(self.changes)

    def rows(self, upto: int) -> ChangedRows:
        """The first changes as rows, each fact once."""
        return rows_of(self.changes[:upto])


def rows_of(changes: Sequence[FactChange]) -> ChangedRows:
    """Changes, oldest first, as rows: the newest status of each fact, and the oldest before.

    >>> fact = (9, 1, 2)
    >>> back = [FactChange(fact, 0, 1), FactChange(fact, 1, 0)]
    >>> rows = rows_of([*back, FactChange((9, 1, 3), 1, 0)])
    >>> rows.columns[2].tolist(), rows.status.tolist(), rows.previous.tolist()
    ([2, 3], [1, 1], [1, 0])
    """
    if not changes:
        return NO_FACTS
    newest = {fact: status for fact, status, _ in changes}
    oldest = {fact: previous for fact, _, previous in reversed(changes)}
    columns = np.array(list(newest), dtype=np.uint32).T
    status = np.array(list(newest.values()), dtype=np.uint8)
    previous = np.array([oldest[fact] for fact in newest], dtype=np.uint8)
    return ChangedRows.of([np.ascontiguousarray(column) for column in columns], status, previous)

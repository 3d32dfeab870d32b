"""Instances that a search has found and cannot use yet, with the facts that they wait for.

Always true: an instance waits for facts that are not proved; when the last of them is, it proves
its goal without being looked for again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplestore.engine.sets.keys import KeySet
from triplestore.tables.rows import I64, U32, distinct, low, pack


class Instances:
    """Instances by number, and who waits for whom.

    >>> found = Instances()
    >>> found.add(np.array([7, 7]), np.array([3, 4, 5]), np.array([0, 0, 1]))
    >>> found.use(np.array([3])).tolist(), found.use(np.array([4])).tolist()
    ([], [7])
    """

    def __init__(self) -> None:
        self.goal = np.zeros(64, dtype=np.uint32)
        self.rest = np.zeros(64, dtype=np.int32)
        """How many facts each waits for."""
        self.count = 0
        self._waits = KeySet()
        """Pairs (fact, instance that waits for it)."""
        self._needs = KeySet()
        """Pairs (goal, fact that an instance of it waits for)."""

    @property
    def size(self) -> int:
        """How many instances there are."""
        return self.count

    def add(self, goals: I64, children: I64, instances: I64) -> None:
        """Remember that instances[i], of goals[instances[i]], waits for children[i]."""
        each, places = np.unique(instances, return_inverse=True)
        start = self.count
        self.count += len(each)
        if self.count > len(self.goal):
            self.goal, self.rest = _longer(self.goal, self.count), _longer(self.rest, self.count)
        self.goal[start : self.count] = goals[each]
        numbers: U32 = (places + start).astype(np.uint32)
        waits = distinct(np.sort(pack(children.astype(np.uint32), numbers)))
        self.rest[start : self.count] = np.bincount(
            low(waits).astype(np.int64) - start, minlength=len(each)
        )
        self._waits.add(waits)
        needs = pack(goals[instances].astype(np.uint32), children.astype(np.uint32))
        needs = distinct(np.sort(needs))
        self._needs.add(needs[~self._needs.contains(needs)])

    def use(self, facts: I64) -> I64:
        """The goals of instances that waited for these facts, and now wait for nothing."""
        instances = self._waits.match(0, facts.astype(np.uint32))[1]
        if len(instances) == 0:
            return np.zeros(0, dtype=np.int64)
        each, times = np.unique(instances, return_counts=True)
        self.rest[each] -= times.astype(np.int32)
        ready = each[self.rest[each] == 0]
        return distinct(np.sort(self.goal[ready])).astype(np.int64)

    def needed(self, goals: I64) -> I64:
        """The facts that instances of these goals wait for."""
        return self._needs.match(0, goals.astype(np.uint32))[1].astype(np.int64)

    def goals_of(self, facts: I64) -> I64:
        """The goals of the instances that wait for these facts."""
        instances = self._waits.match(0, facts.astype(np.uint32))[1]
        return distinct(np.sort(self.goal[instances])).astype(np.int64)


def _longer(array: NDArray[Any], count: int) -> NDArray[Any]:
    made = np.zeros(2 * count, dtype=array.dtype)
    made[: len(array)] = array
    return made

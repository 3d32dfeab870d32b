"""Instances that a search has found and cannot use yet, with the facts that they wait for.

Always true: an instance waits for facts that are not proved. When the last of them is proved, it
proves its goal without being found again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplestore.maintenance.thresholds import MAINTENANCE
from triplestore.relations.facts.sorted_arrays import match, unite
from triplestore.relations.packed_keys import I64, NO_IDS, U32, U64, distinct, low, pack


class WaitingInstances:
    """Instances by number, and the facts that each waits for.

    >>> found = WaitingInstances()
    >>> found.add(np.array([7, 7]), np.array([3, 4, 5]), np.array([0, 0, 1]))
    >>> found.use(np.array([3])).tolist(), found.use(np.array([4])).tolist()
    ([], [7])
    """

    def __init__(self) -> None:
        self.goal = np.zeros(64, dtype=np.uint32)
        self.rest = np.zeros(64, dtype=np.int32)
        """The number of facts that each instance waits for."""
        self.count = 0
        self._waits = Links()
        """Pairs (fact, instance that waits for it)."""
        self._needs = Links()
        """Pairs (goal, fact that an instance of it waits for)."""

    @property
    def size(self) -> int:
        """The number of instances."""
        return self.count

    def add(self, goals: I64, children: I64, instances: I64) -> None:
        """Remember that instances[i], of goals[instances[i]], waits for children[i]."""
        used = np.zeros(len(goals), dtype=np.bool_)
        used[instances] = True
        start = self.count
        each = np.flatnonzero(used)
        numbers = (used.cumsum() + (start - 1))[instances].astype(np.uint32)
        self.count += len(each)
        if self.count > len(self.goal):
            self.goal, self.rest = _longer(self.goal, self.count), _longer(self.rest, self.count)
        self.goal[start : self.count] = goals[each]
        waits = distinct(np.sort(pack(children.astype(np.uint32), numbers)))
        self.rest[start : self.count] = np.bincount(
            low(waits).astype(np.int64) - start, minlength=len(each)
        )
        self._waits.add(waits)
        needs = pack(goals[instances].astype(np.uint32), children.astype(np.uint32))
        needs = distinct(np.sort(needs))
        self._needs.add(needs)

    def use(self, facts: I64) -> I64:
        """The goals of instances that waited for these facts, and now wait for nothing."""
        instances = self._waits.of(facts)
        if len(instances) == 0:
            return np.zeros(0, dtype=np.int64)
        each, times = np.unique(instances, return_counts=True)
        self.rest[each] -= times.astype(np.int32)
        ready = each[self.rest[each] == 0]
        return distinct(np.sort(self.goal[ready])).astype(np.int64)

    def needed(self, goals: I64) -> I64:
        """The facts that instances of these goals wait for."""
        return self._needs.of(goals).astype(np.int64)

    def goals_of(self, facts: I64) -> I64:
        """The goals of the instances that wait for these facts."""
        instances = self._waits.of(facts)
        return distinct(np.sort(self.goal[instances])).astype(np.int64)


class Links:
    """Pairs of numbers, looked up by the first: a few sorted runs, which may have pairs in
    common."""

    __slots__ = ("_runs",)

    def __init__(self) -> None:
        self._runs: list[U64] = []

    def add(self, pairs: U64) -> None:
        """Add sorted, distinct pairs."""
        runs = self._runs
        runs.append(pairs)
        while len(runs) > 1 and len(runs[-2]) < max(MAINTENANCE.short_run, 2 * len(runs[-1])):
            last = runs.pop()
            runs[-1] = unite(runs[-1], last)

    def of(self, numbers: I64) -> U32:
        """The second numbers of all pairs with these first numbers."""
        firsts = numbers.astype(np.uint32)
        found = [match(firsts, run)[1] for run in self._runs]
        return found[0] if len(found) == 1 else np.concatenate([NO_IDS, *found])


def _longer(array: NDArray[Any], count: int) -> NDArray[Any]:
    made = np.zeros(2 * count, dtype=array.dtype)
    made[: len(array)] = array
    return made

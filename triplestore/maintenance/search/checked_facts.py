"""What a proof search knows of each fact, in arrays: a fact is a number here.

Start reading at `CheckedFacts`. Facts are numbered in the order in which they are met. Flags,
depths and ages are read and changed by arrays of numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplestore.maintenance.thresholds import MAINTENANCE
from triplestore.relations.facts.fact_sets import Batch, RelationKey
from triplestore.relations.facts.sorted_arrays import places_in
from triplestore.relations.packed_keys import I64, Keys

CHECKED = np.uint8(1)
"""A proof was looked for (the papers' set C). Facts whose branch was aborted are met, but not
checked."""
PROVED = np.uint8(2)
"""The fact follows from the surviving facts (P)."""
BLOCKED = np.uint8(4)
"""Not all ways to prove the fact were tried, and they will not be (B)."""
DEAD = np.uint8(8)
"""All ways to prove the fact were tried: it has no proof."""
LIVE = np.uint8(16)
"""A proof would help to prove an open goal."""


class CheckedFacts:
    """Facts by number.

    >>> facts = CheckedFacts()
    >>> facts.add(9, np.array([1 << 32 | 5, 1 << 32 | 7], np.uint64)).tolist()
    [0, 1]
    >>> facts.find(9, np.array([1 << 32 | 7, 1 << 32 | 8], np.uint64)).tolist()
    [1, -1]
    """

    __slots__ = ("_blocks", "_runs", "_starts", "age", "count", "depth", "flags", "waiting")

    def __init__(self) -> None:
        self.count = 0
        self.flags = np.zeros(64, dtype=np.uint8)
        self.depth = np.zeros(64, dtype=np.int32)
        self.age = np.zeros(64, dtype=np.int32)
        """Number of rounds in which instances were looked for."""
        self.waiting = np.zeros(64, dtype=np.int32)
        """Number of rows of `Pieces` that may still become instances."""
        self._runs: dict[RelationKey, list[tuple[Keys, I64]]] = {}
        self._blocks: list[tuple[RelationKey, Keys]] = []
        self._starts: list[int] = []

    def add(self, relation: RelationKey, keys: Keys) -> I64:
        """Number sorted, distinct facts that have no numbers yet."""
        start = self.count
        self.count += len(keys)
        if self.count > len(self.flags):
            self._grow()
        self._blocks.append((relation, keys))
        self._starts.append(start)
        numbers = np.arange(start, self.count)
        runs = self._runs.setdefault(relation, [])
        runs.append((keys, numbers))
        while len(runs) > 1 and len(runs[-2][0]) < max(MAINTENANCE.short_run, 2 * len(runs[-1][0])):
            last, before = runs.pop(), runs.pop()
            runs.append(_merged(before, last))
        return numbers

    def _grow(self) -> None:
        size = 2 * self.count
        self.flags = _longer(self.flags, size)
        self.depth = _longer(self.depth, size)
        self.age = _longer(self.age, size)
        self.waiting = _longer(self.waiting, size)

    def find(self, relation: RelationKey, keys: Keys) -> I64:
        """The numbers of facts; -1 for facts without a number."""
        found = np.empty(len(keys), dtype=np.int64)
        found.fill(-1)
        for known, numbers in self._runs.get(relation, ()):
            places = places_in(keys, known)
            hit = places >= 0
            found[hit] = numbers[places[hit]]
        return found

    def batch(self, numbers: I64) -> Batch:
        """The facts with these numbers; each number is given once."""
        if len(numbers) == 0:
            return {}
        numbers = np.sort(numbers)
        starts = np.array(self._starts)
        block = starts.searchsorted(numbers, side="right") - 1
        parts: dict[RelationKey, list[Keys]] = {}
        begins = np.flatnonzero(np.concatenate(([True], block[1:] != block[:-1])))
        for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(block)], strict=True):
            at = int(block[begin])
            relation, keys = self._blocks[at]
            parts.setdefault(relation, []).append(keys[numbers[begin:end] - starts[at]])
        return {
            name: found[0] if len(found) == 1 else np.sort(np.concatenate(found))
            for name, found in parts.items()
        }

    def having(self, wanted: np.uint8, of: np.uint8) -> I64:
        """The numbers of the facts that have exactly the flags `wanted` among those `of`."""
        return np.flatnonzero((self.flags[: self.count] & of) == wanted)

    def has(self, numbers: I64, flag: np.uint8) -> NDArray[np.bool_]:
        """Which of the facts have a flag."""
        found: NDArray[np.bool_] = (self.flags[numbers] & flag) != 0
        return found

    def mark(self, numbers: I64, flag: np.uint8) -> None:
        """Give the facts a flag."""
        self.flags[numbers] |= flag


def _merged(one: tuple[Keys, I64], other: tuple[Keys, I64]) -> tuple[Keys, I64]:
    keys = np.concatenate((one[0], other[0]))
    order = np.argsort(keys, kind="stable")
    return keys[order], np.concatenate((one[1], other[1]))[order]


def _longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    made = np.zeros(size, dtype=array.dtype)
    made[: len(array)] = array
    return made

"""Where the rows of several versions lie: a pool of words, and who may write where in it."""

from __future__ import annotations

from typing import Protocol
from weakref import WeakSet

import numpy as np

from triplestore.relations.packed_keys import I64, U64

STEPS = 1 << 21
"""Steps in one call of a kernel: some milliseconds."""


class Version(Protocol):
    """Rows that lie in a pool at or after `low` and before `end`."""

    @property
    def low(self) -> int:
        """Where they begin."""

    @property
    def end(self) -> int:
        """Where they end."""


class Pool:
    """Words that rows are made of. Versions share it; none writes where another one has rows.

    A version that is done with leaves its place to be written to again: when an update writes most
    rows anew, it does so before those of the version before, and the next one behind them.
    """

    __slots__ = ("__weakref__", "touched", "versions", "words")

    def __init__(self, wanted: int, least: int) -> None:
        """Much is asked for: memory that nothing was ever written to costs nothing."""
        try:
            self.words: U64 = np.empty(wanted + least, dtype=np.uint64)
        except MemoryError:
            self.words = np.empty(least, dtype=np.uint64)
        self.touched = 0
        self.versions: WeakSet[Version] = WeakSet()

    @classmethod
    def around(cls, words: U64) -> Pool:
        """A pool of words that are there already, and may be read only."""
        pool = cls(0, 0)
        pool.words, pool.touched = words, len(words)
        return pool

    def end(self) -> int:
        """Where the rows of all versions end."""
        return max((version.end for version in self.versions), default=0)

    def room(self) -> tuple[int, int]:
        """Where the next version may write: before all others if that is much, or behind them."""
        end = self.end()
        low = min((version.low for version in self.versions), default=0)
        return (0, low) if low > end - low else (end, len(self.words))

    def more_room(self, written: int, stop: int, least: int) -> tuple[Pool, int, int]:
        """Where to go on after the room up to `stop` was too little, perhaps in a larger pool."""
        here = self.end() if stop < len(self.words) else written
        if here + least <= len(self.words):
            return self, here, len(self.words)
        pool = Pool(3 * here, here + (here >> 3) + least)
        pool.words[:here] = self.words[:here]
        return pool, here, len(pool.words)


def gather(head: I64, pool: Pool, out: Pool, low: int, end: int, place: int) -> int:
    """Move rows that lie outside low .. end in one pool to a place of another; return their end."""
    from triplestore.kernels.closures.reach_rows import gather_rows

    state = np.array([0, place], dtype=np.int64)
    while not gather_rows(head, pool.words, out.words, low, end, state, STEPS):
        pass
    return int(state[1])

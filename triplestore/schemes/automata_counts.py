"""How many nodes in one state each node reaches, from the rows of a closure, without listing them.

Start reading at `StateCounts`. The rows of a closure over pairs (node, state) say what is reached
in any state. To count what is in one state, each component weighs as many nodes as it has in it.
"""

from __future__ import annotations

import numpy as np

from triplestore.schemes.packed import I64, U64, Bools
from triplestore.schemes.reach import Reach

_STEPS = 1 << 21
_OWNER = 2


class StateCounts:
    """Counts for one state of nodes that are numbered as a graph numbers them.

    wanted   which nodes are in that state
    """

    def __init__(self, reach: Reach, wanted: Bools) -> None:
        self._reach = reach
        self._weights = np.bincount(reach.label[wanted], minlength=reach.labels)
        self._firsts = np.zeros(reach.labels + 1, dtype=np.int64)
        np.cumsum(self._weights, out=self._firsts[1:])
        self._single = _bitmap(self._weights == 1)
        self._heavy = _bitmap(self._weights > 1)

    def of(self, nodes: I64) -> I64:
        """How many wanted nodes one or more steps lead to from each node."""
        labels = self._reach.label[nodes].astype(np.int64)
        owner = self._reach.head.reshape(-1, 4)[labels, _OWNER]
        owners, index = np.unique(owner >> 1, return_inverse=True)
        # What a component leads to is itself and its owner's row; it counts if it reaches itself.
        own = (owner >> 1 != labels).astype(np.int64) + (owner & 1) - 1
        counts: I64 = self._of_rows(owners)[index] + self._weights[labels] * own
        return counts

    def _of_rows(self, owners: I64) -> I64:
        from triplestore.kernels.automata import weigh_some

        found, state = np.empty(len(owners), dtype=np.int64), np.zeros(1, dtype=np.int64)
        while not weigh_some(
            owners.astype(np.uint32), self._reach.head, self._reach.pool.words, self._firsts,
            self._single, self._heavy, found, state, _STEPS,
        ):  # fmt: skip
            pass
        return found


def _bitmap(labels: Bools) -> U64:
    """The labels as bits, 64 to a word, with a word to spare."""
    bits = np.zeros(((len(labels) >> 6) + 1) * 8, dtype=np.uint8)
    packed = np.packbits(labels, bitorder="little")
    bits[: len(packed)] = packed
    return bits.view("<u8").astype(np.uint64)

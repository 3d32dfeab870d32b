"""The nodes reached in one state, from the rows of a closure over pairs (node, state).

Start reading at `StateReach`. The rows say what is reached in any state. Here each component has
only its nodes in the wanted state, so only these are counted and listed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from triplestore.closures.edge_graph import NONE
from triplestore.closures.thresholds import CLOSURES
from triplestore.closures.transitive.reach import Reach
from triplestore.closures.transitive.reach_pairs import ReachPairs
from triplestore.closures.transitive.strong_components import bitmap
from triplestore.relations.packed_keys import I64, U32, U64, Bools, frozen

_OWNER = 2


class StateReach:
    """The nodes of one state that others reach; nodes go by the numbers they have in a graph.

    wanted   which nodes are in that state
    ids      the id of each node in the answers
    """

    def __init__(self, reach: Reach, wanted: Bools, ids: U32) -> None:
        parts = reach.parts
        weights = np.bincount(parts.label[wanted], minlength=reach.labels)
        firsts = np.zeros(reach.labels + 1, dtype=np.int64)
        np.cumsum(weights, out=firsts[1:])
        members = frozen(parts.members[wanted[parts.members]])
        self._reach = replace(reach, parts=replace(parts, firsts=frozen(firsts), members=members))
        self._weights, self._ids = weights, ids
        words = len(parts.heavy)
        self._single = bitmap((weights == 1).nonzero()[0], words)
        self._heavy = bitmap((weights > 1).nonzero()[0], words)

    def nbytes(self) -> int:
        """The memory it takes beside the rows."""
        parts = self._reach.parts
        arrays = (self._weights, parts.firsts, parts.members, self._ids, self._single, self._heavy)
        return sum(array.nbytes for array in arrays)

    def counts(self, nodes: I64) -> I64:
        """The number of wanted nodes that each node reaches in one or more steps."""
        labels = self._reach.label[nodes].astype(np.int64)
        owner = self._reach.head.reshape(-1, 4)[labels, _OWNER]
        owners, index = np.unique(owner >> 1, return_inverse=True)
        # What a component leads to is itself and its owner's row; it counts if it reaches itself.
        own = (owner >> 1 != labels).astype(np.int64) + (owner & 1) - 1
        counts: I64 = self._of_rows(owners)[index] + self._weights[labels] * own
        return counts

    def _of_rows(self, owners: I64) -> I64:
        from triplestore.kernels.closures.automata import weigh_some

        reach = self._reach
        found, state = np.empty(len(owners), dtype=np.int64), np.zeros(1, dtype=np.int64)
        while not weigh_some(
            owners.astype(np.uint32), reach.head, reach.pool.words, reach.firsts, self._single,
            self._heavy, found, state, CLOSURES.kernel_steps,
        ):  # fmt: skip
            pass
        return found

    def found(self, nodes: I64, prefix: U32, size: int | None = None) -> Iterator[U64]:
        """What each node reaches, as `prefix << 32 | id`, in blocks of about `size` (or one block).

        The ids of each are in the order of the numbers of their nodes.
        """
        counts = self.counts(nodes)
        labels = self._reach.label[nodes]
        nothing = np.full(len(nodes), NONE, dtype=np.uint32)
        pairs = ReachPairs(
            self._ids, nodes.astype(np.uint32), labels, nothing, self._reach,
            self._reach.members, self._reach,
        )  # fmt: skip
        return pairs.found(prefix, counts, max(1, int(counts.sum())) if size is None else size)

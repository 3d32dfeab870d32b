"""The strongly connected components of a graph, by labels."""

from __future__ import annotations

import numpy as np

from triplestore.closures.edge_graph import NONE, Lists
from triplestore.closures.scheme import WorkLimit
from triplestore.closures.thresholds import CLOSURES
from triplestore.data_classes import data_class
from triplestore.relations.packed_keys import I64, U32, U64, frozen


@data_class
class Components:
    """Labels of components; they need not be numbered in any order.

    label    the label of each node
    rank     a component has a greater rank than all it reaches (NONE: a label out of use)
    at_rank  the label of each rank
    firsts   the nodes of label c are members[firsts[c] : firsts[c + 1]], increasing
    heavy    a bitmap of the labels that do not have exactly one node
    """

    label: U32
    rank: U32
    at_rank: U32
    firsts: I64
    members: U32
    heavy: U64

    @classmethod
    def of(cls, label: U32, rank: U32, at_rank: U32) -> Components:
        """The components of nodes that have labels, with their ranks."""
        firsts, members = group_nodes(label, len(rank))
        heavy = bitmap((firsts[1:] - firsts[:-1] != 1).nonzero()[0], (len(rank) >> 6) + 1)
        return cls(frozen(label), frozen(rank), frozen(at_rank), firsts, members, frozen(heavy))

    @property
    def nbytes(self) -> int:
        """The memory they take."""
        ranks = 0 if self.at_rank is self.rank else self.rank.nbytes
        arrays = (self.label, self.at_rank, self.firsts, self.members, self.heavy)
        return ranks + sum(array.nbytes for array in arrays)


def bitmap(places: I64, words: int) -> U64:
    """The words in which the bits at some places are set."""
    bits = np.zeros(words, dtype=np.uint64)
    np.bitwise_or.at(bits, places >> 6, np.uint64(1) << (places & 63).astype(np.uint64))
    return bits


def number_components(ahead: Lists, budget: WorkLimit | None = None) -> tuple[U32, int]:
    """The strongly connected component of each node, and how many there are.

    A component's number is greater than those of all it leads to.
    """
    from triplestore.kernels.closures import reach

    size = len(ahead.starts) - 1
    label = np.full(size, NONE, dtype=np.uint32)
    number = np.zeros(size, dtype=np.uint32)
    low, calls, stack = np.empty((3, size), dtype=np.uint32)
    edge, roots = ahead.starts[:-1].copy(), _roots(ahead)
    state = np.zeros(5, dtype=np.int64)
    while not reach.number_components(
        ahead.starts,
        ahead.cols,
        roots,
        edge,
        number,
        low,
        label,
        calls,
        stack,
        state,
        CLOSURES.kernel_steps,
    ):
        if budget is not None:
            budget.check()
    return label, int(state[4])


def _roots(ahead: Lists) -> U32:
    """The nodes in the order of searches: those with most incoming edges first.

    Nodes that many others lead to get neighbouring numbers, so rows have fewer runs. Compared with
    the order of ids, rows of a citation graph take 4.1 instead of 10.2 MB, those of a taxonomy 6.9
    instead of 11.7 MB, of Debian's dependencies 5.0 instead of 5.4 MB; no change for a random
    graph.
    """
    entering = np.bincount(ahead.cols, minlength=len(ahead.starts) - 1)
    rest = (0xFFFF - np.minimum(entering, 0xFFFF)).astype(np.uint16)  # sorted by radix
    return np.argsort(rest, kind="stable").astype(np.uint32)


def group_nodes(label: U32, count: int) -> tuple[I64, U32]:
    """The nodes of each label: (where they start, nodes in order of label and number)."""
    from triplestore.kernels.rows.join import place_rows

    firsts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(label, minlength=count), out=firsts[1:])
    cursors = firsts[:-1].astype(np.uint32)
    members = np.empty(len(label), dtype=np.uint32)
    for at in range(0, len(label), CLOSURES.kernel_steps):
        place_rows(label[at : at + CLOSURES.kernel_steps], 0, at, cursors, members)
    return frozen(firsts), frozen(members)

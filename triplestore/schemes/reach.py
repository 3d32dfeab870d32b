"""What each node of a graph reaches, kept as one small row of labels for each component.

Start reading at `Reach`. Strongly connected components have *labels*. A label stands for one set of
nodes for ever: components that are merged or split get new labels, so a row that did not change
means what it meant, in this version and in the one before. The rows are described in
`kernels.reach_rows`. A `Reach` is immutable; `changed` shares the pool of rows and writes only the
rows of components that reach other labels than before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from triplestore.schemes.graph import NONE, Lists
from triplestore.schemes.packed import I64, U32, U64, Bools, frozen
from triplestore.schemes.scheme import Budget

STEPS = 1 << 21
"""Steps in one call of a kernel: some milliseconds."""

_FIELDS = 4
_OWNER, _WEIGHT = 2, 3


@dataclass(slots=True)
class Pool:
    """Words that rows are made of; versions share it, and write only beyond what is in use."""

    words: U64
    used: int = 0

    def grown(self, used: int, least: int) -> Pool:
        """A larger pool with the same words: memory that nothing was written to costs nothing."""
        try:
            words = np.empty(4 * used + least, dtype=np.uint64)
        except MemoryError:
            words = np.empty(used + (used >> 3) + least, dtype=np.uint64)
        words[:used] = self.words[:used]
        return Pool(words, used)


@dataclass(frozen=True, slots=True)
class Reach:
    """Rows of labels.

    label    the label of each node
    firsts   the nodes of label c are members[firsts[c] : firsts[c + 1]], increasing
    rank     a component has a greater rank than all it reaches (NONE: a label out of use)
    at_rank  the label of each rank
    head     where the row of each label is
    wasted   words of the pool that no row of this version uses
    """

    label: U32
    firsts: I64
    members: U32
    rank: U32
    at_rank: U32
    head: I64
    pool: Pool
    used: int
    wasted: int = 0

    @classmethod
    def build(cls, ahead: Lists, budget: Budget | None = None) -> Reach:
        """What each node reaches along the lists."""
        label, count = number_components(ahead, budget)
        firsts, members = group_nodes(label, count)
        rank = np.arange(count, dtype=np.uint32)
        head = np.zeros(_FIELDS * count, dtype=np.int64)
        dirty = np.full((count >> 6) + 1, ~np.uint64(0))
        pool = Pool(np.empty(4096 + 2 * count + (count >> 4), dtype=np.uint64))
        bare = cls(label, firsts, members, rank, rank, head, pool, 0)
        made, _ = bare._closed(ahead, None, np.zeros(0, dtype=np.int64), dirty, budget)
        return made

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        arrays = (self.label, self.firsts, self.members, self.rank, self.at_rank, self.head)
        return sum(array.nbytes for array in arrays) + 8 * self.used

    @property
    def labels(self) -> int:
        """How many labels there are, those out of use included."""
        return len(self.rank)

    def counts(self, labels: U32) -> I64:
        """How many nodes each of these components reaches."""
        fields = self.head.reshape(-1, _FIELDS)
        owner = fields[labels, _OWNER] >> 1
        own = self.firsts[labels.astype(np.int64) + 1] - self.firsts[labels]
        kept = (owner != labels).astype(np.int64) + (fields[labels, _OWNER] & 1) - 1
        counts: I64 = fields[owner, _WEIGHT] + own * kept
        return counts

    def count(self) -> int:
        """How many pairs of nodes there are of which one reaches the other."""
        live = self.at_rank
        sizes = self.firsts[live.astype(np.int64) + 1] - self.firsts[live]
        return int((self.counts(live) * sizes).sum())

    def contains(self, left: U32, right: U32) -> Bools:
        """Whether each component of `left` (or NONE) reaches that of `right` (or NONE)."""
        from triplestore.kernels.reach_pairs import probe_rows

        found = np.empty(len(left), dtype=np.uint8)
        for at in range(0, len(left), STEPS):
            stop = at + STEPS
            probe_rows(left[at:stop], right[at:stop], self.head, self.pool.words, found[at:stop])
        return found.view(np.bool_)

    def _closed(
        self,
        ahead: Lists,
        back: Lists | None,
        old_head: I64,
        dirty: U64,
        budget: Budget | None,
    ) -> tuple[Reach, U32]:
        """Make the rows of the dirty ranks, and what depends on them.

        Writes to `head` and the pool. The second result: the labels that reach other labels.
        """
        from triplestore.kernels.reach_rows import close_rows

        labels = self.labels
        words = (labels >> 6) + 1
        bits = np.zeros(words, dtype=np.uint64)
        seen = np.zeros(labels, dtype=np.int64)
        found, changed = np.empty((2, labels), dtype=np.uint32)
        left, right, extra = np.empty((3, (labels >> 1) + 5), dtype=np.uint64)
        state = np.array([0, self.used, 0, 0, 0, 0, 0], dtype=np.int64)
        none = Lists(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint32))
        back = none if back is None else back
        heavy = _bitmap((np.diff(self.firsts) != 1).nonzero()[0], words)
        pool = self.pool
        while True:
            done = close_rows(
                ahead.starts, ahead.cols, back.starts, back.cols, self.firsts, self.members,
                self.label, self.rank, self.at_rank, heavy, old_head, self.head, pool.words,
                dirty, bits, seen, found, left, right, extra, changed, state, STEPS,
            )  # fmt: skip
            if budget is not None:
                budget.check()
            if done == 1:
                break
            if done == 2:
                pool = pool.grown(int(state[1]), 2 * words + 16)
        used = int(state[1])
        pool.used = max(pool.used, used)
        made = Reach(
            self.label, self.firsts, self.members, self.rank, self.at_rank,
            frozen(self.head), pool, used, self.wasted + int(state[4]),
        )  # fmt: skip
        return made, changed[: int(state[3])]


def _bitmap(places: I64, words: int) -> U64:
    bits = np.zeros(words, dtype=np.uint64)
    np.bitwise_or.at(bits, places >> 6, np.uint64(1) << (places & 63).astype(np.uint64))
    return bits


def number_components(ahead: Lists, budget: Budget | None = None) -> tuple[U32, int]:
    """The strongly connected component of each node, and how many there are.

    A component's number is greater than those of all it leads to.
    """
    from triplestore.kernels import reach

    size = len(ahead.starts) - 1
    label = np.full(size, NONE, dtype=np.uint32)
    number = np.zeros(size, dtype=np.uint32)
    low, calls, stack = np.empty((3, size), dtype=np.uint32)
    edge, roots = ahead.starts[:-1].copy(), np.arange(size, dtype=np.uint32)
    state = np.zeros(5, dtype=np.int64)
    while not reach.number_components(
        ahead.starts, ahead.cols, roots, edge, number, low, label, calls, stack, state, STEPS
    ):
        if budget is not None:
            budget.check()
    return label, int(state[4])


def group_nodes(label: U32, count: int) -> tuple[I64, U32]:
    """The nodes of each label: (where they start, nodes in order of label and number)."""
    from triplestore.kernels.join import place_rows

    firsts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(label, minlength=count), out=firsts[1:])
    cursors = firsts[:-1].astype(np.uint32)
    members = np.empty(len(label), dtype=np.uint32)
    for at in range(0, len(label), STEPS):
        place_rows(label[at : at + STEPS], 0, at, cursors, members)
    return frozen(firsts), frozen(members)

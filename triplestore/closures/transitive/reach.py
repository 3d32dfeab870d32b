"""What each node of a graph reaches, kept as one small row of labels for each component.

Start reading at `Reach`. Strongly connected components have *labels*. A label always stands for the
same set of nodes: components that are merged or split get new labels, so an unchanged row means the
same in this version and in the one before. The rows are described in `kernels.closures.reach_rows`.
A `Reach` is immutable; an update (`reach_update`) shares the pool of rows and writes only the rows
of components that reach other labels than before. `Pool` is the memory of the rows of several
versions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol
from weakref import WeakSet

import numpy as np

from triplestore.closures.edge_graph import Lists
from triplestore.closures.scheme import WorkLimit
from triplestore.closures.thresholds import CLOSURES
from triplestore.closures.transitive.strong_components import Components, number_components
from triplestore.data_classes import data_class
from triplestore.relations.packed_keys import I64, U32, U64, Bools, frozen
from triplestore.thread_limits import look

_FIELDS = 4
_AT, _SPAN, _OWNER, _WEIGHT = range(_FIELDS)
_LIST = 3


@data_class(eq=False, weakref_slot=True)
class Reach:
    """Rows of labels.

    parts   the components and their labels
    head    where the row of each label is
    live    about how many words of the pool its rows take, which are at or after `low` and
            before `end`
    """

    parts: Components
    head: I64
    pool: Pool
    live: int = 0
    low: int = 0
    end: int = 0

    @classmethod
    def build(cls, ahead: Lists, budget: WorkLimit | None = None) -> Reach:
        """What each node reaches along the lists."""
        label, count = number_components(ahead, budget)
        rank = np.arange(count, dtype=np.uint32)
        parts = Components.of(label, rank, rank)
        head = np.zeros(_FIELDS * count, dtype=np.int64)
        dirty = np.full((count >> 6) + 1, ~np.uint64(0))
        pool = Pool(min(3 * count * len(dirty), 512 * len(ahead.cols)), 8 * len(dirty) + 4096)
        bare = cls(parts, head, pool)
        made, _ = bare._closed(ahead, None, np.zeros(0, dtype=np.int64), dirty, budget)
        return made

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        return self.parts.nbytes + self.head.nbytes + 8 * self.pool.touched

    @property
    def label(self) -> U32:
        """The label of each node."""
        return self.parts.label

    @property
    def firsts(self) -> I64:
        """The nodes of label c are members[firsts[c] : firsts[c + 1]], increasing."""
        return self.parts.firsts

    @property
    def members(self) -> U32:
        """The nodes in the order of their labels."""
        return self.parts.members

    @property
    def labels(self) -> int:
        """How many labels there are, those out of use included."""
        return len(self.parts.rank)

    def counts(self, labels: U32) -> I64:
        """How many nodes each of these components reaches."""
        fields = self.head.reshape(-1, _FIELDS)
        owner = fields[labels, _OWNER] >> 1
        own = self.firsts[labels.astype(np.int64) + 1] - self.firsts[labels]
        kept = (owner != labels).astype(np.int64) + (fields[labels, _OWNER] & 1) - 1
        counts: I64 = fields[owner, _WEIGHT] + own * kept
        return counts

    def count_of(self, label: int) -> int:
        """How many nodes one component reaches."""
        at = _FIELDS * label
        owner = int(self.head[at + _OWNER])
        own = int(self.firsts[label + 1]) - int(self.firsts[label])
        kept = (owner >> 1 != label) + (owner & 1) - 1
        return int(self.head[_FIELDS * (owner >> 1) + _WEIGHT]) + own * kept

    def count(self) -> int:
        """The number of pairs of nodes of which one reaches the other."""
        live = self.parts.at_rank
        sizes = self.firsts[live.astype(np.int64) + 1] - self.firsts[live]
        return int((self.counts(live) * sizes).sum())

    def contains(self, left: U32, right: U32) -> Bools:
        """Whether each component of `left` (or NONE) reaches that of `right` (or NONE)."""
        from triplestore.kernels.closures.reach_pairs import probe_rows

        found = np.empty(len(left), dtype=np.uint8)
        for at in range(0, len(left), CLOSURES.probed_pairs):
            stop = at + CLOSURES.probed_pairs
            probe_rows(left[at:stop], right[at:stop], self.head, self.pool.words, found[at:stop])
        return found.view(np.bool_)

    def _closed(
        self,
        ahead: Lists,
        back: Lists | None,
        old_head: I64,
        dirty: U64,
        budget: WorkLimit | None,
    ) -> tuple[Reach, U32]:
        """Make the rows of the dirty ranks and of those that depend on them.

        Writes to `head` and the pool. The second result: the labels that reach other labels.
        """
        from triplestore.kernels.closures.reach_close import close_rows

        labels, parts = self.labels, self.parts
        words = len(parts.heavy)
        bits = np.zeros(words, dtype=np.uint64)
        seen = np.zeros(labels, dtype=np.int64)
        found, changed = np.empty((2, labels), dtype=np.uint32)
        left, right, extra = np.empty((3, (labels >> 1) + 5), dtype=np.uint64)
        pool = self.pool
        start, stop = pool.room()
        low = start
        state = np.array([0, start, 0, 0, 0, 0, stop], dtype=np.int64)
        none = Lists(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint32))
        back = none if back is None else back
        while True:
            done = close_rows(
                ahead.starts, ahead.cols, back.starts, back.cols, parts.firsts,
                parts.members, parts.label, parts.rank, parts.at_rank, parts.heavy, old_head,
                self.head, pool.words,
                dirty, bits, seen, found, left, right, extra, changed, state, CLOSURES.kernel_steps,
            )  # fmt: skip
            if budget is not None:
                budget.check()
            else:
                look()
            if done == 0:
                continue
            pool.touched = max(pool.touched, int(state[1]))
            if done == 1:
                break
            pool, start, stop = pool.more_room(int(state[1]), stop, 2 * words + 16)
            state[1], state[6], low = start, stop, min(low, start)
        low, end = min(low, self.low), max(int(state[1]), self.end)
        made = replace(self, pool=pool, low=low, end=end)
        return made._settled(start, int(state[1]), stop), changed[: int(state[3])]

    def _settled(self, start: int, stop: int, limit: int) -> Reach:
        """This version, registered in its pool; start .. stop was written last.

        If only a few rows are elsewhere, they are moved behind these, up to `limit`, so that their
        places can be written to later.
        """
        pool, low, end, live = self.pool, self.low, self.end, self.live
        if (
            4 * (stop - start) > live or end - low > 2 * live + CLOSURES.idle_words
        ):  # look where the rows are
            where, size = self._rows()
            inside = (where >= start) & (where < stop)
            live, elsewhere = int(size.sum()), int(size[~inside].sum())
            if 2 * elsewhere < stop - start and stop + elsewhere <= limit:
                low, end = start, gather(self.head, pool, pool, start, stop, stop)
            elif end - low > 2 * live + CLOSURES.idle_words:
                old, pool = pool, Pool(3 * live, live + (live >> 3) + 1024)
                low, end = 0, gather(self.head, old, pool, 0, 0, 0)
            elif live:
                low, end = int(where.min()), int((where + size).max())
        pool.touched = max(pool.touched, end)
        frozen(self.head)
        made = replace(self, pool=pool, live=live, low=low, end=end)
        pool.versions.add(made)
        return made

    def _rows(self) -> tuple[I64, I64]:
        """Where the rows begin in the pool, and the words they take."""
        fields = self.head.reshape(-1, _FIELDS)
        own = fields[fields[:, _AT] != 0]
        size = own[:, _SPAN] & 0xFFFFFFFF
        return own[:, _AT] >> 2, np.where(own[:, _AT] & 3 == _LIST, (size + 1) >> 1, size)


class Version(Protocol):
    """Rows that lie in a pool at or after `low` and before `end`."""

    @property
    def low(self) -> int:
        """Where they begin."""

    @property
    def end(self) -> int:
        """Where they end."""


class Pool:
    """The words that rows consist of. Versions share it; none writes where another has rows.

    A version that is no longer used frees its place: when an update rewrites most rows, it writes
    before those of the previous version, and the next update writes behind them.
    """

    __slots__ = ("__weakref__", "touched", "versions", "words")

    def __init__(self, wanted: int, least: int) -> None:
        """Ask for much memory: pages that are never written to cost nothing."""
        try:
            self.words: U64 = np.empty(wanted + least, dtype=np.uint64)
        except MemoryError:
            self.words = np.empty(least, dtype=np.uint64)
        self.touched = 0
        self.versions: WeakSet[Version] = WeakSet()

    def end(self) -> int:
        """Where the rows of all versions end."""
        return max((version.end for version in self.versions), default=0)

    def room(self) -> tuple[int, int]:
        """Where the next version may write: before all others if there is enough room, else behind
        them."""
        end = self.end()
        low = min((version.low for version in self.versions), default=0)
        return (0, low) if low > end - low else (end, len(self.words))

    def more_room(self, written: int, stop: int, least: int) -> tuple[Pool, int, int]:
        """Where to continue if the room up to `stop` was too small, perhaps in a larger pool."""
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
    while not gather_rows(head, pool.words, out.words, low, end, state, CLOSURES.kernel_steps):
        pass
    return int(state[1])

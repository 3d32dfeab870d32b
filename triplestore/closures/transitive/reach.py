"""What each node of a graph reaches, kept as one small row of labels for each component.

Start reading at `Reach`. Strongly connected components have *labels*. A label stands for one set of
nodes for ever: components that are merged or split get new labels, so a row that did not change
means what it meant, in this version and in the one before. The rows are described in
`kernels.closures.reach_rows`. A `Reach` is immutable; `changed` shares the pool of rows and writes
only the rows of components that reach other labels than before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplestore.closures.edge_graph import Lists
from triplestore.closures.scheme import WorkLimit
from triplestore.closures.transitive.row_pool import STEPS, Pool, gather
from triplestore.closures.transitive.strong_components import Components, number_components
from triplestore.relations.packed_keys import I64, U32, U64, Bools, frozen
from triplestore.thread_limits import look

_FIELDS = 4
_AT, _SPAN, _OWNER, _WEIGHT = range(_FIELDS)
_LIST = 3
_PROBES = 1 << 18  # in one call of the kernel
_SLACK = 1 << 16  # words that may lie idle between the rows of a version, whatever these take


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
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
        """How many pairs of nodes there are of which one reaches the other."""
        live = self.parts.at_rank
        sizes = self.firsts[live.astype(np.int64) + 1] - self.firsts[live]
        return int((self.counts(live) * sizes).sum())

    def contains(self, left: U32, right: U32) -> Bools:
        """Whether each component of `left` (or NONE) reaches that of `right` (or NONE)."""
        from triplestore.kernels.closures.reach_pairs import probe_rows

        found = np.empty(len(left), dtype=np.uint8)
        for at in range(0, len(left), _PROBES):
            stop = at + _PROBES
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
        """Make the rows of the dirty ranks, and what depends on them.

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
        if not pool.words.flags.writeable:  # mapped from a file
            pool, start, stop = pool.more_room(start, stop, len(pool.words) + 1)
        low = start
        state = np.array([0, start, 0, 0, 0, 0, stop], dtype=np.int64)
        none = Lists(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint32))
        back = none if back is None else back
        while True:
            done = close_rows(
                ahead.starts, ahead.cols, back.starts, back.cols, parts.firsts,
                parts.members, parts.label, parts.rank, parts.at_rank, parts.heavy, old_head,
                self.head, pool.words,
                dirty, bits, seen, found, left, right, extra, changed, state, STEPS,
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
        """This version, known to its pool, of which start .. stop was written last.

        Few rows that are elsewhere are moved behind these, up to `limit`, so that their places can
        be written to later.
        """
        pool, low, end, live = self.pool, self.low, self.end, self.live
        if 4 * (stop - start) > live or end - low > 2 * live + _SLACK:  # look where the rows are
            where, size = self._rows()
            inside = (where >= start) & (where < stop)
            live, elsewhere = int(size.sum()), int(size[~inside].sum())
            if 2 * elsewhere < stop - start and stop + elsewhere <= limit:
                low, end = start, gather(self.head, pool, pool, start, stop, stop)
            elif end - low > 2 * live + _SLACK:
                old, pool = pool, Pool(3 * live, live + (live >> 3) + 1024)
                low, end = 0, gather(self.head, old, pool, 0, 0, 0)
            elif live:
                low, end = int(where.min()), int((where + size).max())
        pool.touched = max(pool.touched, end)
        frozen(self.head)
        made = replace(self, pool=pool, live=live, low=low, end=end)
        pool.versions.add(made)
        return made

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """All there is to it, to be written to a file."""
        live = int(self._rows()[1].sum())
        head, pool, low, end = self.head.copy(), self.pool, self.low, self.end
        if 5 * live < 4 * (end - low):
            pool = Pool(0, live)
            low, end = 0, gather(head, self.pool, pool, 0, 0, 0)
        fields = head.reshape(-1, _FIELDS)
        fields[fields[:, _AT] != 0, _AT] -= 4 * low
        parts = self.parts
        return {
            "label": parts.label,
            "rank": parts.rank,
            "at_rank": parts.at_rank,
            "head": head,
            "words": pool.words[low:end],
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Reach:
        """What `to_arrays` gave; the arrays may be mapped from a file, and are not copied."""
        parts = Components.of(arrays["label"], arrays["rank"], arrays["at_rank"])
        pool = Pool.around(arrays["words"])
        made = cls(parts, arrays["head"], pool, pool.touched, 0, pool.touched)
        pool.versions.add(made)
        return made

    def _rows(self) -> tuple[I64, I64]:
        """Where the rows begin in the pool, and the words they take."""
        fields = self.head.reshape(-1, _FIELDS)
        own = fields[fields[:, _AT] != 0]
        size = own[:, _SPAN] & 0xFFFFFFFF
        return own[:, _AT] >> 2, np.where(own[:, _AT] & 3 == _LIST, (size + 1) >> 1, size)

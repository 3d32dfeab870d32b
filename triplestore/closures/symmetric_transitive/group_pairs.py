"""Pairs of nodes that share a group, counted and streamed from the groups.

`GroupPairs` lists all pairs inside groups; `pairs_across` those in different *cells* of a group:
the pairs that the split of a component loses and the union of several gains. Both relations are
symmetric: their pairs in swapped order are the same keys.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from triplestore.closures.scheme import PairStream, SortedPairs
from triplestore.closures.thresholds import CLOSURES
from triplestore.relations.layers.sorted_order import ranges
from triplestore.relations.packed_keys import I64, U32, U64, least_keys, low, pack
from triplestore.relations.pair_relation import BLOCK

NO_CELL = -1
"""The cell of a node that shares a cell with no node, not even with itself."""


def group_members(nodes: U32, group: I64, groups: int) -> tuple[U32, I64]:
    """The nodes of each group, sorted: group g has members[starts[g] : starts[g + 1]]."""
    members = low(np.sort(pack(group.astype(np.uint32), nodes)))
    starts = np.zeros(groups + 1, dtype=np.int64)
    np.cumsum(np.bincount(group, minlength=groups), out=starts[1:])
    return members, starts


def expand_pairs(sources: U32, lo: I64, hi: I64, targets: U32) -> U64:
    """Each source with the targets of its range, as packed keys in the order of the sources."""
    total = int((hi - lo).sum())
    if total < CLOSURES.kernel_rows:
        keys = np.repeat(least_keys(sources), hi - lo)
        keys |= targets[ranges(lo, hi - lo)]
        return keys
    from triplestore.kernels.closures.components import write_pairs

    keys = np.empty(total, dtype=np.uint64)
    write_pairs(sources, lo, hi, targets, keys)
    return keys


class GroupPairs:
    """Pairs (sources[i], targets[j]) for j in [lo[i], hi[i]), if their cells differ.

    sources are sorted and distinct, the targets of each range as well. Without cells all pairs are
    meant. `pairs` is their number.

    >>> import numpy as np
    >>> ids = np.array([3, 5], np.uint32)
    >>> ends = np.array([2, 2])
    >>> both = GroupPairs(ids, ends - 2, ends, ids, 4)
    >>> [(int(key) >> 32, int(key) & 0xFF) for block in both.blocks() for key in block]
    [(3, 3), (3, 5), (5, 3), (5, 5)]
    """

    __slots__ = ("_cells", "_hi", "_lo", "_pairs", "_sources", "_targets")

    def __init__(
        self,
        sources: U32,
        lo: I64,
        hi: I64,
        targets: U32,
        pairs: int,
        cells: tuple[I64, I64] | None = None,
    ) -> None:
        self._sources, self._lo, self._hi = sources, lo, hi
        self._targets, self._pairs, self._cells = targets, pairs, cells

    def count(self) -> int:
        """The number of pairs."""
        return self._pairs

    def blocks(self, size: int = BLOCK, *, swapped: bool = False) -> Iterator[U64]:
        """The pairs in order; since the relation is symmetric, `swapped` makes no difference."""
        sizes = self._hi - self._lo
        ends = np.cumsum(sizes)
        at = 0
        while at < len(ends):
            before = int(ends[at - 1]) if at else 0
            stop = int(ends.searchsorted(before + size, side="right"))
            if stop > at:
                yield from self._block(at, stop, self._lo[at:stop], self._hi[at:stop])
                at = stop
                continue
            for lo in range(int(self._lo[at]), int(self._hi[at]), size):
                hi = min(lo + size, int(self._hi[at]))
                yield from self._block(at, at + 1, np.array([lo]), np.array([hi]))
            at += 1

    def _block(self, at: int, stop: int, lo: I64, hi: I64) -> Iterator[U64]:
        """The pairs of the sources [at, stop) with the targets of these ranges, if any."""
        keys = expand_pairs(self._sources[at:stop], lo, hi, self._targets)
        if self._cells is not None:
            source_cells, target_cells = self._cells
            own = np.repeat(source_cells[at:stop], hi - lo)
            keys = keys[(target_cells[ranges(lo, hi - lo)] != own) | (own == NO_CELL)]
        if len(keys):
            yield keys


def pairs_across(nodes: U32, group: I64, cell: I64, groups: int) -> PairStream:
    """The pairs of nodes of one group whose cells differ, or are `NO_CELL`.

    nodes   sorted, distinct
    group   of each node, in range(groups)
    cell    of each node, or NO_CELL; a cell lies within one group

    If one cell has more than half of a group, its nodes get the list of the others, so that at most
    twice the wanted number of pairs is read.
    """
    cells = int(cell.max(initial=-1)) + 1
    held = cell != NO_CELL
    cell_sizes = np.bincount(cell[held], minlength=cells)
    group_sizes = np.bincount(group, minlength=groups)
    pairs = int((group_sizes**2).sum()) - int((cell_sizes**2).sum())
    if pairs == 0:
        return SortedPairs()
    members, starts = group_members(nodes, group, groups)
    places = nodes.searchsorted(members)
    lo, hi = starts[group], starts[group + 1]

    large = np.zeros(len(nodes), dtype=np.bool_)
    large[held] = 2 * cell_sizes[cell[held]] > group_sizes[group[held]]
    with_large = np.zeros(groups, dtype=np.bool_)
    with_large[group[large]] = True
    beside = with_large[group] & ~large  # the others of a group with a large cell
    others, other_starts = group_members(nodes[beside], group[beside], groups)
    other_starts += len(members)
    lo[large], hi[large] = other_starts[group[large]], other_starts[group[large] + 1]

    used = hi > lo
    targets = np.concatenate((members, others))
    target_cells = np.concatenate((cell[places], cell[nodes.searchsorted(others)]))
    return GroupPairs(nodes[used], lo[used], hi[used], targets, pairs, (cell[used], target_cells))

"""Relations to be read: plain rows, and another relation with its columns changed over."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from triplestore.closures.packed_pairs import (
    I64,
    NO_KEYS,
    SHIFT,
    U32,
    U64,
    Bools,
    distinct,
    first,
    frozen,
    member,
    second,
    swap,
    swapped,
)
from triplestore.closures.scheme import BLOCK, Readable
from triplestore.closures.symmetric_transitive.group_pairs import SMALL, range_places


class Rows:
    """A relation as a sorted array of distinct keys; the other order is made when it is needed.

    >>> import numpy as np
    >>> some = Rows(np.array([1 << 32 | 5, 2 << 32 | 5], np.uint64))
    >>> some.backward(np.array([5], np.uint32))[1].tolist()
    [1, 2]
    """

    def __init__(self, keys: U64 = NO_KEYS) -> None:
        self.keys: U64 = frozen(keys)

    @cached_property
    def _back(self) -> U64:
        return frozen(swapped(self.keys))

    @cached_property
    def _subjects(self) -> U32:
        return frozen(distinct(first(self.keys)))

    @cached_property
    def _objects(self) -> U32:
        return frozen(distinct(first(self._back)))

    def count(self) -> int:
        """How many rows there are."""
        return len(self.keys)

    def nbytes(self) -> int:
        """The memory of both orders."""
        return 2 * self.keys.nbytes

    def blocks(self, size: int = BLOCK, *, swapped: bool = False) -> Iterator[U64]:
        """The rows in order, in pieces."""
        keys = self._back if swapped else self.keys
        for at in range(0, len(keys), size):
            yield keys[at : at + size]

    def contains(self, keys: U64) -> Bools:
        """Which of these keys are there."""
        return _members(keys, self.keys)

    def forward(self, nodes: U32) -> tuple[I64, U32]:
        """The rows that begin with each node: (place in `nodes`, second id)."""
        return _rows_of(self.keys, nodes)

    def backward(self, nodes: U32) -> tuple[I64, U32]:
        """The rows that end with each node: (place in `nodes`, first id)."""
        return _rows_of(self._back, nodes)

    def forward_counts(self, nodes: U32) -> I64:
        """How many rows begin with each node."""
        lo, hi = _bounds(self.keys, nodes)
        return hi - lo

    def backward_counts(self, nodes: U32) -> I64:
        """How many rows end with each node."""
        lo, hi = _bounds(self._back, nodes)
        return hi - lo

    def subjects(self) -> U32:
        """The first ids, sorted and distinct."""
        return self._subjects

    def objects(self) -> U32:
        """The second ids, sorted and distinct."""
        return self._objects


class Inverse:
    """A relation with its columns changed over: a view, which keeps nothing of its own.

    >>> import numpy as np
    >>> back = Inverse(Rows(np.array([1 << 32 | 5, 2 << 32 | 5], np.uint64)))
    >>> back.forward(np.array([5], np.uint32))[1].tolist()
    [1, 2]
    """

    __slots__ = ("of",)

    def __init__(self, of: Readable) -> None:
        self.of = of

    def count(self) -> int:
        """How many pairs there are."""
        return self.of.count()

    def nbytes(self) -> int:
        """Nothing beside what the relation itself takes."""
        return 0

    def blocks(self, size: int = BLOCK, *, swapped: bool = False) -> Iterator[U64]:
        """The pairs in order, streamed."""
        return self.of.blocks(size, swapped=not swapped)

    def contains(self, keys: U64) -> Bools:
        """Which of these pairs are there."""
        return self.of.contains(swap(keys))

    def forward(self, nodes: U32) -> tuple[I64, U32]:
        """The pairs that begin with each node: (place in `nodes`, second id)."""
        return self.of.backward(nodes)

    def backward(self, nodes: U32) -> tuple[I64, U32]:
        """The pairs that end with each node: (place in `nodes`, first id)."""
        return self.of.forward(nodes)

    def forward_counts(self, nodes: U32) -> I64:
        """How many pairs begin with each node."""
        return self.of.backward_counts(nodes)

    def backward_counts(self, nodes: U32) -> I64:
        """How many pairs end with each node."""
        return self.of.forward_counts(nodes)

    def subjects(self) -> U32:
        """The first ids, sorted and distinct."""
        return self.of.objects()

    def objects(self) -> U32:
        """The second ids, sorted and distinct."""
        return self.of.subjects()


def _members(keys: U64, within: U64) -> Bools:
    if len(keys) < SMALL:
        return member(keys, within)
    from triplestore.kernels.rows.sorted_sets import mark_members

    keys, found = np.ascontiguousarray(keys), np.empty(len(keys), dtype=np.uint8)
    for at in range(0, len(keys), BLOCK):
        mark_members(keys[at : at + BLOCK], within, found[at : at + BLOCK])
    return found.view(np.bool_)


def _bounds(keys: U64, nodes: U32) -> tuple[I64, I64]:
    """Where the rows of each node lie."""
    if len(nodes) < SMALL:
        heads = nodes.astype(np.uint64) << SHIFT
        ends = heads | np.uint64(0xFFFFFFFF)
        return keys.searchsorted(heads), keys.searchsorted(ends, side="right")
    from triplestore.kernels.rows.sorted_sets import match_first

    nodes = np.ascontiguousarray(nodes)
    lo, hi = np.empty(len(nodes), dtype=np.int64), np.empty(len(nodes), dtype=np.int64)
    for at in range(0, len(nodes), BLOCK):
        stop = at + BLOCK
        match_first(nodes[at:stop], keys, lo[at:stop], hi[at:stop])
    return lo, hi


def _rows_of(keys: U64, nodes: U32) -> tuple[I64, U32]:
    lo, hi = _bounds(keys, nodes)
    return np.repeat(np.arange(len(nodes)), hi - lo), second(keys[range_places(lo, hi)])

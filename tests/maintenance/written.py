"""The closures of edges written out: a scheme that is slow, obvious, and right.

With it in the place of the schemes, tests of modules are about modules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from triplestore.closures.packed_pairs import NO_KEYS, U32, U64
from triplestore.closures.scheme import Difference, SortedPairs

Pair = tuple[int, int]


class WrittenClosure:
    """All pairs of a transitive relation, or of one that is symmetric, too."""

    def __init__(self, edges: Iterable[Pair], symmetric: bool) -> None:
        self._edges = frozenset(edges)
        self.symmetric = symmetric
        self.pairs = closure(self._edges, symmetric)

    @classmethod
    def build(cls, edges: U64, symmetric: bool) -> WrittenClosure:
        assert (np.diff(edges.astype(object)) > 0).all(), "edges are sorted and distinct"
        return cls(pairs_of(edges), symmetric)

    @property
    def edges(self) -> U64:
        return keys_of(self._edges)

    def count(self) -> int:
        return len(self.pairs)

    def nbytes(self) -> int:
        return 16 * len(self.pairs)

    def contains(self, keys: U64) -> np.ndarray:
        return np.array([pair in self.pairs for pair in pairs_of(keys)], dtype=np.bool_)

    def forward(self, nodes: U32) -> tuple[np.ndarray, U32]:
        return self._beside(nodes, sorted(self.pairs))

    def backward(self, nodes: U32) -> tuple[np.ndarray, U32]:
        return self._beside(nodes, sorted((b, a) for a, b in self.pairs))

    def _beside(self, nodes: U32, pairs: list[Pair]) -> tuple[np.ndarray, U32]:
        found = [(i, b) for i, node in enumerate(nodes.tolist()) for a, b in pairs if a == node]
        index = np.array([i for i, _ in found], dtype=np.int64)
        return index, np.array([b for _, b in found], dtype=np.uint32)

    def forward_counts(self, nodes: U32) -> np.ndarray:
        return np.bincount(self.forward(nodes)[0], minlength=len(nodes)).astype(np.int64)

    def backward_counts(self, nodes: U32) -> np.ndarray:
        return np.bincount(self.backward(nodes)[0], minlength=len(nodes)).astype(np.int64)

    def subjects(self) -> U32:
        return np.array(sorted({a for a, _ in self.pairs}), dtype=np.uint32)

    def objects(self) -> U32:
        return np.array(sorted({b for _, b in self.pairs}), dtype=np.uint32)

    def blocks(self, size: int = 3, *, swapped: bool = False) -> Iterator[U64]:
        pairs = {(b, a) for a, b in self.pairs} if swapped else self.pairs
        return SortedPairs(keys_of(pairs)).blocks(size)

    def changed(
        self, removed: U64, added: U64, budget: object = None
    ) -> tuple[WrittenClosure, Difference]:
        edges = (self._edges - set(pairs_of(removed))) | set(pairs_of(added))
        made = WrittenClosure(edges, self.symmetric)
        lost, gained = keys_of(self.pairs - made.pairs), keys_of(made.pairs - self.pairs)
        return made, Difference(SortedPairs(lost), SortedPairs(gained))

    def path(self, start: int, end: int) -> list[int]:
        if (start, end) not in self.pairs:
            return []
        edges = set(self._edges) | ({(b, a) for a, b in self._edges} if self.symmetric else set())
        paths = [[start, b] for a, b in sorted(edges) if a == start]
        for path in paths:
            if path[-1] == end:
                return path
            paths += [[*path, b] for a, b in sorted(edges) if a == path[-1] and b not in path[1:]]
        raise AssertionError


def closure(edges: Iterable[Pair], symmetric: bool) -> frozenset[Pair]:
    """The pairs of nodes between which there is a walk of one edge or more."""
    found = set(edges)
    if symmetric:
        found |= {(b, a) for a, b in found}
    while True:
        more = {(a, d) for a, b in found for c, d in found if b == c} - found
        if not more:
            return frozenset(found)
        found |= more


def pairs_of(keys: U64) -> list[Pair]:
    return [divmod(int(key), 1 << 32) for key in keys.tolist()]


def keys_of(pairs: Iterable[Pair]) -> U64:
    keys = [a << 32 | b for a, b in sorted(pairs)]
    return np.array(keys, dtype=np.uint64) if keys else NO_KEYS

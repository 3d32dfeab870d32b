"""The closures of edges written out: a scheme that is slow, obvious, and right.

With it in the place of the schemes, tests of modules are about modules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from triplestore.closures.scheme import PairDifference, Scheme, SortedPairs
from triplestore.relations.packed_keys import NO_KEYS, U32, U64

Pair = tuple[int, int]


class WrittenClosure(Scheme):
    """All pairs of a transitive relation, or of a symmetric and transitive one."""

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

    def contains_keys(self, keys: U64) -> np.ndarray:
        return np.array([pair in self.pairs for pair in pairs_of(keys)], dtype=np.bool_)

    def match(self, place: int, values: U32) -> tuple[np.ndarray, U32]:
        pairs = sorted((b, a) for a, b in self.pairs) if place else sorted(self.pairs)
        found = [(i, b) for i, value in enumerate(values.tolist()) for a, b in pairs if a == value]
        index = np.array([i for i, _ in found], dtype=np.int64)
        return index, np.array([b for _, b in found], dtype=np.uint32)

    def match_counts(self, place: int, values: U32) -> np.ndarray:
        return np.bincount(self.match(place, values)[0], minlength=len(values)).astype(np.int64)

    def distinct(self, column: int) -> U32:
        return np.array(sorted({pair[column] for pair in self.pairs}), dtype=np.uint32)

    def blocks(self, size: int = 3, *, swapped: bool = False) -> Iterator[U64]:
        pairs = {(b, a) for a, b in self.pairs} if swapped else self.pairs
        return SortedPairs(keys_of(pairs)).blocks(size)

    def changed(
        self, removed: U64, added: U64, budget: object = None
    ) -> tuple[WrittenClosure, PairDifference]:
        edges = (self._edges - set(pairs_of(removed))) | set(pairs_of(added))
        made = WrittenClosure(edges, self.symmetric)
        lost, gained = keys_of(self.pairs - made.pairs), keys_of(made.pairs - self.pairs)
        return made, PairDifference(SortedPairs(lost), SortedPairs(gained))

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

"""Which pairs of a closure some edges have to do with: those with a path through one of them.

Start reading at `pairs_through`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from triplestore.closures.scheme import Budget
from triplestore.closures.transitive.transitive_closure import TransitiveClosure
from triplestore.relations.facts.sorted_arrays import member, sorted_distinct
from triplestore.relations.packed_keys import U32, U64, distinct, high, low, pack


def pairs_through(
    closure: TransitiveClosure, edges: U64, budget: Budget | None = None
) -> Iterator[U64]:
    """The pairs (a, b) with a path of the closure's edges and these, through one of these: a is the
    first node of one or reaches it, and b its second or is reached from it. Sorted and distinct, in
    blocks. The edges need not be the closure's, if it has them as pairs.

    >>> import numpy as np
    >>> closure = TransitiveClosure.build(np.array([1 << 32 | 2, 2 << 32 | 3], np.uint64))
    >>> [keys.tolist() for keys in pairs_through(closure, np.array([1 << 32 | 2], np.uint64))]
    [[4294967298, 4294967299]]
    """
    sources, ends = distinct(np.sort(high(edges))), sorted_distinct(low(edges))
    if len(sources) == 0:
        return
    before = sorted_distinct(np.concatenate([sources, closure.match(1, sources)[1]]))
    after = sorted_distinct(np.concatenate([ends, closure.match(0, ends)[1]]))
    if len(sources) == 1 or len(ends) == 1:
        yield from _products(before, after)
        return
    # Each node twice: before one of the edges, and behind it.
    behind = np.uint64(len(before))
    tails, heads = high(closure.edges), low(closure.edges)
    parts = [
        _numbered(tails, heads, before, before),
        _numbered(tails, heads, after, after) + (behind << np.uint64(32) | behind),
        _numbered(high(edges), low(edges), before, after) + behind,
    ]
    made = TransitiveClosure.build(np.concatenate(parts), budget)
    for keys in made.blocks():
        one, other = high(keys), low(keys)
        wanted = (one < behind) & (other >= behind)
        if wanted.any():
            yield pack(before[one[wanted]], after[other[wanted] - np.uint32(behind)])


def _products(before: U32, after: U32, size: int = 1 << 20) -> Iterator[U64]:
    """All pairs of some nodes and others."""
    step = max(1, size // len(after))
    for at in range(0, len(before), step):
        some = before[at : at + step]
        yield pack(np.repeat(some, len(after)), np.tile(after, len(some)))


def _numbered(tails: U32, heads: U32, before: U32, after: U32) -> U64:
    """The edges from one set of nodes to another, by the places of these."""
    kept = member(tails, before) & member(heads, after)
    one, other = before.searchsorted(tails[kept]), after.searchsorted(heads[kept])
    return pack(one.astype(np.uint32), other.astype(np.uint32))

"""Sorted streams of keys merged into one, without repetitions, a block at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from triplestore.relations.facts.sorted_arrays import sorted_distinct
from triplestore.relations.packed_keys import NO_KEYS, U64

_SMALL = 512
"""Keys below which numpy is used instead of a kernel, so that small look-ups never import numba."""


def unite(arrays: Iterable[U64]) -> U64:
    """The union of sorted arrays of distinct keys; small ones are united first."""
    todo = sorted((array for array in arrays if len(array)), key=len)
    if len(todo) > 1 and sum(map(len, todo)) < _SMALL:
        return sorted_distinct(np.concatenate(todo))
    while len(todo) > 1:
        todo[:2] = [_unite(todo[0], todo[1])]
        todo.sort(key=len)
    return todo[0] if todo else NO_KEYS


def _unite(left: U64, right: U64) -> U64:
    if left[-1] < right[0]:
        return np.concatenate((left, right))
    if right[-1] < left[0]:
        return np.concatenate((right, left))
    from triplestore.kernels.rows.sorted_sets import unite as unite_keys

    out = np.empty(len(left) + len(right), dtype=np.uint64)
    return out[: unite_keys(left, right, out)]


def merged(streams: Sequence[Iterator[U64]]) -> Iterator[U64]:
    """The keys of all streams in order, none twice.

    streams  blocks that are not empty, increasing over the whole of each stream

    >>> one, other = (iter([np.array(keys, np.uint64)]) for keys in ([1, 5, 9], [4, 5, 20]))
    >>> [block.tolist() for block in merged([one, other])]
    [[1, 4, 5, 9], [20]]
    """
    heads: list[tuple[U64, Iterator[U64]]] = []
    for stream in streams:
        block = next(stream, None)
        if block is not None:
            heads.append((block, stream))
    while len(heads) > 1:
        bound = min(block[-1] for block, _ in heads)  # no later block has a key up to this
        taken: list[U64] = []
        left: list[tuple[U64, Iterator[U64]]] = []
        for block, stream in heads:
            stop = int(block.searchsorted(bound, side="right"))
            taken.append(block[:stop])
            rest = block[stop:] if stop < len(block) else next(stream, None)
            if rest is not None:
                left.append((rest, stream))
        yield unite(taken)
        heads = left
    for block, stream in heads:
        yield block
        yield from stream

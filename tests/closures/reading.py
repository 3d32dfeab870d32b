"""What every readable relation must answer, compared with a set of pairs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from triplestore.closures.scheme import PairStream
from triplestore.relations.packed_keys import U64
from triplestore.relations.pair_relation import PairRelation

Pair = tuple[int, int]


def keys_of(pairs: Iterable[Pair]) -> U64:
    """Packed keys, in the order given."""
    made = np.array([first << 32 | second for first, second in pairs], np.uint64)
    made.flags.writeable = False
    return made


def pairs_of(keys: Any) -> list[Pair]:
    return [(key >> 32, key & 0xFFFFFFFF) for key in np.asarray(keys).tolist()]


def all_keys(pairs: PairStream) -> U64:
    """All pairs as one sorted array."""
    return np.concatenate([np.zeros(0, np.uint64), *pairs.blocks()])


def check_pairs(
    found: PairStream, expected: set[Pair], sizes: Iterable[int] = (1, 3, 1 << 20)
) -> None:
    """The stream is sorted, without repetitions, complete, and as long as `count` says."""
    assert found.count() == len(expected)
    for swapped in (False, True):
        wanted = sorted((b, a) for a, b in expected) if swapped else sorted(expected)
        for size in sizes:
            blocks = list(found.blocks(size, swapped=swapped))
            assert all(block.dtype == np.uint64 and len(block) for block in blocks)
            assert [pair for block in blocks for pair in pairs_of(block)] == wanted


def check_readable(found: PairRelation, expected: set[Pair], nodes: Iterable[int]) -> None:
    """Every way to look something up gives what the set of pairs has."""
    check_pairs(found, expected)
    asked = [*nodes, *list(nodes)[:2], 0, 2**32 - 1]
    ids = np.array(asked, np.uint32)
    everything = [(a, b) for a in asked for b in asked]
    given = found.contains_keys(keys_of(everything))
    assert given.dtype == np.bool_
    assert given.tolist() == [pair in expected for pair in everything]
    back = {(b, a) for a, b in expected}
    for at, pairs in enumerate((expected, back)):
        probe, counts = partial(found.match, at), partial(found.match_counts, at)
        wanted = [
            (place, b) for place, node in enumerate(asked) for a, b in sorted(pairs) if a == node
        ]
        owners, others = probe(ids)
        assert (owners.dtype, others.dtype) == (np.int64, np.uint32)
        assert list(zip(owners.tolist(), others.tolist(), strict=True)) == wanted
        sizes = [sum(a == node for a, _ in pairs) for node in asked]
        assert counts(ids).tolist() == sizes
        assert probe(ids[:0])[0].tolist() == [] == counts(ids[:0]).tolist()
        for place in (0, len(asked) // 2, len(asked) - 1):  # one at a time may go another way
            owners, others = probe(ids[place : place + 1])
            assert (owners.dtype, others.dtype) == (np.int64, np.uint32)
            assert owners.tolist() == [0] * sizes[place]
            assert others.tolist() == [b for owner, b in wanted if owner == place]
    assert found.distinct(0).tolist() == sorted({a for a, _ in expected})
    assert found.distinct(1).tolist() == sorted({b for _, b in expected})
    assert found.contains_keys(keys_of([])).tolist() == []
    assert found.nbytes() >= 0

"""Sets of keys that lie close together, found and counted by their place among all ids."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from triplestore.relations.facts import sorted_arrays
from triplestore.relations.packed_keys import U64, key_of

SIZE = 9_000


def keys_of(seed: int, size: int, *, first: int | None, ids: int, least: int = 0) -> U64:
    """Random keys, of one first id or of several, in no order."""
    rng = np.random.default_rng(seed)
    firsts = np.full(size, first) if first is not None else rng.integers(1, 4, size)
    return firsts.astype(np.uint64) << np.uint64(32) | (
        rng.integers(0, ids, size).astype(np.uint64) + np.uint64(least)
    )


@pytest.mark.parametrize("least", [0, 2**32 - 50_000])
@pytest.mark.parametrize("ids", [2_000, 40_000])
@pytest.mark.parametrize("first", [7, 2**32 - 1])
def test_member__of_keys_without_order__is_membership(first: int, ids: int, least: int) -> None:
    wanted = keys_of(1, SIZE, first=first, ids=ids, least=least)
    beyond = keys_of(2, 500, first=None, ids=ids)
    within = np.unique(np.concatenate((keys_of(3, 700, first=first, ids=ids, least=least), beyond)))
    assert (sorted_arrays.member(wanted, within) == np.isin(wanted, within)).all()
    assert sorted_arrays.member(wanted, within).any()


def test_member__of_keys_of_many_first_ids__takes_no_room_for_what_lies_between() -> None:
    wanted = keys_of(1, SIZE, first=None, ids=300)
    within = np.unique(keys_of(2, 200, first=None, ids=300))
    assert (sorted_arrays.member(wanted, within) == np.isin(wanted, within)).all()


@pytest.mark.parametrize("ids", [900, 10_000_000])
def test_counted_pieces__of_one_class_each_and_mixed__are_counted_together(ids: int) -> None:
    pieces = [
        keys_of(1, SIZE, first=5, ids=ids, least=100),
        np.sort(keys_of(2, SIZE, first=2, ids=ids)),
        keys_of(3, SIZE, first=5, ids=ids),
        keys_of(4, 2_000, first=None, ids=ids),
        keys_of(5, 3, first=2, ids=ids),
    ]
    keys, counts = sorted_arrays.counted_pieces(pieces)
    expected = Counter(key for piece in pieces for key in piece.tolist())
    assert dict(zip(keys.tolist(), counts.tolist(), strict=True)) == expected
    assert keys.tolist() == sorted(expected)


@pytest.mark.parametrize("sizes", [[2], [6_000], [30, 30]])
def test_counted_pieces__of_mixed_keys_only__are_counted(sizes: list[int]) -> None:
    pieces = [keys_of(size, size, first=None, ids=50) for size in sizes]
    keys, counts = sorted_arrays.counted_pieces(pieces)
    expected = Counter(key for piece in pieces for key in piece.tolist())
    assert list(zip(keys.tolist(), counts.tolist(), strict=True)) == sorted(expected.items())


@pytest.mark.parametrize("sizes", [(400, 3), (3, 400), (200, 150), (9, 1), (1, 9)])
def test_unite__of_wide_keys__are_in_order_once(sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(sizes[0])
    sets = [
        np.unique(key_of([rng.integers(0, 9, size).astype(np.uint32) for _ in range(3)]))
        for size in sizes
    ]
    left, right = sets
    both = sorted({*left.tolist(), *right.tolist()})
    assert sorted_arrays.unite(left, right).tolist() == both
    assert sorted_arrays.unite(left, left[:1]).tolist() == left.tolist()

"""Columns against plain numpy, with a guard that notes what was verified."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triplestore.checked_columns import FENCE, Column

BLOCK = 32768


class NotingGuard:
    """Keeps the set of blocks that were verified; `strict_view` hides all the others."""

    def __init__(self) -> None:
        self.blocks: set[int] = set()

    def verify(self, start: int, stop: int) -> None:
        if start < stop:
            self.blocks.update(range(start // BLOCK, (stop - 1) // BLOCK + 1))

    def verified(self, start: int, stop: int) -> bool:
        return start >= stop or all(
            block in self.blocks for block in range(start // BLOCK, (stop - 1) // BLOCK + 1)
        )

    def verify_at(self, offsets: np.ndarray) -> None:
        self.blocks.update((offsets // BLOCK).tolist())

    def go_on(self) -> None:
        """Nothing beyond what is asked for."""


def guarded(array: np.ndarray, fences: bool = True) -> tuple[Column, NotingGuard]:
    guard = NotingGuard()
    return Column(array.copy(), guard, array[::FENCE].copy() if fences else None), guard


def sorted_values(seed: int, count: int, top: int, dtype: type) -> np.ndarray:
    return np.sort(np.random.default_rng(seed).integers(0, top, count).astype(dtype))


@settings(max_examples=120, deadline=None)
@given(
    seed=st.integers(0, 1000),
    count=st.sampled_from([0, 1, 5, 100, 4095, 4096, 4097, 20_000, 50_000]),
    top=st.sampled_from([3, 1000, 2**31]),
    dtype=st.sampled_from([np.uint32, np.uint64, np.int64]),
    side=st.sampled_from(["left", "right"]),
    fences=st.booleans(),
    data=st.data(),
)
def test_search__is_bisect_in_any_range(seed, count, top, dtype, side, fences, data):
    array = sorted_values(seed, count, top, dtype)
    lo = data.draw(st.integers(0, count))
    hi = data.draw(st.integers(lo, count))
    needles = [-1, 0, top // 2, top, 2**70, *array[:: max(1, count // 5)].tolist()]
    expected = bisect_left if side == "left" else bisect_right
    plain = array.tolist()
    for needle in needles:
        for column in (Column.of(array.copy()), guarded(array, fences)[0]):
            assert column.search(needle, lo, hi, side) == expected(plain, needle, lo, hi)
    many = np.array([n for n in needles if 0 <= n <= np.iinfo(dtype).max], dtype=dtype)
    wanted = [expected(plain, n, lo, hi) for n in many.tolist()]
    assert Column.of(array.copy()).search_many(many, lo, hi, side).tolist() == wanted
    assert guarded(array, fences)[0].search_many(many, lo, hi, side).tolist() == wanted


def test_search__works_in_a_range_of_a_column_that_is_sorted_only_there():
    parts = [sorted_values(seed, 30_000, 10**6, np.uint64) for seed in range(3)]
    array = np.concatenate(parts)
    column, _ = guarded(array)
    needles = parts[1][::97].copy()
    wanted = (np.searchsorted(parts[1], needles) + 30_000).tolist()
    assert [column.search(int(n), 30_000, 60_000) for n in needles] == wanted
    assert guarded(array)[0].search_many(needles, 30_000, 60_000).tolist() == wanted


def test_search__touches_one_or_two_blocks_of_a_file():
    array = np.arange(1_000_000, dtype=np.uint64)
    column, guard = guarded(array)
    column.search(777_777)
    assert len(guard.blocks) <= 2
    column, guard = guarded(array)
    column.search_many(np.array([5, 500_000, 999_999], dtype=np.uint64))
    assert len(guard.blocks) <= 6
    column, guard = guarded(array, fences=False)
    column.search(777_777)
    assert len(guard.blocks) < 20


def test_values__are_verified_before_they_are_handed_out():
    array = np.arange(100_000, dtype=np.uint32)
    column, guard = guarded(array)
    assert column.at(9000) == 9000 and guard.blocks == {1}
    assert column[20_000:20_010].tolist() == list(range(20_000, 20_010)) and guard.blocks == {1, 2}
    assert column.take(np.array([0, 99_999], dtype=np.uint32)).tolist() == [0, 99_999]
    assert guard.blocks == {0, 1, 2, 12}
    assert column.all().sum(dtype=np.uint64) == array.sum(dtype=np.uint64)
    assert len(guard.blocks) == 13


def test_a_column__cannot_be_written_through_its_views():
    column = Column.of(np.arange(10, dtype=np.uint32))
    for view in (column.all(), column[2:5], column[:]):
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 1


def test_search_many__refuses_a_dtype_that_numpy_would_turn_into_floats():
    with pytest.raises(AssertionError, match="int64"):
        Column.of(np.arange(10, dtype=np.uint64)).search_many(np.array([1]))

"""The kernels of joins and sorts, against loops in plain Python."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from triplestore.kernels.rows.group import group_find, group_insert, group_rehash
from triplestore.kernels.rows.join import (
    count_rows,
    expand_pairs,
    match_dense,
    match_groups,
    match_sorted,
    place_rows,
)
from triplestore.kernels.rows.partition import bucket_of, place_keys

few = st.lists(st.integers(0, 12), max_size=40)
words = st.lists(st.integers(0, 5) | st.integers(0, 2**64 - 1), max_size=30)
four_sizes = st.lists(st.integers(0, 5), min_size=4, max_size=4)
ranges = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), max_size=12)


def array(values: Any, kind: Any) -> Any:
    made = np.array(values, kind)
    made.flags.writeable = False
    return made


@given(few, few, st.booleans(), st.sampled_from([np.uint32, np.uint64]))
def test_match_sorted__is_bisection(left: Any, right: Any, ordered: bool, kind: Any) -> None:
    right.sort()
    if ordered:
        left.sort()
    lo, hi = np.full((2, len(left)), -9)
    total = match_sorted(array(left, kind), array(right, kind), lo, hi)
    assert lo.tolist() == [bisect_left(right, key) for key in left]
    assert hi.tolist() == [bisect_right(right, key) for key in left]
    assert total == (hi - lo).sum()


def test_match_sorted__gallops_over_long_gaps_and_runs() -> None:
    right = np.repeat(np.arange(0, 4000, 2, dtype=np.uint64), np.arange(2000) % 70)
    left = np.array([0, 1, 2, 3, 3998, 3998, 70, 5000, 2000, 2002], np.uint64)
    lo, hi = np.empty((2, len(left)), np.int64)
    match_sorted(left, right, lo, hi)
    assert np.array_equal(lo, right.searchsorted(left, "left"))
    assert np.array_equal(hi, right.searchsorted(left, "right"))


@given(
    st.lists(st.integers(-1, 3), max_size=12), st.lists(st.integers(0, 5), min_size=4, max_size=4)
)
def test_match_groups__reads_the_starts(groups: Any, sizes: Any) -> None:
    starts = np.concatenate(([0], np.cumsum(sizes)))
    lo, hi = np.full((2, len(groups)), -9)
    total = match_groups(array(groups, np.int64), array(starts, np.uint32), lo, hi)
    assert (hi - lo).tolist() == [sizes[group] if group >= 0 else 0 for group in groups]
    assert all(lo[i] == starts[group] for i, group in enumerate(groups) if group >= 0)
    assert total == (hi - lo).sum()


@given(few, st.integers(0, 12), four_sizes)
def test_match_dense__takes_ids_less_the_base(keys: Any, base: int, sizes: Any) -> None:
    starts = np.concatenate(([0], np.cumsum(sizes)))
    lo, hi = np.full((2, len(keys)), -9)
    total = match_dense(array(keys, np.uint32), base, array(starts, np.uint32), lo, hi)
    known = [sizes[key - base] if 0 <= key - base < 4 else 0 for key in keys]
    assert (hi - lo).tolist() == known
    assert total == sum(known)


@given(few, st.integers(0, 3), st.integers(1, 9))
def test_count_and_place_rows__sort_by_group(groups: Any, base: int, piece: int) -> None:
    stored = array([group + base for group in groups], np.uint32)
    counts = np.zeros(13, np.uint32)
    for start in range(0, len(groups), piece):
        count_rows(stored[start : start + piece], base, counts)
    assert counts.tolist() == [Counter(groups)[group] for group in range(13)]
    cursors = (np.cumsum(counts) - counts).astype(np.uint32)
    rows = np.empty(len(groups), np.uint32)
    for start in range(0, len(groups), piece):
        place_rows(stored[start : start + piece], base, start, cursors, rows)
    assert rows.tolist() == sorted(range(len(groups)), key=groups.__getitem__)
    assert np.array_equal(cursors, np.cumsum(counts))


@given(ranges, st.booleans(), st.integers(1, 7))
def test_expand_pairs__lists_all_pairs_in_blocks(found: Any, outer: bool, room: int) -> None:
    pairs = []
    for i, (start, size) in enumerate(found):
        pairs += [(i, start + k) for k in range(size)]
        pairs += [(i, -1)] if outer and size == 0 else []
    lo = array([start for start, _ in found], np.int64)
    hi = array([start + size for start, size in found], np.int64)
    row = offset = 0
    for at in range(0, len(pairs), room):
        part = pairs[at : at + room]
        left, right = np.full((2, len(part)), -9)
        state = expand_pairs(lo, hi, row, offset, int(outer), left, right)
        row, offset = state >> 32, state & 0xFFFFFFFF
        assert list(zip(left.tolist(), right.tolist(), strict=True)) == part


@given(words, words, st.integers(1, 9))
def test_group_kernels__number_keys_by_first_appearance(keys: Any, other: Any, piece: int) -> None:
    slots = np.zeros(64, np.uint32)
    group_keys = np.empty(64, np.uint64)
    numbers: dict[int, int] = {}
    count = 0
    for start in range(0, len(keys), piece):
        part = keys[start : start + piece]
        groups, firsts = np.empty(len(part), np.uint32), np.empty(len(part), np.int64)
        before = count
        count = group_insert(array(part, np.uint64), slots, group_keys, before, groups, firsts)
        new = [i for i, key in enumerate(part) if key not in numbers and key not in part[:i]]
        assert firsts[: count - before].tolist() == new
        assert groups.tolist() == [numbers.setdefault(key, len(numbers)) for key in part]
    assert group_keys[:count].tolist() == list(numbers)
    larger = np.zeros(128, np.uint32)
    group_rehash(group_keys, 0, count // 2, larger)
    group_rehash(group_keys, count // 2, count, larger)
    wanted = keys + other
    for table in (slots, larger):
        found = np.empty(len(wanted), np.int64)
        hits = group_find(array(wanted, np.uint64), table, group_keys, found)
        assert found.tolist() == [numbers.get(key, -1) for key in wanted]
        assert hits == sum(key in numbers for key in wanted)


@given(words, st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5), min_size=7, max_size=7))
def test_partition__puts_keys_between_their_splitters(keys: Any, splitters: Any) -> None:
    splitters.sort()
    buckets = np.empty(len(keys), np.uint32)
    counts = np.zeros(8, np.int64)
    bucket_of(array(keys, np.uint64), array(splitters, np.uint64), buckets, counts)
    assert buckets.tolist() == [bisect_right(splitters, key) for key in keys]
    assert counts.tolist() == [Counter(buckets.tolist())[i] for i in range(8)]
    out = np.empty(len(keys), np.uint64)
    place_keys(array(keys, np.uint64), buckets, np.cumsum(counts) - counts, out)
    assert out.tolist() == [keys[i] for i in sorted(range(len(keys)), key=buckets.__getitem__)]

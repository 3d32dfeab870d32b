"""The kernels of sets of facts, against plain Python."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from triplestore.kernels.closures.hierarchies import close_members
from triplestore.kernels.rows.sorted_sets import (
    add_counts,
    count_close,
    count_equals,
    expand_second,
    find_places,
    mark_members,
    match_first,
    take_counted,
    unite,
)

few = st.lists(st.integers(0, 12) | st.integers(0, 2**64 - 1), max_size=30)
pairs = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=40)


def keys(values: Any) -> Any:
    made = np.array(values, np.uint64)
    made.flags.writeable = False
    return made


@given(few, few, st.booleans())
def test_mark_members_and_find_places__are_membership(left: Any, right: Any, ordered: bool) -> None:
    right = sorted(set(right))
    if ordered:
        left.sort()
    found, places = np.full(len(left), 7, np.uint8), np.full(len(left), -9)
    hits = mark_members(keys(left), keys(right), found)
    assert found.tolist() == [int(key in right) for key in left]
    assert hits == sum(found)
    assert find_places(keys(left), keys(right), places) == hits
    assert places.tolist() == [right.index(key) if key in right else -1 for key in left]


@given(st.lists(st.integers(0, 7), max_size=20), pairs, st.booleans())
def test_match_first_and_expand_second__list_the_rows(
    values: Any, rows: Any, ordered: bool
) -> None:
    if ordered:
        values.sort()
    rows = sorted(set(rows))
    packed = keys([first << 32 | second for first, second in rows])
    firsts = [first for first, _ in rows]
    lo, hi = np.full((2, len(values)), -9)
    total = match_first(np.array(values, np.uint32), packed, lo, hi)
    assert lo.tolist() == [bisect_left(firsts, value) for value in values]
    assert hi.tolist() == [bisect_right(firsts, value) for value in values]
    index, second = np.empty(total, np.int64), np.empty(total, np.uint32)
    expand_second(lo, hi, packed, index, second)
    expected = [(i, o) for i, value in enumerate(values) for s, o in rows if s == value]
    assert list(zip(index.tolist(), second.tolist(), strict=True)) == expected


def test_match_first__finds_long_ranges() -> None:
    packed = keys([first << 32 | second for first in range(4) for second in range(100 * first)])
    lo, hi = np.empty((2, 4), np.int64)
    assert match_first(np.array([3, 1, 2, 0], np.uint32), packed, lo, hi) == 600
    assert (hi - lo).tolist() == [300, 100, 200, 0]


@given(few, few)
def test_unite__is_union(left: Any, right: Any) -> None:
    left, right = sorted(set(left)), sorted(set(right))
    out = np.empty(len(left) + len(right), np.uint64)
    assert out[: unite(keys(left), keys(right), out)].tolist() == sorted({*left, *right})


@given(st.lists(st.integers(0, 5), max_size=30))
def test_count_equals__counts(values: Any) -> None:
    values.sort()
    out, counts = np.empty(len(values), np.uint64), np.empty(len(values), np.uint32)
    size = count_equals(keys(values), out, counts)
    assert dict(zip(out[:size].tolist(), counts[:size].tolist(), strict=True)) == Counter(values)
    assert out[:size].tolist() == sorted(set(values))


@given(
    st.dictionaries(st.integers(0, 20), st.integers(-3, 3)),
    st.dictionaries(st.integers(0, 20), st.integers(-3, 3)),
)
def test_add_counts__adds(left: Any, right: Any) -> None:
    one, other = sorted(left), sorted(right)
    out = np.empty(len(one) + len(other), np.uint64)
    counts = np.empty(len(out), np.int64)
    size = add_counts(
        keys(one),
        np.array([left[k] for k in one], np.int64),
        keys(other),
        np.array([right[k] for k in other], np.int64),
        out,
        counts,
    )
    assert out[:size].tolist() == sorted({*left, *right})
    assert counts[:size].tolist() == [left.get(k, 0) + right.get(k, 0) for k in out[:size].tolist()]


@given(
    st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20),
    st.lists(st.sets(st.integers(0, 7), max_size=3), max_size=6),
    st.integers(8, 20),
)
def test_close_members__is_reachability(edges: Any, members: Any, room: int) -> None:
    ordered = sorted(edges)
    starts = np.array([bisect_left(ordered, (c, -1)) for c in range(9)], np.int64)
    heads = np.array([head for _, head in ordered], np.uint32)
    concluded = np.zeros(8, np.uint8)
    concluded[heads] = 1
    classes = np.array([c for held in members for c in sorted(held)], np.uint32)
    bounds = np.concatenate(([0], np.cumsum([len(held) for held in members]))).astype(np.int64)
    truth, counts = np.zeros(8, np.uint8), np.zeros(8, np.uint32)
    scratch = np.empty((2, 8), np.uint32)
    out = np.empty((3, room), np.uint32)
    state = np.zeros(3, np.int64)
    found: dict[tuple[int, int], int] = {}
    while state[0] < len(members):
        state[1] = 0
        close_members(
            bounds, classes, np.ones(len(classes), np.uint8), starts, heads, concluded,
            truth, counts, scratch[0], scratch[1], out[0], out[1], out[2], state,
        )  # fmt: skip
        for c, member, count in out[:, : state[1]].T.tolist():
            assert (member, c) not in found
            found[member, c] = count
    assert not truth.any()
    assert not counts.any()
    expected, followed = {}, 0
    for member, held in enumerate(members):
        reached, todo = set(held), list(held)
        while todo:
            c = todo.pop()
            for one, head in edges:
                if one == c and head not in reached:
                    reached.add(head)
                    todo.append(head)
        into = Counter(head for one, head in edges if one in reached)
        followed += sum(into.values())
        expected |= {(member, c): into[c] for c in reached if concluded[c]}
    assert found == expected
    assert state[2] == followed


@given(st.lists(st.integers(7, 20), max_size=40))
def test_count_close_and_take_counted__are_a_counter(values: Any) -> None:
    counts = np.zeros(14, np.uint32)
    count_close(keys(values), np.uint64(7), counts)
    out, times = np.empty(14, np.uint64), np.empty(14, np.uint32)
    size = take_counted(counts, np.uint64(7), out, times)
    found = zip(out[:size].tolist(), times[:size].tolist(), strict=True)
    assert list(found) == sorted(Counter(values).items())

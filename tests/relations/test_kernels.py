"""The kernels of tables against sets and dicts, whatever the pieces they are given."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from triplestore.kernels.rows.characteristic_sets import number_sets, reenter_sets
from triplestore.kernels.rows.merge import merge_by_plan, plan_merge
from triplestore.kernels.rows.sort_rows import (
    compact,
    count_heads,
    count_names,
    place_rows,
    sort_ties,
    term_name_pairs,
)

LARGE = 0xFFFFFFFF
ids = st.sampled_from([1, 2, 3, 0x7FFFFFFF, 0x80000000, LARGE])
keys = st.builds(lambda a, b: a << 32 | b, ids, ids)
limits = st.integers(1, 9)


def frozen(values: list, dtype: type) -> np.ndarray:
    array = np.array(values, dtype=dtype)
    array.flags.writeable = False
    return array


def starts_of(groups: list) -> np.ndarray:
    return frozen(np.cumsum([0, *map(len, groups)]).tolist(), np.int64)


def head(key: int) -> int:
    return key >> 32


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(keys, max_size=9), max_size=5), limits)
def test_compact__drops_repetitions_and_counts_heads(groups: list, limit: int) -> None:
    groups = [sorted(group) for group in groups]
    array = np.array([key for group in groups for key in group], dtype=np.uint64)
    starts = starts_of(groups)
    new_starts, firsts = np.zeros(len(starts), np.int64), np.zeros(len(groups), np.int64)
    state = np.zeros(3, dtype=np.int64)
    while state[0] < len(groups):
        compact(array, starts, new_starts, firsts, limit, state)
    distinct = [sorted(set(group)) for group in groups]
    for number, group in enumerate(distinct):
        assert array[new_starts[number] : new_starts[number + 1]].tolist() == group
    assert firsts.tolist() == [len(set(map(head, group))) for group in distinct]
    check_heads(distinct, limit)


def check_heads(groups: list, limit: int) -> None:
    """Sorted distinct ranges: counting heads, and pairs of head and name."""
    array = frozen([key for group in groups for key in group], np.uint64)
    starts = starts_of(groups)
    names = frozen([LARGE - number for number in range(len(groups))], np.uint32)
    firsts, state = np.zeros(len(groups), np.int64), np.zeros(3, np.int64)
    while state[0] < len(groups):
        count_heads(array, starts, firsts, limit, state)
    assert firsts.tolist() == [len(set(map(head, group))) for group in groups]
    pairs, state = np.zeros(int(firsts.sum()), np.uint64), np.zeros(3, np.int64)
    while state[0] < len(groups):
        term_name_pairs(array, starts, names, pairs, limit, state)
    assert pairs.tolist() == [
        first << 32 | int(name)
        for group, name in zip(groups, names, strict=True)
        for first in sorted(set(map(head, group)))
    ]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(ids, ids, ids), max_size=30), st.sampled_from([2, 8, 64]))
def test_count_and_place__bring_names_together_in_order(rows: list, slots: int) -> None:
    names, first, second = (frozen([row[n] for row in rows], np.uint32) for n in range(3))
    table, counts = np.zeros(slots, np.uint32), np.zeros(slots, np.int64)
    done = count_names(names, table, counts)
    assert np.count_nonzero(table) <= slots // 2
    expected = {name: names[:done].tolist().count(name) for name in names[:done].tolist()}
    found = dict(zip(table.tolist(), counts.tolist(), strict=True))
    found.pop(0, None)
    assert found == expected
    if done < len(rows):  # it stopped at a new name, because half of the slots are taken
        assert len(expected) == slots // 2
        assert rows[done][0] not in expected
        return
    cursors = np.zeros(slots, dtype=np.int64)
    place, order = 0, []
    for slot, name in enumerate(table.tolist()):
        cursors[slot] = place
        if name:
            order.append(name)
            place += expected[name]
    out = np.zeros(len(rows), dtype=np.uint64)
    place_rows(names, first, second, table, cursors, out)
    assert out.tolist() == [s << 32 | o for name in order for p, s, o in rows if p == name]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(keys, ids), max_size=40))
def test_sort_ties__sorts_by_both_columns(rows: list) -> None:
    rows.sort(key=lambda row: row[0])
    extra = np.array([row[1] for row in rows], dtype=np.uint32)
    sort_ties(frozen([row[0] for row in rows], np.uint64), extra)
    assert extra.tolist() == [row[1] for row in sorted(rows)]


def test_sort_ties__long_ranges() -> None:
    extra = np.random.default_rng(1).permutation(5000).astype(np.uint32)
    sort_ties(np.full(5000, 7, dtype=np.uint64), extra)
    assert extra.tolist() == list(range(5000))


@st.composite
def two_layers(draw: st.DrawFn) -> tuple:
    names = draw(st.integers(0, 4))
    rows = st.dictionaries(st.tuples(keys, ids), st.integers(0, 2), max_size=8)
    wide = draw(st.booleans())
    sides = [[draw(rows) for _ in range(names)] for _ in range(2)]
    if not wide:
        sides = [[{(key, 0): word for (key, _), word in g.items()} for g in s] for s in sides]
    return wide, *sides


@settings(max_examples=150, deadline=None)
@given(two_layers(), st.booleans(), st.booleans(), st.integers(1, 40))
def test_merge__newest_word_wins(case: tuple, drop_old: bool, drop_new: bool, size: int) -> None:
    wide, old, new = case
    sides = []
    for groups, drops in ((old, drop_old), (new, drop_new)):
        rows = [row for group in groups for row in sorted(group)]
        status = [group[row] for group in groups for row in sorted(group)]
        sides.append(
            (
                frozen([key for key, _ in rows], np.uint64),
                frozen([extra for _, extra in rows] if wide else [], np.uint32),
                frozen(status, np.uint8),
                frozen(status if drops else [], np.uint8),
                starts_of(groups),
            )
        )
    (keys1, extra1, status1, drop1, starts1), (keys2, extra2, status2, drop2, starts2) = sides
    sizes, state = np.zeros(len(old), np.int64), np.zeros(4, np.int64)
    out = np.zeros(len(keys1) + len(keys2), np.uint64)
    out_status, out_extra = out.astype(np.uint8), out.astype(np.uint32)
    rows, plan = 0, np.zeros(size, np.uint8)
    while state[0] < len(old):
        i, j = state[1], state[2]
        plan_merge(keys1, extra1, drop1, starts1, keys2, extra2, drop2, starts2, plan, sizes, state)
        part = plan[: state[3]]
        written = merge_by_plan(part, keys1[i:], keys2[j:], out[rows:])
        assert merge_by_plan(part, status1[i:], status2[j:], out_status[rows:]) == written
        if wide:
            assert merge_by_plan(part, extra1[i:], extra2[j:], out_extra[rows:]) == written
        rows += written
    expected = []
    for number, (one, two) in enumerate(zip(old, new, strict=True)):
        one = {row: word for row, word in one.items() if word or not drop_old or row in two}
        kept = {**one, **two}
        if drop_new:
            kept = {row: word for row, word in kept.items() if word or row not in two}
        assert sizes[number] == len(kept)
        expected += [(*row, kept[row]) for row in sorted(kept)]
    assert rows == len(expected)
    assert out[:rows].tolist() == [row[0] for row in expected]
    assert out_status[:rows].tolist() == [row[2] for row in expected]
    if wide:
        assert out_extra[:rows].tolist() == [row[1] for row in expected]


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(ids, st.sets(ids, min_size=1, max_size=4), max_size=6), limits)
def test_number_sets__same_set_same_number(terms: dict, limit: int) -> None:
    pairs = frozen(sorted(t << 32 | n for t, names in terms.items() for n in names), np.uint64)
    slots = np.zeros(2, dtype=np.int64)
    examples, lengths, sizes = (np.zeros(8, dtype=np.int64) for _ in range(3))
    found, codes = (np.zeros(len(terms), dtype=np.uint32) for _ in range(2))
    state = np.zeros(4, dtype=np.int64)
    while state[0] < len(pairs):
        number_sets(pairs, slots, examples, lengths, sizes, found, codes, limit, state)
        if state[3]:
            slots = np.zeros(2 * len(slots), dtype=np.int64)
            reenter_sets(pairs, examples, lengths, int(state[2]), slots)
    assert found.tolist() == sorted(terms)
    sets = list(dict.fromkeys(frozenset(terms[term]) for term in sorted(terms)))
    assert state[2] == len(sets)
    assert codes.tolist() == [sets.index(frozenset(terms[term])) for term in sorted(terms)]
    for number, names in enumerate(sets):
        begin, length = examples[number], lengths[number]
        assert {int(pair) & LARGE for pair in pairs[begin : begin + length]} == names
        assert sizes[number] == sum(frozenset(n) == names for n in terms.values())

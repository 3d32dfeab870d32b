"""The parts that operators are made of: frames, keys, hash tables, sorting, indexes, pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.operators.model import frames, kernels, plain, types, values
from triplestore.errors import BudgetError, CancelledError, UsageError
from triplestore.operators import (
    BOOLEAN,
    ID,
    INTEGER,
    OBJECT,
    REAL,
    Context,
    Distinct,
    Frame,
    Values,
)
from triplestore.operators.frame import kept_order, null_of
from triplestore.operators.group_table import GroupTable
from triplestore.operators.joins.join_index import JoinIndex
from triplestore.operators.joins.match_pairs import cut_pairs
from triplestore.operators.row_keys import KeyCoder, distinct_ids, order_keys
from triplestore.operators.sort_positions import sort_words, sorted_positions
from triplestore.operators.thresholds import OPERATORS
from triplestore.relations.packed_keys import pack

keys = st.lists(st.integers(0, 6) | st.integers(0, 2**64 - 1), max_size=40)
two_frames = st.lists(types, max_size=5).flatmap(
    lambda kinds: st.tuples(*[frames("abcde"[: len(kinds)], kinds)] * 2)
)


def test_frame__of_lists_guesses_their_types() -> None:
    frame = Frame.of({"x": [1]}, y=[-1.5], z=[True], w=["a"])
    assert frame.types == (ID, REAL, BOOLEAN, OBJECT)
    assert Frame.of(x=[]).types == (ID,)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Frame.of(), "without columns"),
        (lambda: Frame.of(x=[1], y=[1, 2]), "has not 1 values"),
        (lambda: Frame.of(x=np.zeros(1, np.int32)), "has the type int32"),
        (lambda: Frame.of(x=[2, 1], order=("x",)), "not sorted"),
        (lambda: Frame.of(x=[1, 1], unique=True), "not unique"),
        (lambda: Frame(("x", "x"), [np.zeros(1, ID)] * 2, 1).validate(), "different names"),
    ],
)
def test_frame__refuses_what_does_not_hold(make: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()


def test_frame__parts_of_it() -> None:
    frame = Frame.of(x=[1, 2, 3], y=[4, 5, 6], order=("x", "y"), unique=True)
    assert frame.slice(1, 9).to_rows() == [(2, 5), (3, 6)]
    assert frame.slice(5, 9).rows == 0
    assert frame.take(np.array([2, 0])).to_rows() == [(3, 6), (1, 4)]
    assert frame.where(np.array([True, False, True])).to_rows() == [(1, 4), (3, 6)]
    assert frame.project(("y",)).unique is False
    assert frame.project(("y", "x")).order == ("x", "y")
    assert frame.nbytes == 24
    assert repr(frame) == "<frame of 3 rows (x: uint32, y: uint32)>"
    assert kept_order(("x", "y", "z"), ("x", "z")) == ("x",)
    assert [null_of(kind) for kind in (ID, INTEGER, BOOLEAN, OBJECT)] == [0, 0, False, None]


def test_frame__without_columns_has_rows() -> None:
    frame = Frame((), (), 3)
    assert frame.to_rows() == [(), (), ()]
    assert frame.where(np.array([True, False, True])).rows == 2
    assert frame.slice(1, 3).rows == 2


@given(
    st.sampled_from([ID, INTEGER, REAL, BOOLEAN]).flatmap(
        lambda kind: st.tuples(st.just(kind), st.lists(values[kind], max_size=20))
    )
)
def test_order_keys__compare_as_the_values(typed: Any) -> None:
    kind, listed = typed
    found = order_keys(np.array(listed, kind))
    assert found.dtype == np.uint64
    ordered = np.array(listed, kind)[np.argsort(found, kind="stable")]
    expected = np.sort(np.array(listed, kind), kind="stable")
    assert [plain((a,)) for a in ordered.tolist()] == [plain((b,)) for b in expected.tolist()]
    for one, key in zip(listed, found.tolist(), strict=True):
        for other, other_key in zip(listed, found.tolist(), strict=True):
            assert (plain((one,)) == plain((other,))) == (key == other_key)


@given(two_frames, st.booleans())
def test_key_coder__keys_are_equal_exactly_if_rows_are(pair: Any, used: bool) -> None:
    known, other = pair
    with kernels(used):
        coder = KeyCoder(known.types, Context())
        half = known.rows // 2
        learnt = [
            *coder.learn(known.slice(0, half).columns, half).tolist(),
            *coder.learn(known.slice(half, known.rows).columns, known.rows - half).tolist(),
        ]
        found = coder.find(other.columns, other.rows).tolist()
    rows = [plain(row) for row in known.to_rows()]
    others = [plain(row) for row in other.to_rows()]
    for row, key in zip(rows, learnt, strict=True):
        assert [key == it for it in learnt] == [row == it for it in rows]
        assert [key == it for it in found] == [row == it for it in others]


@given(st.lists(keys, max_size=4), keys, st.booleans())
def test_group_table__numbers_keys_by_first_appearance(
    parts: list[list[int]], wanted: list[int], used: bool
) -> None:
    numbers: dict[int, int] = {}
    context = Context()
    with kernels(used):
        table = GroupTable(context)
        for part in parts:
            before = len(numbers)
            groups, firsts = table.insert(np.array(part, np.uint64))
            assert groups.tolist() == [numbers.setdefault(key, len(numbers)) for key in part]
            assert [part[i] for i in firsts] == list(numbers)[before:]
            assert firsts.tolist() == sorted(firsts.tolist())
        assert table.count == len(numbers)
        assert table.keys().tolist() == list(numbers)
        found = table.find(np.array(wanted, np.uint64)).tolist()
        assert found == [numbers.get(key, -1) for key in wanted]
        assert context.used == table.nbytes
        table.clear()
    assert (context.used, table.count) == (0, 0)


def test_group_table__changes_to_kernels_when_keys_become_many() -> None:
    with kernels(False):
        table = GroupTable(Context())
        table.insert(np.arange(10, dtype=np.uint64))
    groups, firsts = table.insert(np.arange(5, 10_005, dtype=np.uint64))
    assert groups.tolist() == list(range(5, 10_005))
    assert firsts.tolist() == list(range(5, 10_000))
    assert table.find(np.array([3, 10_004, 10_005], np.uint64)).tolist() == [3, 10_004, -1]


@given(keys, st.booleans())
def test_sort_words__sorts(listed: list[int], used: bool) -> None:
    context = Context()
    with kernels(used):
        result = sort_words(np.array(listed, np.uint64), context)
    assert result.tolist() == sorted(listed)
    assert context.used == 0


@pytest.mark.slow_kernels
def test_sort_words__of_many_equal_values() -> None:
    array = np.repeat(np.array([5, 3, 9], np.uint64), [400_000, 10, 300_000])
    assert np.array_equal(sort_words(array.copy(), Context()), np.sort(array))


@pytest.mark.slow_kernels
def test_sorted_positions__can_be_stopped_and_leaves_nothing_charged() -> None:
    rows = 1_000_000
    column = np.random.default_rng(1).integers(0, 1 << 32, rows, dtype=np.uint32)
    context = Context()
    positions = sorted_positions([column], [False], rows, context)
    assert np.array_equal(column[positions], np.sort(column))
    assert context.used == 0
    assert context.peak <= 32 * rows
    with pytest.raises(BudgetError):
        sorted_positions([column], [False], rows, Context(budget=16 * rows))


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=9),
    st.booleans(),
    st.integers(1, 5),
    st.booleans(),
)
def test_cut_pairs__lists_all_pairs(found: Any, outer: bool, room: int, used: bool) -> None:
    expected = []
    for i, (start, size) in enumerate(found):
        expected += [(i, start + k) for k in range(size)] or ([(i, -1)] if outer else [])
    lo = np.array([start for start, _ in found], np.int64)
    hi = np.array([start + size for start, size in found], np.int64)
    pairs: list[tuple[int, int]] = []
    with kernels(used):
        for left, right in cut_pairs(lo, hi, len(expected), room, outer):
            assert len(left) <= room
            pairs += zip(left.tolist(), right.tolist(), strict=True)
    assert pairs == expected


@pytest.mark.parametrize("piece", [100, 1 << 17])
@pytest.mark.parametrize("form", ["sorted", "dense", "hashed"])
def test_join_index__all_forms_find_the_same(
    form: str, piece: int, tune: Callable[..., None]
) -> None:
    tune(OPERATORS, piece_rows=piece)
    rng = np.random.default_rng(2)
    rows = 5000
    spread = 1 << 31 if form == "hashed" else 900
    column = rng.integers(100, spread, rows, dtype=np.uint32)
    column[rows // 2 :] = column[: rows - rows // 2]
    if form == "sorted":
        column.sort()
    frame = Frame.of(x=column)
    others = rng.integers(0, spread + 100, 200, dtype=np.uint32)
    wanted = np.concatenate((column[:200], others, np.array([0, 2**32 - 1], np.uint32)))
    index = JoinIndex(frame, [0], Context(), ordered=form == "sorted")
    assert (index._sorted is not None) == (form == "sorted")
    assert (index._table is not None) == (form == "hashed")
    lo, hi, pairs = index.ranges([wanted], len(wanted))
    assert pairs == (hi - lo).sum()
    for key, start, stop in zip(wanted.tolist(), lo.tolist(), hi.tolist(), strict=True):
        places = np.arange(start, stop)
        assert index.rows(places).tolist() == np.flatnonzero(column == key).tolist()
    members = JoinIndex(frame, [0], Context(), ordered=form == "sorted", members=True)
    assert (members._present is not None) == (form == "dense")
    known = set(column.tolist())
    assert members.exists([wanted], len(wanted)).tolist() == [
        key in known for key in wanted.tolist()
    ]


@pytest.mark.parametrize("used", [True, False])
@pytest.mark.parametrize("members", [True, False])
def test_join_index__of_no_rows(members: bool, used: bool) -> None:
    nothing, keys = np.zeros(0, np.uint32), [np.array([1, 5], np.uint32)]
    with kernels(used):
        index = JoinIndex(Frame.of(x=nothing), [0], Context(), members=members)
        assert index.exists(keys, 2).tolist() == [False, False]


def test_keys__take_every_kind_of_nan_to_be_one_value() -> None:
    bits = np.array(
        [0x7FF8_0000_0000_0000, 0xFFF8_0000_0000_0000, 0x7FF8_0000_0000_0001], np.uint64
    )
    column = bits.view(np.float64)
    assert set(order_keys(column).tolist()) == {(1 << 64) - 1}
    frame = Frame.of(x=column, order=("x",))
    assert Distinct(Values(frame)).run(Context()).rows == 1
    assert Distinct(Values(Frame.of(x=column))).run(Context()).rows == 1


@pytest.mark.parametrize("spread", [3, 500, 2**32])
@pytest.mark.parametrize("size", [0, 1, 64, 65, 300])
def test_distinct_ids__with_and_without_sorting(size: int, spread: int) -> None:
    ids = np.random.default_rng(size).integers(0, spread, size).astype(np.uint32)
    found, places = distinct_ids(ids)
    assert found.dtype == ids.dtype
    assert found.tolist() == sorted(set(ids.tolist()))
    assert found[places].tolist() == ids.tolist()


def test_pack__puts_the_first_column_high() -> None:
    packed = pack(np.array([1, 2**32 - 1], np.uint32), np.array([7, 5], np.uint32))
    assert packed.tolist() == [(1 << 32) + 7, ((2**32 - 1) << 32) + 5]


def test_context__counts_and_refuses() -> None:
    context = Context(budget=10)
    context.charge(10)
    with pytest.raises(BudgetError, match="memory budget of 10 bytes"):
        context.charge(1)
    assert (context.used, context.peak) == (10, 10)
    context.release(10)
    with pytest.raises(AssertionError, match="never charged"):
        context.release(1)
    with pytest.raises(UsageError, match="at least 1"):
        Context(block_rows=0)


def test_context__without_limits_never_stops() -> None:
    context = Context()
    context.charge(1 << 50)
    context.check()


def test_group_table__growth_can_be_cancelled() -> None:
    class Stop:
        def is_set(self) -> bool:
            return True

    with kernels(True):
        table = GroupTable(Context(cancel=Stop()))
        with pytest.raises(CancelledError):
            table.insert(np.arange(100, dtype=np.uint64))

"""Joins of two inputs against nested loops over lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.operators.model import (
    Row,
    block_sizes,
    check_plan,
    frames,
    kernels,
    plain_value,
    sorted_frames,
    types,
)
from triplestore.errors import UsageError
from triplestore.operators import (
    BOOLEAN,
    ID,
    INTEGER,
    REAL,
    Context,
    Frame,
    HashJoin,
    MergeJoin,
    Values,
)
from triplestore.operators.frame import null_of
from triplestore.operators.joins.merge_join import join

hows = st.sampled_from(["inner", "left", "semi", "anti"])
numbers = st.integers(0, 1000)


def nested_loops(
    left: Frame, right: Frame, on: tuple[str, ...], how: str, condition: Any = None
) -> list[Row]:
    """What a join means, with rows in the order of left, then right."""
    rest = [i for i, name in enumerate(right.names) if name not in on]
    nothing = tuple(plain_null(right.columns[i].dtype) for i in rest)
    result = []
    for row in left.to_rows():
        key = [plain_value(row[left.names.index(name)]) for name in on]
        matches = [
            (*row, *(other[i] for i in rest))
            for other in right.to_rows()
            if [plain_value(other[right.names.index(name)]) for name in on] == key
        ]
        if condition is not None:
            matches = [joined for joined in matches if condition(joined)]
        if how == "semi":
            result += [row] if matches else []
        elif how == "anti":
            result += [] if matches else [row]
        else:
            result += matches
            if how == "left" and not matches:
                result.append((*row, *nothing))
    return result


def plain_null(kind: Any) -> Any:
    null = null_of(kind)
    return null.item() if isinstance(null, np.generic) else null


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Frame, Frame, tuple[str, ...]]:
    """Two frames with up to three columns in common, of any types."""
    on = tuple("xyz"[: draw(st.integers(0, 3))])
    kinds = [draw(types) for _ in on]
    left = draw(frames((*on, "a"), (*kinds, draw(types))))
    right = draw(frames(("b", *on[::-1]), (draw(types), *kinds[::-1])))
    return left, right, on


@given(pairs(), hows, block_sizes, numbers, st.booleans())
def test_hash_join__is_nested_loops(pair: Any, how: Any, size: int, at: int, used: bool) -> None:
    left, right, on = pair
    with kernels(used):
        plan = HashJoin(Values(left), Values(right), how=how)
        check_plan(plan, nested_loops(left, right, on, how), size, at, in_order=True)


@st.composite
def sorted_pairs(draw: st.DrawFn) -> tuple[Frame, Frame, tuple[str, ...]]:
    kinds = draw(st.sampled_from([(ID,), (ID, ID), (INTEGER,), (REAL,), (BOOLEAN,)]))
    on = tuple("xy"[: len(kinds)])
    order = draw(st.permutations(on))
    more = draw(st.sampled_from([(), ("a",)]))
    left = draw(sorted_frames((*on, "a"), (*kinds, draw(types)), (*order, *more)))
    more = draw(st.sampled_from([(), ("b",)]))
    right = draw(sorted_frames(("b", *on), (draw(types), *kinds), (*order, *more)))
    return left, right, on


@given(sorted_pairs(), hows, block_sizes, numbers, st.booleans(), st.booleans())
def test_merge_join__is_nested_loops(
    pair: Any, how: Any, size: int, at: int, used: bool, streams: bool
) -> None:
    left, right, on = pair
    with kernels(used):
        other = Streamed(right) if streams else Values(right)
        plan = MergeJoin(Values(left), other, how=how)
        check_plan(plan, nested_loops(left, right, on, how), size, at, in_order=True)


@given(sorted_pairs(), hows, block_sizes)
def test_hash_join__knows_the_order_of_its_result(pair: Any, how: Any, size: int) -> None:
    left, right, on = pair
    plan = HashJoin(Values(left), Values(right), how=how)
    assert plan.order[: len(left.order)] == left.order
    check_plan(plan, nested_loops(left, right, on, how), size, in_order=True)


class Streamed(Values):
    """A frame that pretends not to be in memory as a whole."""

    def whole(self, context: Context) -> None:  # type: ignore[override]
        return None


@given(pairs(), hows, block_sizes, numbers, st.booleans())
def test_join__tests_a_condition_on_joined_rows(
    pair: Any, how: Any, size: int, at: int, used: bool
) -> None:
    left, right, on = pair

    def condition(frame: Frame) -> Any:
        assert frame.names == (*left.names, "b")
        return np.array([hash(row[-1]) % 2 == len(on) % 2 for row in frame.to_rows()], bool)

    expected = nested_loops(left, right, on, how, lambda row: hash(row[-1]) % 2 == len(on) % 2)
    if any(kind.kind == "f" for kind in right.types):
        return  # the hash of NaN is its identity
    with kernels(used):
        plan = HashJoin(Values(left), Values(right), how=how, condition=condition)
        check_plan(plan, expected, size, at, in_order=how != "left")


@given(pairs(), block_sizes, st.booleans())
def test_left_join__says_which_rows_matched(pair: Any, size: int, conditional: bool) -> None:
    left, right, on = pair
    condition = (lambda frame: np.ones(len(frame), bool)) if conditional else None
    plan = HashJoin(Values(left), Values(right), how="left", matched="m", condition=condition)
    rows = check_plan(plan, None, size)
    matched = [row[:-1] for row in rows if row[-1]]
    assert len(matched) == len(nested_loops(left, right, on, "inner"))
    assert len(rows) == len(nested_loops(left, right, on, "left"))


@given(pairs(), block_sizes)
def test_join__chooses_and_keeps_the_columns(pair: Any, size: int) -> None:
    left, right, on = pair
    plan = join(Values(left), Values(right))
    assert plan.names == (*left.names, "b")
    check_plan(plan, nested_loops(left, right, on, "inner"), size)


def test_join__merges_what_is_sorted_and_indexes_the_smaller_input() -> None:
    few = Values(Frame.of(x=[1], order=("x",)))
    many = Values(Frame.of(x=[1, 2, 3], y=[1, 2, 3]))
    assert join(few, few).kind == "merge join"
    assert join(many, few).right is few  # type: ignore[attr-defined]
    swapped = join(few, many)
    assert swapped.kind == "project"
    assert swapped.children[0].right is few  # type: ignore[attr-defined]
    assert join(few, many, how="left").right is many  # type: ignore[attr-defined]


@pytest.mark.slow_kernels
def test_join__one_key_with_millions_of_pairs_stays_in_blocks() -> None:
    rows = 3000
    side = Values(Frame.of(x=np.zeros(rows, np.uint32), a=np.arange(rows, dtype=np.uint32)))
    other = Values(Frame.of(x=np.zeros(rows, np.uint32), b=np.arange(rows, dtype=np.uint32)))
    context = Context(budget=8_000_000)
    seen = 0
    for block in HashJoin(side, other).stream(context):
        assert len(block) <= context.block_rows
        first = divmod(seen, rows)
        assert (int(block["a"][0]), int(block["b"][0])) == first
        seen += len(block)
    assert seen == rows * rows
    assert context.peak < 5_000_000


def test_join__does_not_read_the_right_input_for_an_empty_left_one() -> None:
    right = Values(Frame.of(x=[1], order=("x",)))
    for made in (HashJoin, MergeJoin):
        plan = made(Values(Frame.of(x=np.empty(0, np.uint32), order=("x",))), right)
        assert plan.run(Context()).rows == 0
    assert right.statistics.calls == 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda one, two: HashJoin(one, two, "z"), "no column z"),
        (lambda one, two: HashJoin(one, two, "x"), "both inputs have"),
        (lambda one, two: HashJoin(one, two, how="outer"), "how is one of"),
        (lambda one, two: HashJoin(one, two, matched="m"), "needs how='left'"),
        (lambda one, two: MergeJoin(one, two), "use a hash join"),
    ],
)
def test_join__refuses_what_cannot_be(wrong: Any, message: str) -> None:
    left, right = Values(Frame.of(x=[1], y=[2])), Values(Frame.of(x=[1], y=[2]))
    with pytest.raises(UsageError, match=message):
        wrong(left, right)


def test_join__refuses_columns_of_different_types() -> None:
    with pytest.raises(UsageError, match="int64 on the right"):
        HashJoin(Values(Frame.of(x=[1])), Values(Frame.of(x=np.array([1], INTEGER))))

"""Operators that look at one block at a time, against list comprehensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.operators.model import block_sizes, check_plan, frames, sorted_frames, types, values
from triplestore.errors import UsageError
from triplestore.operators import (
    ID,
    INTEGER,
    Context,
    Extend,
    FilterRows,
    Frame,
    Limit,
    Project,
    Union,
    Values,
    rename,
)

numbers = st.integers(0, 1000)
two_ids = sorted_frames(("x", "y"), (ID, ID), ("x", "y"))
any_frame = types.flatmap(lambda kind: frames(("x", "y"), (ID, kind)))


@given(two_ids, block_sizes, numbers)
def test_values__are_the_rows_of_the_frame(frame: Frame, size: int, at: int) -> None:
    check_plan(Values(frame), frame.to_rows(), size, at, in_order=True)


def test_values__takes_another_frame_of_the_same_columns() -> None:
    values = Values(Frame.of(x=[1]))
    plan = Project(values, {"y": "x"})
    assert plan.run(Context()).to_rows() == [(1,)]
    values.frame = Frame.of(x=[2, 3])
    assert plan.run(Context()).to_rows() == [(2,), (3,)]
    with pytest.raises(UsageError, match="expected a frame"):
        values.frame = Frame.of(y=[2])


@given(two_ids, st.integers(0, 8), block_sizes, numbers)
def test_filter__keeps_the_rows_of_the_condition(
    frame: Frame, bound: int, size: int, at: int
) -> None:
    plan = FilterRows(Values(frame), lambda block: block["x"] < bound)
    expected = [row for row in frame.to_rows() if row[0] < bound]
    check_plan(plan, expected, size, at, in_order=True)


@given(two_ids, st.permutations(["x", "y"]), st.integers(1, 2), block_sizes, numbers)
def test_project__chooses_and_renames(
    frame: Frame, columns: list[str], many: int, size: int, at: int
) -> None:
    chosen = {f"new_{name}": name for name in columns[:many]}
    expected = [
        tuple(row[frame.names.index(name)] for name in chosen.values()) for row in frame.to_rows()
    ]
    plan = Project(Values(frame), chosen)
    check_plan(plan, expected, size, at, in_order=True)
    if columns[0] == "x":
        assert plan.order == tuple(chosen)
    assert plan.unique == (frame.unique and many == 2)


def test_project__may_double_a_column() -> None:
    plan = Project(Values(Frame.of(x=[1, 2], order=("x",), unique=True)), {"a": "x", "b": "x"})
    check_plan(plan, [(1, 1), (2, 2)], 7)


def test_rename__keeps_the_other_columns() -> None:
    plan = rename(Values(Frame.of(x=[1], y=[2])), {"y": "z"})
    assert (plan.names, plan.run(Context()).to_rows()) == (("x", "z"), [(1, 2)])
    with pytest.raises(UsageError, match="no column q; the input has x, z"):
        rename(plan, {"q": "r"})


@given(two_ids, block_sizes, numbers)
def test_extend__computes_a_column(frame: Frame, size: int, at: int) -> None:
    plan = Extend(Values(frame), "z", lambda b: b["x"].astype(INTEGER) + b["y"], INTEGER)
    check_plan(plan, [(x, y, x + y) for x, y in frame.to_rows()], size, at, in_order=True)


@given(types.flatmap(lambda kind: st.tuples(st.just(kind), values[kind])), two_ids, block_sizes)
def test_extend__adds_a_constant(typed: Any, frame: Frame, size: int) -> None:
    kind, value = typed
    plan = Extend(Values(frame), "z", value, kind)
    check_plan(plan, [(*row, value) for row in frame.to_rows()], size, in_order=True)
    assert plan.order == ("z", "x", "y")


def test_extend__refuses_a_name_that_is_taken() -> None:
    with pytest.raises(UsageError, match="has a column x already"):
        Extend(Values(Frame.of(x=[1])), "x", 1, ID)


@given(two_ids, st.none() | st.integers(0, 14), st.integers(0, 14), block_sizes, numbers)
def test_limit__is_a_slice(
    frame: Frame, limit: int | None, offset: int, size: int, at: int
) -> None:
    plan = Limit(Values(frame), limit, offset=offset)
    stop = None if limit is None else offset + limit
    check_plan_or_nothing(plan, frame.to_rows()[offset:stop], size, at)


def check_plan_or_nothing(plan: Limit, expected: list[Any], size: int, at: int) -> None:
    if plan.limit == 0:
        assert plan.run(Context()).rows == 0
        assert plan.child.statistics.calls == 0
    else:
        check_plan(plan, expected, size, at, in_order=True)


def test_limit__reads_no_more_blocks_than_it_needs() -> None:
    rows = Values(Frame.of(x=range_of(100)))
    assert len(Limit(rows, 5, offset=2).run(Context(block_rows=4))) == 5
    assert rows.statistics.blocks == 2


def range_of(size: int) -> Any:
    return np.arange(size, dtype=np.uint32)


@given(st.lists(any_frame, min_size=1, max_size=4), block_sizes, numbers)
def test_union__is_concatenation(parts: list[Frame], size: int, at: int) -> None:
    parts = [part for part in parts if part.types == parts[0].types]
    turned = [Project(Values(part), ("y", "x")[:: 1 if i else -1]) for i, part in enumerate(parts)]
    expected = [row for part in parts for row in part.to_rows()]
    plan = Union(turned)
    assert plan.names == ("x", "y")
    check_plan(plan, expected, size, at, in_order=True)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Union(()), "at least one"),
        (lambda: Union([Values(Frame.of(x=[1])), Values(Frame.of(y=[1]))]), "different columns"),
        (lambda: Union([Values(Frame.of(x=[1])), Values(Frame.of(x=[1.0]))]), "different types"),
        (lambda: Limit(Values(Frame.of(x=[1])), -1), "must not be negative"),
    ],
)
def test_rows__refuse_what_cannot_be(make: Callable[[], object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()

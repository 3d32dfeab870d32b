"""Distinct, group and order against dicts and `sorted`."""

from __future__ import annotations

import math
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
    plain,
    plain_value,
    rank,
    sorted_frames,
    types,
)
from triplestore.errors import UsageError
from triplestore.operators import (
    BOOLEAN,
    ID,
    INTEGER,
    OBJECT,
    REAL,
    ColumnAggregate,
    Context,
    Distinct,
    Frame,
    Group,
    Order,
    Values,
)
from triplestore.operators.frame import null_of

numbers = st.integers(0, 1000)
wide = st.lists(types, min_size=1, max_size=4).flatmap(
    lambda kinds: frames("xyzw"[: len(kinds)], kinds)
)


@st.composite
def maybe_sorted(draw: st.DrawFn) -> Frame:
    """A frame of up to four columns of any types; sorted by all, by some, or not at all."""
    kinds = draw(st.lists(types, min_size=1, max_size=4))
    names = "xyzw"[: len(kinds)]
    order = draw(st.permutations(names))[: draw(st.integers(0, len(names)))]
    return draw(sorted_frames(names, kinds, order))


@given(maybe_sorted(), block_sizes, numbers, st.booleans())
def test_distinct__keeps_first_appearances(frame: Frame, size: int, at: int, used: bool) -> None:
    expected = {plain(row): row for row in reversed(frame.to_rows())}
    in_order = sorted(expected.values(), key=lambda row: first_place(frame, row))
    with kernels(used):
        check_plan(Distinct(Values(frame)), in_order, size, at, in_order=True)


def first_place(frame: Frame, row: Row) -> int:
    return [plain(other) for other in frame.to_rows()].index(plain(row))


def test_distinct__of_no_columns_is_one_row() -> None:
    plan = Distinct(Values(Frame((), (), 5)))
    check_plan(plan, [()], 2)


@given(wide, st.data(), block_sizes, numbers, st.booleans())
def test_order__is_sorted_and_stable(
    frame: Frame, data: Any, size: int, at: int, used: bool
) -> None:
    names = data.draw(st.permutations(frame.names))[: data.draw(st.integers(0, len(frame.names)))]
    keys = [(name, data.draw(st.booleans())) for name in names]
    limit = data.draw(st.none() | st.integers(1, 14))
    expected = frame.to_rows()
    for name, down in reversed(keys):
        place = frame.names.index(name)
        expected.sort(key=lambda row, place=place: rank(row[place]), reverse=down)
    with kernels(used):
        plan = Order(Values(frame), keys, limit=limit)
        check_plan(plan, expected[:limit], size, at, in_order=True)


@given(maybe_sorted(), st.none() | st.integers(1, 14), block_sizes)
def test_order__uses_the_order_that_is_known(frame: Frame, limit: int | None, size: int) -> None:
    plan = Order(Values(frame), frame.order, limit=limit)
    assert "(known)" in plan.detail()
    check_plan(plan, frame.to_rows()[:limit], size, in_order=True)
    assert plan.statistics.bytes == 0


@pytest.mark.slow_kernels
def test_order__of_a_large_input_by_columns_of_every_type() -> None:
    rng = np.random.default_rng(3)
    rows = 400_000
    frame = Frame.of(
        a=rng.integers(0, 50, rows, dtype=np.uint32),
        b=rng.choice([math.nan, -0.0, 0.0, 1.5, -math.inf], rows),
        c=rng.integers(-5, 5, rows) * (1 << 40),
    )
    result = Order(Values(frame), [("b", True), "a", ("c", True)]).run(Context())
    listed = np.lexsort((-frame["c"], frame["a"], -np.nan_to_num(frame["b"], nan=9, neginf=-9)))
    for name in frame.names:
        assert np.array_equal(result[name], frame[name][listed], equal_nan=name == "b")


def test_top_k__holds_a_small_buffer() -> None:
    rows = 1_000_000
    frame = Frame.of(x=np.arange(rows, dtype=np.uint32)[::-1].copy())
    context = Context()
    result = Order(Values(frame), "x", limit=10).run(context)
    assert result["x"].tolist() == list(range(10))
    assert context.peak < 3_000_000


def test_order__sorts_missing_objects_first() -> None:
    column = np.array(["b", None, "a"], object)
    assert Order(Values(Frame.of(x=column)), "x").run(Context())["x"].tolist() == [None, "a", "b"]


functions = {
    ID: ["count", "min", "max", "sample"],
    INTEGER: ["count", "sum", "min", "max", "avg", "sample"],
    REAL: ["count", "sum", "min", "max", "avg", "sample"],
    BOOLEAN: ["count", "sum", "min", "max", "avg", "sample"],
    OBJECT: ["count", "min", "max", "sample"],
}


@st.composite
def groupings(draw: st.DrawFn) -> tuple[Frame, tuple[str, ...], dict[str, ColumnAggregate]]:
    keys = [draw(types) for _ in range(draw(st.integers(0, 3)))]
    kinds = [*keys, draw(types), BOOLEAN]
    names = [*"xyz"[: len(keys)], "v", "ok"]
    by = tuple(draw(st.permutations(names[: len(keys)])))
    order = draw(st.sampled_from([(), by, (*by, "v")]))
    frame = draw(sorted_frames(names, kinds, order))
    aggregates = {"n": ColumnAggregate("count")}
    for name in draw(st.lists(st.sampled_from("abc"), unique=True)):
        aggregates[name] = ColumnAggregate(
            draw(st.sampled_from(functions[kinds[-2]])),
            "v",
            distinct=draw(st.booleans()),
            where=draw(st.sampled_from([None, "ok"])),
        )
    return frame, by, aggregates


@given(groupings(), block_sizes, numbers, st.booleans())
def test_group__is_a_dict_of_lists(grouping: Any, size: int, at: int, used: bool) -> None:
    frame, by, aggregates = grouping
    groups: dict[Row, list[Row]] = {} if by else {(): []}
    keys: dict[Row, Row] = {}
    for row in frame.to_rows():
        key = tuple(row[frame.names.index(name)] for name in by)
        groups.setdefault(plain(key), []).append(row)
        keys.setdefault(plain(key), key)
    kind = frame.types[-2]
    try:
        expected = [
            (*keys.get(key, ()), *(result(it, rows, kind) for it in aggregates.values()))
            for key, rows in groups.items()
        ]
    except OverflowError:
        with pytest.raises(UsageError, match="does not fit in 64 bits"):
            Group(Values(frame), by, aggregates).run(Context(block_rows=size))
        return
    with kernels(used):
        plan = Group(Values(frame), by, aggregates)
        check_plan(plan, expected, size, at, in_order=True)


def result(aggregate: ColumnAggregate, rows: list[Row], kind: Any) -> Any:
    """An aggregate of the rows of one group, by definition."""
    if aggregate.column is None:
        return len(rows)
    found = [row[-2] for row in rows if row[-1] or not aggregate.where]
    if aggregate.distinct:
        different: dict[Any, Any] = {}
        for value in found:
            different.setdefault(plain_value(value), value)
        found = list(different.values())
    if aggregate.function == "count":
        return len(found)
    if aggregate.function == "sum":
        total = sum(found)
        if kind == INTEGER and not -(1 << 63) <= total < 1 << 63:
            raise OverflowError
        return total
    if not found:
        null = math.nan if aggregate.function == "avg" else null_of(kind)
        return null.item() if isinstance(null, np.generic) else null
    if aggregate.function == "avg":
        return sum(found) / len(found)
    if aggregate.function == "sample":
        return found[0]
    return (min if aggregate.function == "min" else max)(found, key=rank)


def test_group__of_objects_folds_python_numbers() -> None:
    frame = Frame.of(x=[1, 1, 2], v=np.array([10**30, 1, 5], object))
    aggregates = {"s": ColumnAggregate("sum", "v"), "a": ColumnAggregate("avg", "v")}
    check_plan(Group(Values(frame), "x", aggregates), [(1, 10**30 + 1, 5e29), (2, 5, 5.0)], 7)


def test_group__many_groups_in_many_blocks() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.integers(0, 1000, (2, 300_000), dtype=np.uint32)
    v = rng.integers(-(1 << 40), 1 << 40, 300_000)
    plan = Group(Values(Frame.of(x=x, y=y, v=v)), ("x", "y"), {"s": ColumnAggregate("sum", "v")})
    got = plan.run(Context())
    codes, inverse = np.unique(x.astype(np.int64) * 1000 + y, return_inverse=True)
    sums = np.zeros(len(codes), np.int64)
    np.add.at(sums, inverse, v)
    order = np.lexsort((got["y"], got["x"]))
    assert np.array_equal(got["s"][order], sums)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda rows: ColumnAggregate("median", "x"), "unknown aggregate 'median'"),
        (lambda rows: ColumnAggregate("sum"), "needs a column"),
        (lambda rows: Group(rows, "q", {}), "no column q"),
        (lambda rows: Group(rows, "x", {"n": ColumnAggregate("sum", "x")}), "ids have no sum"),
        (
            lambda rows: Group(rows, "x", {"n": ColumnAggregate("count", "x", where="x")}),
            "truth values",
        ),
        (lambda rows: Group(rows, "x", {"x": ColumnAggregate("count")}), "different names"),
        (lambda rows: Order(rows, "x", limit=-1), "must not be negative"),
        (lambda rows: Order(rows, "q"), "no column q"),
    ],
)
def test_groups_and_orders__refuse_what_cannot_be(make: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make(Values(Frame.of(x=[1])))

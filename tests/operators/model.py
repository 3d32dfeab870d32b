"""The plain-Python side of the tests of operators: relations as sets, frames as lists, and the
checks that every plan must pass whatever it computes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from triplestore.errors import BudgetError, CancelledError
from triplestore.operators import (
    BOOLEAN,
    ID,
    INTEGER,
    OBJECT,
    REAL,
    Context,
    Frame,
    Operator,
    group_table,
)
from triplestore.operators.frame import Type, objects
from triplestore.operators.thresholds import OPERATORS
from triplestore.relations.status import EXPLICIT, HOLDS, INFERRED

Row = tuple[Any, ...]

ids = st.one_of(*[st.integers(0, 4)] * 4, st.sampled_from([7, 2**31, 2**32 - 1]))
values: dict[Type, st.SearchStrategy[Any]] = {
    ID: ids,
    INTEGER: st.integers(-2, 2) | st.sampled_from([2**63 - 1, -(2**63), 2**32]),
    REAL: st.sampled_from([0.0, -0.0, 1.5, -1.5, math.inf, -math.inf, math.nan]),
    BOOLEAN: st.booleans(),
    OBJECT: st.sampled_from(["", "a", "b", "é"]),
}
types = st.sampled_from([ID, ID, ID, INTEGER, REAL, BOOLEAN, OBJECT])
block_sizes = st.sampled_from([1, 2, 3, 7, 65536])


@st.composite
def frames(draw: st.DrawFn, names: Sequence[str], kinds: Sequence[Type], most: int = 12) -> Frame:
    """A frame of random rows; often with duplicates, sometimes with all rows alike."""
    row = st.tuples(*(values[kind] for kind in kinds))
    if draw(st.integers(0, 9)) == 0:
        rows = [draw(row)] * draw(st.integers(0, most))
    else:
        rows = draw(st.lists(row, max_size=most))
    return frame_of(names, kinds, rows)


@st.composite
def sorted_frames(
    draw: st.DrawFn, names: Sequence[str], kinds: Sequence[Type], order: Sequence[str]
) -> Frame:
    """A frame that is sorted by `order`, and says so; sometimes unique."""
    frame = draw(frames(names, kinds))
    rows = frame.to_rows()
    unique = draw(st.booleans())
    if unique:
        rows = [row for i, row in enumerate(rows) if plain(row) not in map(plain, rows[:i])]
    rows.sort(key=lambda row: [rank(row[frame.names.index(name)]) for name in order])
    made = frame_of(names, kinds, rows)
    return Frame(made.names, made.columns, made.rows, tuple(order), unique)


def frame_of(names: Sequence[str], kinds: Sequence[Type], rows: Sequence[Row]) -> Frame:
    columns = [
        objects(column) if kind == OBJECT else np.array(column, kind)
        for kind, column in zip(
            kinds, zip(*rows, strict=True) if rows else [[]] * len(kinds), strict=True
        )
    ]
    return Frame(tuple(names), columns, len(rows))


def plain(row: Row) -> Row:
    """A row whose values are equal exactly if operators take them to be the same."""
    return tuple(plain_value(value) for value in row)


def plain_value(value: Any) -> Any:
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    return value


def rank(value: Any) -> Any:
    """What values are sorted by: None first, NaN last."""
    if value is None:
        return (0, 0)
    if isinstance(value, float):
        return (2, 0) if math.isnan(value) else (1, value + 0.0)
    return (1, value)


def bag(rows: Sequence[Row]) -> Counter[Row]:
    return Counter(plain(row) for row in rows)


class MemoryRelation:
    """The protocol of relations over a dict of rows and statuses, in plain Python."""

    def __init__(self, arity: int, rows: dict[Row, int]) -> None:
        self.arity = arity
        self.rows = rows

    def held(self, where: int) -> list[Row]:
        return sorted(row for row, status in self.rows.items() if status & where)

    def __len__(self) -> int:
        return len(self.rows)

    def count(self, where: int = HOLDS) -> int:
        return len(self.held(where))

    def scan(
        self, where: int = HOLDS, *, order: int = 0, first: int | None = None, block_rows: int = 9
    ) -> Iterator[tuple[Any, ...]]:
        rows = [row for row in self.held(where) if first is None or row[order] == first]
        rows.sort(key=lambda row: (row[order], row))
        # "about" block_rows: sometimes one more, which operators have to cut
        return (columns(self.arity, rows[i : i + block_rows + 1]) for i in cuts(rows, block_rows))

    def probe_blocks(
        self,
        places: Sequence[int],
        wanted: Sequence[Any],
        where: int = HOLDS,
        block_rows: int = 9,
    ) -> Iterator[tuple[Any, tuple[Any, ...]]]:
        free = [place for place in range(self.arity) if place not in places]
        found = [
            (i, tuple(row[place] for place in free))
            for i, value in enumerate(zip(*(column.tolist() for column in wanted), strict=True))
            for row in self.held(where)
            if tuple(row[place] for place in places) == value
        ]
        for i in cuts(found, block_rows):
            part = found[i : i + block_rows + 1]
            yield (
                np.array([number for number, _ in part], np.int64),
                columns(len(free), [row for _, row in part]),
            )

    def probe(
        self, places: Sequence[int], wanted: Sequence[Any], where: int = HOLDS
    ) -> tuple[Any, tuple[Any, ...]]:
        return next(
            self.probe_blocks(places, wanted, where, 1 << 30),
            (np.empty(0, np.int64), columns(self.arity - len(places), [])),
        )

    def fanout(self, places: Sequence[int], wanted: Sequence[Any]) -> Any:
        return np.bincount(self.probe(places, wanted)[0], minlength=len(wanted[0]))

    def contains(self, rows: tuple[Any, ...], where: int = HOLDS) -> Any:
        return (self.status_of(rows) & np.uint8(where)) != 0

    def status_of(self, rows: tuple[Any, ...]) -> Any:
        listed = zip(*(column.tolist() for column in rows), strict=True)
        return np.array([self.rows.get(row, 0) for row in listed], np.uint8)

    def semijoin(self, column: int, wanted: Any, where: int = HOLDS) -> Any:
        held = {row[column] for row in self.held(where)}
        return np.array([value in held for value in wanted.tolist()], np.bool_)

    def distinct(self, column: int, where: int = HOLDS) -> Any:
        return np.array(sorted({row[column] for row in self.held(where)}), np.uint32)

    def estimate(self, bound: Sequence[int] = ()) -> float:
        return len(self.rows) / (1 + len(bound))


def cuts(rows: Sequence[Any], block_rows: int) -> range:
    return range(0, len(rows), block_rows + 1)


def columns(arity: int, rows: Sequence[Row]) -> tuple[Any, ...]:
    return tuple(np.array([row[i] for row in rows], np.uint32) for i in range(arity))


def relations(arity: int) -> st.SearchStrategy[MemoryRelation]:
    row = st.tuples(*[st.integers(0, 3)] * arity)
    statuses = st.sampled_from([EXPLICIT, INFERRED])
    return st.dictionaries(row, statuses, max_size=14).map(lambda rows: MemoryRelation(arity, rows))


@contextmanager
def kernels(used: bool) -> Iterator[None]:
    """Run with kernels for everything, and limits so low that every path is taken; or with none."""
    low = {
        "piece_rows": 3,
        "sorted_at_once": 4,
        "lexsort_rows": 2,
    }
    changed = OPERATORS.changed(**low if used else {"rows_without_kernels": 1 << 60})
    with pytest.MonkeyPatch.context() as patch, changed:
        patch.setattr(group_table, "_loaded", used)
        yield


class CancelAt:
    """A cancel flag that is set when it is asked for the n-th time."""

    def __init__(self, asked: int) -> None:
        self.left = asked

    def is_set(self) -> bool:
        self.left -= 1
        return self.left < 0


def check_plan(
    plan: Operator,
    expected: Sequence[Row] | None,
    block_rows: int,
    at: int = 0,
    *,
    in_order: bool = False,
) -> list[Row]:
    """Run a plan in every way, and hold it to all that operators promise; return its rows.

    expected  the rows, as a bag or `in_order`; None if the caller looks at them
    at        a number that picks where the plan is cancelled and closed
    """
    context = Context(block_rows=block_rows)
    plan.clear_statistics()
    frame = plan.run(context)
    rows = frame.to_rows()
    if expected is not None:
        assert bag(rows) == bag(expected)
        if in_order:
            assert [plain(row) for row in rows] == [plain(row) for row in expected]
    assert frame.names == plan.names
    assert frame.types == plan.types
    assert frame.order[: len(plan.order)] == plan.order
    assert frame.unique >= plan.unique
    check_promises(frame)
    assert context.used == 0
    assert plan.statistics.rows == len(rows)
    assert plan.statistics.calls == 1
    assert max(node.statistics.bytes for node in plan.nodes()) <= context.peak
    _check_stream(plan, rows, block_rows, at)
    _check_budget(plan, context.peak, rows, block_rows)
    _check_cancelling(plan, block_rows, at)
    return rows


def check_promises(frame: Frame) -> None:
    rows = frame.to_rows()
    keys = [[rank(row[frame.names.index(name)]) for name in frame.order] for row in rows]
    assert keys == sorted(keys), f"not in the order {frame.order}: {rows}"
    if frame.unique:
        assert max(bag(rows).values(), default=1) == 1, f"not unique: {rows}"


def _check_stream(plan: Operator, rows: list[Row], block_rows: int, at: int) -> None:
    context = Context(block_rows=block_rows)
    blocks = list(plan.stream(context))
    assert all(0 < len(block) <= block_rows for block in blocks)
    assert all(block.types == plan.types for block in blocks)
    assert [plain(row) for block in blocks for row in block.to_rows()] == list(map(plain, rows))
    assert context.used == 0
    if blocks:
        stream = plan.stream(context)
        list(islice(stream, 1 + at % len(blocks)))
        stream.close()
        assert context.used == 0


def _check_budget(plan: Operator, peak: int, rows: list[Row], block_rows: int) -> None:
    exact = Context(budget=peak, block_rows=block_rows)
    assert list(map(plain, plan.run(exact).to_rows())) == list(map(plain, rows))
    assert exact.used == 0
    for budget in {peak - 1, peak // 2, 0}:
        if 0 <= budget < peak:
            less = Context(budget=budget, block_rows=block_rows)
            with pytest.raises(BudgetError):
                plan.run(less)
            assert less.used == 0
            assert less.peak <= budget


def _check_cancelling(plan: Operator, block_rows: int, at: int) -> None:
    patient = CancelAt(1 << 60)
    plan.run(Context(cancel=patient, block_rows=block_rows))
    asked = (1 << 60) - patient.left
    assert asked > 0
    context = Context(cancel=CancelAt(at % asked), block_rows=block_rows)
    with pytest.raises(CancelledError):
        plan.run(context)
    assert context.used == 0


def rows_of(make: Callable[[], Operator], block_rows: int = 65536) -> list[Row]:
    return make().run(Context(block_rows=block_rows)).to_rows()

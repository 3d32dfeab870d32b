"""How plans run: budgets, deadlines, cancelling from another thread, statistics, explanations."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.operators.model import bag, block_sizes, check_plan, frames, kernels
from triplestore.errors import BudgetError, CancelledError, TimeLimitError
from triplestore.operators import (
    ID,
    ColumnAggregate,
    Context,
    Distinct,
    Extend,
    FilterRows,
    Frame,
    Group,
    HashJoin,
    Limit,
    MergeJoin,
    Operator,
    Order,
    Project,
    Union,
    Values,
    explain,
    to_json,
)
from triplestore.operators.joins.merge_join import join

three_ids = frames(("x", "y", "z"), (ID, ID, ID), most=8)
steps = st.lists(
    st.tuples(st.sampled_from("fdouljgse"), st.integers(0, 8), st.integers(0, 8)), max_size=5
)


def wide(rows: int, span: int) -> Frame:
    rng = np.random.default_rng(rows)
    return Frame.of(
        x=rng.integers(0, span, rows, dtype=np.uint32),
        y=rng.integers(0, span, rows, dtype=np.uint32),
    )


@given(three_ids, three_ids, steps, block_sizes, st.integers(0, 1000), st.booleans())
def test_plans__of_many_operators_are_what_the_steps_mean(
    one: Frame, two: Frame, steps: Any, size: int, at: int, used: bool
) -> None:
    plan: Operator = Values(one)
    rows = one.to_rows()
    names = ("x", "y", "z")
    for step, a, b in steps:
        name = names[a % 3]
        place = a % 3
        if step == "f":
            plan = FilterRows(plan, lambda block, name=name, b=b: block[name] != b)
            rows = [row for row in rows if row[place] != b]
        elif step == "d":
            plan = Distinct(plan)
            rows = list(dict.fromkeys(rows))
        elif step == "o":
            plan = Order(plan, [(name, b % 2 == 1)])
            rows = sorted(rows, key=lambda row, place=place: row[place], reverse=b % 2 == 1)
        elif step == "u":
            plan = Union((plan, Values(two)))
            rows = rows + two.to_rows()
        elif step == "l":
            plan = Limit(plan, 1 + b, offset=a % 2)
            rows = rows[a % 2 : a % 2 + 1 + b]
        elif step == "j":
            other = Project(Values(two), {name: name, "new": names[b % 3]})
            plan = Project(
                HashJoin(plan, other),
                {it: "new" if it == names[(place + 1) % 3] else it for it in names},
            )
            rows = [
                tuple(other[b % 3] if i == (place + 1) % 3 else row[i] for i in range(3))
                for row in rows
                for other in two.to_rows()
                if row[place] == other[place]
            ][:60]
            plan = Limit(plan, 60)
        elif step == "s":
            plan = join(plan, Values(two), name, how="semi" if b % 2 else "anti")
            known = {other[place] for other in two.to_rows()}
            rows = [row for row in rows if (row[place] in known) == (b % 2 == 1)]
        elif step == "g":
            group = Group(plan, ("x", "y"), {"m": ColumnAggregate("max", "z")})
            plan = Project(group, {"x": "x", "y": "y", "z": "m"})
            best: dict[Any, int] = {}
            for x, y, z in rows:
                best[x, y] = max(best.get((x, y), 0), z)
            rows = [(x, y, z) for (x, y), z in best.items()]
        elif step == "e":
            plan = Project(Extend(plan, "c", b, ID), {**{it: it for it in names}, name: "c"})
            rows = [tuple(b if i == place else v for i, v in enumerate(row)) for row in rows]
    with kernels(used):
        check_plan(plan, rows, size, at, in_order=True)
    for node in plan.nodes():
        assert node._held == 0
        assert node._reading == []


def test_run__a_deadline_is_kept_within_a_block() -> None:
    frame = wide(20_000, 4)
    plan = HashJoin(Values(frame), Values(Frame.of(x=frame["x"], z=frame["y"])), "x")
    context = Context(seconds=0.05)
    began = time.monotonic()
    with pytest.raises(TimeLimitError):
        for _ in plan.stream(context):
            pass
    assert context.used == 0
    assert time.monotonic() - began < 10  # it would take longer without a deadline; no measurement


def test_run__is_cancelled_from_another_thread() -> None:
    frame = wide(20_000, 2)
    plan = HashJoin(Values(frame), Values(Frame.of(x=frame["x"], z=frame["y"])), "x")
    stop = threading.Event()
    context = Context(cancel=stop)
    timer = threading.Timer(0.05, stop.set)
    timer.start()
    with pytest.raises(CancelledError):
        for _ in plan.stream(context):
            pass
    timer.join()
    assert context.used == 0


def test_run__a_plan_that_failed_runs_again() -> None:
    plan = Order(join(Values(wide(1000, 50)), Values(wide(900, 50))), "x")
    context = Context()
    expected = plan.run(context).to_rows()
    for budget in (0, context.peak // 9, context.peak // 2, context.peak - 1):
        with pytest.raises(BudgetError):
            plan.run(Context(budget=budget))
        assert plan.run(Context()).to_rows() == expected


def test_run__an_error_in_a_condition_leaves_nothing_charged() -> None:
    def fail(block: Frame) -> Any:
        if block["x"][0] > 50:
            raise ZeroDivisionError
        return np.ones(len(block), bool)

    frame = Frame.of(x=np.arange(100, dtype=np.uint32))
    plan = Distinct(HashJoin(FilterRows(Values(frame), fail), Values(frame)))
    context = Context(block_rows=7)
    with pytest.raises(ZeroDivisionError):
        plan.run(context)
    assert context.used == 0


def test_stream__two_plans_may_interleave_in_one_context() -> None:
    context = Context(block_rows=10)
    plans = [Distinct(Values(wide(100, 1000))) for _ in range(2)]
    one, other = (plan.stream(context) for plan in plans)
    first, second = list(zip(one, other, strict=True)), context.used
    assert [bag(block.to_rows()) for block, _ in first] == [bag(b.to_rows()) for _, b in first]
    assert second == 0


def test_memory__of_a_streaming_plan_does_not_grow_with_its_input() -> None:
    peaks = []
    for rows in (300_000, 1_200_000):
        column = np.arange(rows, dtype=np.uint32)
        few = Values(Frame.of(x=np.arange(1000, dtype=np.uint32) * 100, z=column[:1000]))
        rows_ = Values(Frame.of(x=column, y=column, order=("x",)))
        plan = FilterRows(HashJoin(rows_, few), lambda block: block["y"] % 2 == 0)
        context = Context()
        for _ in plan.stream(context):
            pass
        peaks.append(context.peak)
    assert peaks[0] == peaks[1]


@pytest.mark.slow_kernels
def test_memory__of_a_merge_of_two_streams_does_not_grow_with_them() -> None:
    class Streamed(Values):
        def whole(self, context: Context) -> None:  # type: ignore[override]
            return None

    peaks = []
    for rows in (300_000, 1_200_000):
        column = np.arange(rows, dtype=np.uint32)
        one = Streamed(Frame.of(x=column // 3, y=column, order=("x",)))
        other = Streamed(Frame.of(x=column // 2, z=column, order=("x",)))
        context = Context()
        assert sum(map(len, MergeJoin(one, other).stream(context))) > rows
        peaks.append(context.peak)
    assert peaks[1] < 1.1 * peaks[0]


def test_memory__of_an_input_that_is_not_needed_is_released_at_once() -> None:
    frame = wide(50_000, 50_000)
    indexed = HashJoin(Values(frame), Values(Frame.of(x=frame["x"], z=frame["y"])), "x")
    nothing = Project(HashJoin(indexed, Values(Frame.of(x=np.empty(0, np.uint32)))), ("x", "y"))
    context = Context(block_rows=1000)
    stream = Union((nothing, Values(frame))).stream(context)
    assert len(next(stream)) == 1000
    assert indexed.statistics.bytes > 100_000
    assert context.used < 10_000
    stream.close()


def test_statistics__are_exact_and_add_up_until_cleared() -> None:
    scan = Values(Frame.of(x=np.arange(100, dtype=np.uint32)))
    even = FilterRows(scan, lambda block: block["x"] % 2 == 0, text="even")
    plan = Limit(even, 20)
    plan.run(Context(block_rows=10))
    figures = [(n.statistics.calls, n.statistics.rows, n.statistics.blocks) for n in plan.nodes()]
    assert figures == [(1, 20, 4), (1, 20, 4), (1, 40, 4)]
    assert plan.statistics.seconds >= even.statistics.seconds >= scan.statistics.seconds > 0
    assert even.statistics.bytes == 10 * (4 + 1)
    plan.run(Context(block_rows=10))
    assert plan.statistics.rows == 40
    plan.clear_statistics()
    assert [node.statistics.calls for node in plan.nodes()] == [0, 0, 0]


def test_explain__draws_the_tree() -> None:
    one = Values(wide(100, 10), estimate=5)
    plan = Order(Union((join(one, Values(wide(90, 10))), one)), [("x", True)], limit=3)
    plan.run(Context())
    lines = explain(plan).splitlines()
    labels = [line.split("  est")[0].rstrip() for line in lines]
    assert labels == [
        "order desc(?x) first 3",
        "└─ union",
        "   ├─ project ?x ?y",
        "   │  └─ hash join ?x ?y",
        "   │     ├─ values ?x ?y",
        "   │     └─ values ?x ?y",
        "   └─ values ?x ?y",
    ]
    assert "est 3" in lines[0]
    assert "rows 3 " in lines[0]
    assert "est 5 " in lines[-1]
    assert lines[-1].endswith("calls 2")


def test_to_json__has_all_figures_of_all_operators() -> None:
    plan = FilterRows(Values(Frame.of(x=[1, 2], order=("x",))), lambda b: b["x"] > 1, text="?x > 1")
    plan.run(Context())
    tree = json.loads(json.dumps(to_json(plan)))
    assert 0 <= tree.pop("self_seconds") <= tree.pop("seconds")
    (child,) = tree.pop("children")
    assert tree == {
        "operator": "filter",
        "detail": "?x > 1",
        "columns": ["x"],
        "order": ["x"],
        "estimate": 1.0,
        "rows": 1,
        "blocks": 1,
        "calls": 1,
        "bytes": 10,
    }
    assert (child["operator"], child["rows"], child["children"]) == ("values", 2, [])


def test_small_plans__do_not_load_numba() -> None:
    script = """
import sys
from triplestore.operators import *
rows = Values(Frame.of(x=[1, 2, 2], y=[3, 4, 4]))
plan = Order(Distinct(join(rows, Project(rows, {"y": "y", "z": "x"}))), "z")
counted = Group(rows, "x", {"n": ColumnAggregate("count")})
print(plan.run(Context()).to_rows(), counted.run(Context()))
assert "numba" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)

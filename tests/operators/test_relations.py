"""Scans and probes of relations against comprehensions over sets; on a relation in plain Python,
and on stored tables of several layers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.operators.model import (
    MemoryRelation,
    Row,
    block_sizes,
    check_plan,
    frames,
    kernels,
    relations,
    sorted_frames,
)
from triplestore.errors import UsageError
from triplestore.operators import ID, INTEGER, Context, Frame, Probe, Scan, Values
from triplestore.relations import ChangedRows, Changes, Layer, Tables, bulk_layer
from triplestore.relations.status import EXPLICIT, HOLDS, INFERRED

numbers = st.integers(0, 1000)
wheres = st.sampled_from([HOLDS, EXPLICIT, INFERRED])
hows = st.sampled_from(["inner", "left", "semi", "anti"])
arities = st.sampled_from([1, 2, 2, 2, 3, 4])


def bindings(pattern: Row, row: Row) -> dict[str, int] | None:
    """What the names of a pattern must be for it to match a row."""
    bound: dict[str, int] = {}
    for entry, value in zip(pattern, row, strict=True):
        if isinstance(entry, int) and entry != value:
            return None
        if isinstance(entry, str) and bound.setdefault(entry, value) != value:
            return None
    return bound


@st.composite
def scans(draw: st.DrawFn) -> tuple[MemoryRelation, Row, int | None]:
    arity = draw(arities)
    entry = st.sampled_from(["x", "y", "z", "w", None, 0, 1, 9])
    pattern = draw(st.tuples(*[entry] * arity))
    return draw(relations(arity)), pattern, draw(st.none() | st.integers(0, arity - 1))


@given(scans(), wheres, block_sizes, numbers)
def test_scan__is_a_comprehension(scan: Any, where: int, size: int, at: int) -> None:
    relation, pattern, order = scan
    plan = Scan(relation, pattern, where=where, order=order)
    found = [bindings(pattern, row) for row in relation.held(where)]
    expected = [tuple(match[name] for name in plan.names) for match in found if match is not None]
    check_plan(plan, expected, size, at)
    if plan.names and None not in pattern:
        assert set(plan.order) == set(plan.names)


@st.composite
def probes(draw: st.DrawFn) -> tuple[Frame, MemoryRelation, Row]:
    arity = draw(arities)
    entry = st.sampled_from(["x", "y", "u", "v", None, 0, 1, 9])
    pattern = list(draw(st.tuples(*[entry] * arity)))
    if not {"x", "y"} & set(pattern):
        pattern[draw(st.integers(0, arity - 1))] = "x"
    order = draw(st.sampled_from([(), ("y",), ("x", "a")]))
    child = draw(sorted_frames(("x", "a", "y"), (ID, INTEGER, ID), order))
    return child, draw(relations(arity)), tuple(pattern)


@given(probes(), hows, wheres, block_sizes, numbers)
def test_probe__is_nested_loops(probe: Any, how: Any, where: int, size: int, at: int) -> None:
    child, relation, pattern = probe
    plan = Probe(Values(child), relation, pattern, how=how, where=where)
    new = [name for name in dict.fromkeys(pattern) if name in ("u", "v")]
    expected: list[Row] = []
    for row in child.to_rows():
        known = dict(zip(child.names, row, strict=True))
        matches = []
        for other in relation.held(where):
            match = bindings(tuple(known.get(entry, entry) for entry in pattern), other)
            if match is not None:
                matches.append((*row, *(match[name] for name in new)))
        if how == "semi":
            expected += [row] if matches else []
        elif how == "anti":
            expected += [] if matches else [row]
        else:
            expected += matches
            if how == "left" and not matches:
                expected.append((*row, *[0] * len(new)))
    check_plan(plan, expected, size, at, in_order=True)


@given(frames(("x",), (ID,)), relations(2), block_sizes)
def test_probe__says_which_rows_matched(child: Frame, relation: Any, size: int) -> None:
    plan = Probe(Values(child), relation, ("x", "y"), how="left", matched="m")
    rows = check_plan(plan, None, size)
    known = {row[0] for row in relation.held(HOLDS)}
    assert all(row[2] == (row[0] in known) for row in rows)
    full = Probe(Values(child), relation, ("x", "x"), how="left", matched="m")
    assert [row[1] for row in check_plan(full, None, size)] == [
        (x, x) in relation.rows for (x,) in child.to_rows()
    ]


def test_scan_and_probe__of_stored_layers() -> None:
    rng = np.random.default_rng(5)
    s, o = rng.integers(1, 40, (2, 400), dtype=np.uint32)
    tables = Tables([bulk_layer(np.full(400, 9, np.uint32), s, o)])
    removed = {(int(a), int(b)) for a, b in zip(s[:50], o[:50], strict=True)}
    x, y = np.array(sorted(removed), np.uint32).T
    gone = ChangedRows.of((np.full(len(x), 9), x, y), 0, EXPLICIT)
    tables = tables.push(Layer.build(Changes(facts=gone)))
    rows = {(int(a), int(b)) for a, b in zip(s, o, strict=True)} - removed
    relation = tables.relation(9)
    for used in (False, True):
        with kernels(used):
            for size in (7, 65536):
                assert check_plan(Scan(relation, ("x", "y")), sorted(rows), size, in_order=True)
                back = sorted((y, x) for x, y in rows)
                scan = Scan(relation, ("x", "y"), order=1)
                check_plan(scan, [(x, y) for y, x in back], size, in_order=True)
                check_plan(Scan(relation, (3, "y")), [(y,) for x, y in rows if x == 3], size)
                child = Values(Frame.of(x=[3, 99, 3, 4], k=[1, 2, 3, 4]))
                expected = [
                    (x, k, z) for x, k in child.frame.to_rows() for y, z in sorted(rows) if x == y
                ]
                plan = Probe(child, relation, ("x", "z"))
                check_plan(plan, expected, size, in_order=True)


def test_probe__of_any_id_may_give_a_row_twice() -> None:
    child = Values(Frame.of(x=[1], unique=True))
    relation = MemoryRelation(2, {(1, 2): EXPLICIT, (1, 3): EXPLICIT})
    assert not Probe(child, relation, ("x", None)).unique
    check_plan(Probe(child, relation, ("x", None)), [(1,), (1,)], 7)
    assert Probe(child, relation, ("x", None), how="semi").unique
    assert Probe(child, relation, ("x", "y")).unique


def test_probe__relation_and_statuses_can_be_replaced_between_runs() -> None:
    plan = Probe(Values(Frame.of(x=[1])), MemoryRelation(2, {(1, 2): EXPLICIT}), ("x", "y"))
    assert plan.run(Context()).to_rows() == [(1, 2)]
    plan.where = INFERRED
    assert plan.run(Context()).to_rows() == []
    plan.relation = MemoryRelation(2, {(1, 3): INFERRED})
    assert plan.run(Context()).to_rows() == [(1, 3)]


def test_relations__wrong_patterns_are_refused() -> None:
    relation = MemoryRelation(2, {})
    child = Values(Frame.of(x=[1], n=np.array([1], INTEGER)))
    with pytest.raises(UsageError, match="2 columns, the pattern 1"):
        Scan(relation, ("x",))
    with pytest.raises(UsageError, match="looks up no column"):
        Probe(child, relation, ("u", "v"))
    with pytest.raises(UsageError, match="holds int64, not ids"):
        Probe(child, relation, ("n", "u"))
    with pytest.raises(UsageError, match="how is one of"):
        Probe(child, relation, ("x", "u"), how="outer")
    with pytest.raises(UsageError, match="needs how='left'"):
        Probe(child, relation, ("x", "u"), matched="m")

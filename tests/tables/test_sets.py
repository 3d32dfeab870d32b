"""Set expressions: sorted arrays = masks = Python's sets, for random expressions and histories."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triplestore.tables import (
    EXPLICIT,
    INFERRED,
    ChangedRows,
    Changes,
    Layer,
    RowSets,
    SetExpression,
    Tables,
    sets,
    symbols,
)
from triplestore.tables.expressions import Symbol, difference_sorted, intersect_sorted, union_sorted
from triplestore.tables.rows import columns_of, key_of

NAMES = ("I", "E", "D", "A", "Delta", "P", "C", "B")
terms = st.sampled_from([1, 2, 3, 0x80000000, 0xFFFFFFFF])


def expressions() -> st.SearchStrategy[SetExpression]:
    leaves = st.sampled_from(NAMES).map(Symbol)
    pairs = lambda inner: st.tuples(st.sampled_from("|&-"), inner, inner)  # noqa: E731
    return st.recursive(leaves, lambda inner: pairs(inner).map(combined), max_leaves=8)


def combined(parts: tuple) -> SetExpression:
    operator, left, right = parts
    return {"|": left | right, "&": left & right, "-": left - right}[operator]


@st.composite
def histories(draw: st.DrawFn, arity: int) -> tuple:
    rows = st.tuples(*[terms] * arity)
    held = draw(st.dictionaries(rows, st.sampled_from([0, EXPLICIT, INFERRED]), max_size=12))
    change = st.tuples(
        st.sampled_from(["add", "add", "remove", "clear", "dense"]),
        st.sampled_from(NAMES[2:]),
        st.lists(rows, max_size=6),
    )
    return held, draw(st.lists(change, max_size=10)), draw(st.lists(expressions(), max_size=4))


def relation_of(held: dict, arity: int) -> object:
    columns = np.array(list(held), dtype=np.uint32).reshape(len(held), arity).T
    words = ChangedRows.of(list(columns), np.array(list(held.values()), dtype=np.uint8))
    if arity == 2:
        nines = np.full(len(held), 9, dtype=np.uint32)
        words = ChangedRows.of([nines, *columns], words.status)
        return Tables([Layer.build(Changes(facts=words))]).relation(9)
    return Tables([Layer.build(Changes(tuples={(9, arity): words}))]).tuples(9, arity)


def keys_of(rows: list, arity: int) -> np.ndarray:
    table = np.array(rows, dtype=np.uint32).reshape(len(rows), arity).T
    return key_of([np.ascontiguousarray(column) for column in table])


def rows_of(keys: np.ndarray, arity: int) -> list:
    return list(zip(*(column.tolist() for column in columns_of(keys, arity)), strict=True))


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 3).flatmap(lambda arity: st.tuples(st.just(arity), histories(arity))))
def test_row_sets__same_as_python_sets_in_both_forms(case: tuple) -> None:
    arity, (held, changes, wanted) = case
    row_sets = RowSets(relation_of(held, arity))
    model = {name: set() for name in NAMES}
    model["I"] = {row for row, status in held.items() if status}
    model["E"] = {row for row, status in held.items() if status == EXPLICIT}
    for action, name, rows in changes:
        if action == "dense":
            row_sets.make_dense()
        elif action == "clear":
            row_sets.clear(name)
            model[name] = set()
        else:
            getattr(row_sets, action)(name, keys_of(rows, arity))
            model[name] = model[name] | set(rows) if action == "add" else model[name] - set(rows)
    check(row_sets, model, wanted, arity)
    row_sets.make_dense()
    check(row_sets, model, wanted, arity)


def check(row_sets: RowSets, model: dict, wanted: list[SetExpression], arity: int) -> None:
    for name in NAMES[2:]:
        assert rows_of(row_sets.rows(name), arity) == sorted(model[name])
    asked = [*sorted(set().union(*model.values()))[::-1], (1,) * arity, (3,) * arity]
    for expression in wanted:
        expected = eval(repr(expression), {}, {name: model[name] for name in NAMES})
        assert rows_of(row_sets.evaluate(expression), arity) == sorted(expected)
        contains = row_sets.contains(expression, keys_of(asked, arity))
        assert contains.tolist() == [row in expected for row in asked]
        blocks = [rows_of(key_of(b), arity) for b in row_sets.blocks(expression, 2)]
        assert list(chain(*blocks)) == sorted(expected)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.integers(0, 30), max_size=40, unique=True),
    st.lists(st.integers(0, 30), max_size=40, unique=True),
)
def test_sorted_algebra__same_as_python_sets(left: list, right: list) -> None:
    one, two = (np.array(sorted(side), dtype=np.uint64) for side in (left, right))
    one.flags.writeable = two.flags.writeable = False
    assert union_sorted(one, two).tolist() == sorted({*left, *right})
    assert intersect_sorted(one, two).tolist() == sorted({*left} & {*right})
    assert difference_sorted(one, two).tolist() == sorted({*left} - {*right})


def test_row_sets__become_dense_when_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sets, "DENSE_FROM", 3)
    column = np.arange(100, dtype=np.uint32)
    row_sets = RowSets(Tables([Layer.bulk(column * 0 + 9, column, column)]).relation(9))
    keys = row_sets.relation.keys()
    row_sets.add("D", keys[:2])
    assert not row_sets.dense
    row_sets.add("D", keys[2:3])
    assert row_sets.dense
    assert row_sets.rows("D").tolist() == keys[:3].tolist()


def test_row_sets__filter_large_masks_by_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sets, "KERNELS_FROM", 0)
    monkeypatch.setattr(sets, "CHUNK", 7)
    column = np.arange(100, dtype=np.uint32)
    row_sets = RowSets(Tables([Layer.bulk(column * 0 + 9, column, column)]).relation(9))
    keys = row_sets.relation.keys()
    row_sets.make_dense()
    row_sets.add("D", keys[::3])
    row_sets.add("A", keys[::2])
    i, d, a = symbols("I D A")
    found = row_sets.evaluate(i - (d - a)).tolist()
    assert found == [key for n, key in enumerate(keys.tolist()) if n % 3 or n % 2 == 0]


def test_row_sets__refuse_names_that_are_not_theirs() -> None:
    row_sets = RowSets(Tables().relation(9))
    with pytest.raises(AssertionError, match="no set 'I'"):
        row_sets.add("I", np.zeros(1, dtype=np.uint64))
    with pytest.raises(AssertionError, match="at most"):
        RowSets(Tables().relation(9), [f"X{n}" for n in range(7)])


def test_expression__prints_as_it_was_written() -> None:
    i, d, a = symbols("I D A")
    assert repr((i - d) | (a & d)) == "(I - D) | (A & D)"

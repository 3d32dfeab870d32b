"""Changes: several commits as one, and the way through the journal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.relations.model import Model, commits, table_rows
from triplestore.relations import EXPLICIT, INFERRED, ChangedRows, Changes, Layer, Tables


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(commits(), st.booleans()), min_size=1, max_size=4))
def test_concat__says_what_the_commits_say_one_after_the_other(history: list) -> None:
    model, parts, tables = Model(), [], Tables()
    for commit, counted in history:
        changes = model.changes(commit, counted)
        model.apply(commit, counted)
        parts.append(Changes.from_arrays(written(changes.to_arrays())))
        assert same(parts[-1], changes)
        tables = tables.push(Layer.build(changes))
    both = Changes.concat(parts)
    both.validate()
    at_once = Tables().push(Layer.build(both))
    assert (at_once.total(), at_once.quad_total()) == (tables.total(), tables.quad_total())
    assert both.net() == tuple(sum(part.net()[n] for part in parts) for n in range(2))
    for kind in model.kinds:
        for where in (EXPLICIT, INFERRED):
            rows = model.rows(kind, where)
            assert sorted(table_rows(at_once, kind, where)) == sorted(rows)
    for name in (1, 2):
        rows = [row[1:] for row in model.rows("facts") if row[0] == name]
        columns = tuple(np.array(rows, dtype=np.uint32).reshape(-1, 2).T.copy())
        counts = [model.count("facts", (name, *row)) for row in rows]
        assert at_once.relation(name).count_of(columns).tolist() == counts


def written(arrays: dict) -> dict:
    """The arrays after a way through bytes."""
    return {name: np.frombuffer(a.tobytes(), dtype=a.dtype) for name, a in arrays.items()}


def same(one: Changes, two: Changes) -> bool:
    left, right = one.to_arrays(), two.to_arrays()
    return left.keys() == right.keys() and all(
        np.array_equal(left[name], right[name]) and left[name].dtype == right[name].dtype
        for name in left
    )


def test_changes__are_frozen() -> None:
    column = np.array([1, 2], dtype=np.uint32)
    rows = ChangedRows.of((column, column, column))
    for array in (*rows.columns, rows.status, rows.previous):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 9


def test_changes__a_row_occurs_once() -> None:
    changes = Changes(facts=ChangedRows.of(([1, 1], [2, 2], [3, 3])))
    with pytest.raises(AssertionError, match="twice"):
        changes.validate()


def test_changes__columns_have_one_length() -> None:
    with pytest.raises(AssertionError, match="different lengths"):
        ChangedRows.of(([1], [1, 2], [1]))
    with pytest.raises(AssertionError, match="another length"):
        ChangedRows.of(([1], [1], [1]), status=np.array([1, 1], dtype=np.uint8))

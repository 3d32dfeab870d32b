"""Wide keys as integers: the same order, and back again."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triplestore.relations.facts import sorted_arrays
from triplestore.relations.facts.narrow_keys import narrowed
from triplestore.relations.packed_keys import Keys, columns_of, key_of

ids = st.one_of(st.integers(0, 5), st.integers(2**32 - 5, 2**32 - 1), st.integers(0, 2**32 - 1))


def keys_of(rows: Any) -> Keys:
    return key_of([np.array(column, np.uint32) for column in zip(*rows, strict=True)])


@st.composite
def some_rows(draw: Any) -> list[tuple[int, ...]]:
    """Rows of three to five columns; some columns are constants, or say what another says."""
    arity = draw(st.integers(3, 5))
    rows = draw(st.lists(st.lists(ids, min_size=arity, max_size=arity), min_size=1, max_size=12))
    for place in draw(st.sets(st.integers(1, arity - 1))):
        same = draw(st.booleans())
        for row in rows:
            row[place] = row[place - 1] if same else 7
    return [tuple(row) for row in rows]


@given(some_rows())
def test_narrowed__has_the_order_of_the_rows_and_leads_back(rows: list[tuple[int, ...]]) -> None:
    found = narrowed(keys_of(rows))
    if found is None:
        bits = [(max(c) - min(c)).bit_length() for c in set(zip(*rows, strict=True))]
        assert sum(bits) > 64
        return
    made, widen = found
    ordered = sorted(zip(made.tolist(), rows, strict=True))
    assert [row for _, row in ordered] == sorted(rows)
    assert (widen(made) == keys_of(rows)).all()
    assert widen(made[:1]).dtype == keys_of(rows).dtype


def test_narrowed__of_integers__is_nothing() -> None:
    assert narrowed(np.array([1, 2], np.uint64)) is None
    assert narrowed(keys_of([(1, 2, 3)])[:0]) is None


@pytest.mark.parametrize("greatest", [40, 2**31])
def test_counted_and_sorted_distinct__of_many_wide_keys(greatest: int) -> None:
    rng = np.random.default_rng(4)
    columns = [rng.integers(0, greatest, 9_000).astype(np.uint32) for _ in range(3)]
    keys = key_of(columns)
    keys = np.concatenate((keys, keys[:500]))
    expected = Counter(zip(*(c.tolist() for c in columns_of(keys, 3)), strict=True))
    found, times = sorted_arrays.counted(keys)
    rows = list(zip(*(c.tolist() for c in columns_of(found, 3)), strict=True))
    assert rows == sorted(expected)
    assert times.tolist() == [expected[row] for row in rows]
    assert (sorted_arrays.sorted_distinct(keys) == found).all()

"""Joins where shared variables may be unbound, against a definition in plain Python."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triplestore.errors import BudgetError
from triplestore.operators import Context, Frame, Values
from triplestore.sparql.evaluate.compatible import CompatibleJoin

LEFT, RIGHT = ("x", "y", "a"), ("y", "x", "b")
ids = st.integers(0, 2)
rows_of = st.lists(st.tuples(ids, ids, st.integers(1, 3)), max_size=12)


def frame(names: tuple[str, ...], rows: list[tuple[int, ...]]) -> Frame:
    columns = [np.array([row[i] for row in rows], np.uint32) for i in range(len(names))]
    return Frame(names, columns, len(rows))


def merged(left: dict[str, int], right: dict[str, int], overlap: bool) -> dict[str, int] | None:
    """Two solutions as one; None if they are not compatible (or, for MINUS, have nothing in
    common)."""
    both = [n for n in ("x", "y") if left[n] and right[n]]
    if any(left[n] != right[n] for n in both) or (overlap and not both):
        return None
    return {**right, **{n: left[n] or right.get(n, 0) for n in left}}


def expected(
    left: list[tuple[int, ...]], right: list[tuple[int, ...]], how: str, overlap: bool, limit: int
) -> Counter[tuple[int, ...]]:
    found: Counter[tuple[int, ...]] = Counter()
    for one in left:
        row = dict(zip(LEFT, one, strict=True))
        joined = [merged(row, dict(zip(RIGHT, r, strict=True)), overlap) for r in right]
        matches = [m for m in joined if m is not None and m["b"] <= limit]
        if how in ("inner", "left"):
            found.update(tuple(m[n] for n in ("x", "y", "a", "b")) for m in matches)
        if (how == "left" and not matches) or (how == "anti" and not matches):
            found[(*one, 0) if how == "left" else one] += 1
        if how == "semi" and matches:
            found[one] += 1
    return found


@pytest.mark.parametrize("how", ["inner", "left", "semi", "anti"])
@pytest.mark.parametrize("overlap", [False, True])
@given(left=rows_of, right=rows_of, limit=st.sampled_from([2, 9]), block=st.sampled_from([2, 100]))
def test_compatible_join__is_what_the_specification_says(
    how: Any,
    overlap: bool,
    left: list[tuple[int, ...]],
    right: list[tuple[int, ...]],
    limit: int,
    block: int,
) -> None:
    condition = None if limit > 3 else (lambda rows: rows["b"] <= limit)
    join = CompatibleJoin(
        Values(frame(LEFT, left)),
        Values(frame(RIGHT, right)),
        ("x", "y"),
        how,
        overlap=overlap,
        condition=condition,
    )
    context = Context(block_rows=block)
    blocks = join.open(context)
    assert all(block.rows for block in blocks)  # empty blocks are not passed on
    result = join.run(context)
    assert Counter(result.to_rows()) == expected(left, right, how, overlap, limit)
    assert context.used == 0


def test_compatible_join__charges_before_it_fills() -> None:
    rows = [(0, 0, 1)] * 2000
    join = CompatibleJoin(Values(frame(LEFT, rows)), Values(frame(RIGHT, rows)), ("x", "y"))
    context = Context(budget=1_000_000)
    with pytest.raises(BudgetError):
        join.run(context)
    assert context.used == 0

"""Keys put in the order of their second ids by counting them."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from triplestore.kernels.rows.swap_columns import (
    begin_cursors,
    count_seconds,
    second_bounds,
    turn_by_second,
    turn_rows_by_second,
)

LEAST = np.uint64(7)


@given(st.lists(st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 40)), unique=True))
def test_turning__sorts_what_was_sorted_piece_by_piece(rows: Any) -> None:
    rows = sorted((a, b + int(LEAST)) for a, b in rows)
    keys = np.array([a << 32 | b for a, b in rows], np.uint64)
    half = len(rows) // 2
    pieces = [slice(0, half), slice(half, len(rows))]
    bounds = np.array([2**32 - 1, 0], np.uint64)
    sizes = np.zeros(41, np.uint32)
    for piece in pieces:
        second_bounds(keys[piece], bounds)
        count_seconds(keys[piece], LEAST, sizes)
    if rows:
        assert bounds.tolist() == [min(b for _, b in rows), max(b for _, b in rows)]
    seconds = [b - int(LEAST) for _, b in rows]
    assert sizes.tolist() == [seconds.count(k) for k in range(41)]
    begin_cursors(sizes)
    assert sizes.tolist() == [sum(b < k for b in seconds) for k in range(41)]

    out = np.zeros(len(rows), np.uint64)
    cursors = sizes.copy()
    for piece in pieces:
        turn_by_second(keys[piece], LEAST, cursors, out)
    assert out.tolist() == sorted(b << 32 | a for a, b in rows)

    status = (keys % np.uint64(3)).astype(np.uint8)
    counts = np.arange(len(rows), dtype=np.uint32)
    turned = np.zeros_like(keys), np.zeros_like(status), np.zeros_like(counts)
    for piece in pieces:
        turn_rows_by_second(keys[piece], status[piece], counts[piece], LEAST, sizes, *turned)
    beside = dict(
        zip(keys.tolist(), zip(status.tolist(), counts.tolist(), strict=True), strict=True)
    )
    expected = sorted((b << 32 | a, *beside[a << 32 | b]) for a, b in rows)
    assert list(zip(*(column.tolist() for column in turned), strict=True)) == expected

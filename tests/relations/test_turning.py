"""Sorted rows turned round, by counting and by sorting."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from triplestore.relations.layers import swap_columns
from triplestore.relations.packed_keys import U64
from triplestore.relations.thresholds import RELATIONS


def keys_of(rows: int, ids: int) -> U64:
    """Random keys, sorted and distinct."""
    rng = np.random.default_rng(6)
    firsts = rng.integers(1, 4, rows).astype(np.uint64)
    seconds = rng.integers(0, ids, rows).astype(np.uint64) + np.uint64(2**31)
    return np.unique(firsts << np.uint64(32) | seconds)


@pytest.mark.parametrize("rows", [0, 1, 9_000])
@pytest.mark.parametrize("ids", [3_000, 60_000, 2**31])  # counted twice, and too far apart for it
@pytest.mark.parametrize("given", [False, True])
def test_turned__has_the_other_id_first_and_is_sorted(
    rows: int, ids: int, given: bool, tune: Callable[..., None]
) -> None:
    tune(RELATIONS, piece_rows=1_000)
    keys = keys_of(rows, ids)
    expected = np.sort(keys << np.uint64(32) | keys >> np.uint64(32))
    out = np.zeros(len(keys), np.uint64) if given else None
    found = swap_columns.turned(keys, out)
    assert (found == expected).all()
    assert out is None or found is out


@pytest.mark.parametrize("ids", [3_000, 60_000, 2**31])
def test_turned_rows__keep_what_stands_beside_them(ids: int, tune: Callable[..., None]) -> None:
    tune(RELATIONS, piece_rows=1_000)
    keys = keys_of(9_000, ids)
    turned = keys << np.uint64(32) | keys >> np.uint64(32)
    order = np.argsort(turned)
    status, counts = (keys % np.uint64(3)).astype(np.uint8), np.arange(len(keys), dtype=np.uint32)
    found = swap_columns.turned_rows(keys, status, counts)
    for one, other in zip(found, (turned[order], status[order], counts[order]), strict=True):
        assert (one == other).all() and one.dtype == other.dtype

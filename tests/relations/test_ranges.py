"""Ranges of positions, small and large, are what plain Python says."""

from __future__ import annotations

import numpy as np
import pytest

from triplestore.relations.layers.sorted_order import ranges
from triplestore.relations.thresholds import RELATIONS


@pytest.mark.parametrize("large", [1, 10**9])
@pytest.mark.parametrize("count", [1, 7, 500])
def test_ranges__lists_all_positions(tune, count, large):
    tune(RELATIONS, summed_positions=large)
    rng = np.random.default_rng(count)
    starts, lengths = rng.integers(0, 10**9, count), rng.integers(0, 4, count)
    lengths[0] += 1
    expected = [
        s + i for s, n in zip(starts.tolist(), lengths.tolist(), strict=True) for i in range(n)
    ]
    assert ranges(starts, lengths).tolist() == expected

"""Fixtures for the tests of terms."""

from __future__ import annotations

import pytest

from triplestore.terms.thresholds import TERMS


@pytest.fixture(params=["kernels", "numpy", "at once"])
def either_way(request, tune):
    """Every batch by kernel; in numpy, and searches one by one; or in numpy all at once."""
    rows = 0 if request.param == "kernels" else 1 << 60
    tune(TERMS, warm_rows=rows, cold_rows=rows)
    if request.param == "at once":
        tune(TERMS, found_singly=0)
    return request.param

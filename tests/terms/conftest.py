"""Fixtures for the tests of terms."""

from __future__ import annotations

import pytest

from triplestore.terms.thresholds import TERMS


@pytest.fixture(params=["kernels", "numpy"])
def either_way(request, tune):
    """Every batch by kernel, or every batch in numpy and plain Python."""
    rows = 0 if request.param == "kernels" else 1 << 60
    tune(TERMS, warm_rows=rows, cold_rows=rows)
    return request.param

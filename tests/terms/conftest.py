"""Fixtures for the tests of terms."""

from __future__ import annotations

import pytest

from triplestore.terms import spans


@pytest.fixture(params=["kernels", "numpy"])
def either_way(request, monkeypatch):
    """Every batch by kernel, or every batch in numpy and plain Python."""
    rows = 0 if request.param == "kernels" else 1 << 60
    monkeypatch.setattr(spans, "_WARM", rows)
    monkeypatch.setattr(spans, "_COLD", rows)
    return request.param

"""What the tests of storage share."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest


@pytest.fixture
def base(tmp_path):
    """A folder in memory where there is one: thousands of files are written and removed."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


@pytest.fixture
def small_numbers(monkeypatch):
    """Bounds that are no tuning, so small that small stores meet them."""
    monkeypatch.setattr("triplestore.storage.files.journal.RESERVE", 3000)
    monkeypatch.setattr("triplestore.storage.files.sections._BACKLOG", 1500)
    monkeypatch.setattr("triplestore.storage.files.sections._SMALL", 300)
    monkeypatch.setattr("triplestore.storage.files.sections._PIECE", 32768)

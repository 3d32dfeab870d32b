"""What the tests of storage share."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from triplestore.storage.thresholds import STORAGE


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
def small_numbers(tune):
    """Sizes of writes so small that small stores meet them."""
    small = {"synced_bytes": 1500, "gathered_bytes": 300, "written_bytes": 32768}
    tune(STORAGE, reserve_bytes=3000, **small)

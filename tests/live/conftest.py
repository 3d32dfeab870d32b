"""A store with a short prefix."""

from __future__ import annotations

import pytest

from triplestore import Store


@pytest.fixture
def store() -> Store:
    made = Store()
    made.bind("", "http://ex.org/")
    return made

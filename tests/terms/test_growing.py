"""Growing arrays keep what is in them, also when somebody still looks at the old ones."""

from __future__ import annotations

import numpy as np
import pytest

from triplestore.terms.growing_arrays import Growing


@pytest.mark.parametrize("held", [False, True])
def test_reserve__keeps_contents_and_adds_zeros(held):
    growing = Growing(np.uint64, 3)
    views = []
    size = 0
    for step in range(12):
        growing.reserve(size + 1)
        assert len(growing) > size
        assert (growing.array[:size] == np.arange(size)).all()
        assert not growing.array[size:].any()
        filled = len(growing)
        growing.array[size:filled] = np.arange(size, filled)
        size = filled
        if held and step % 2:
            views.append(growing.array)  # cannot be moved now: is copied
    for view in views:
        assert (view == np.arange(len(view))).all()


def test_reserve__does_nothing_when_there_is_room():
    growing = Growing(np.uint8, 100)
    array = growing.array
    growing.reserve(len(growing))
    assert growing.array is array

"""Compare stores that were made in two ways."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from triplestore.storage import Database
from triplestore.storage.state import State
from triplestore.storage.upkeep.optimize import compact


def files_of(directory: Path) -> dict[str, bytes]:
    """The files of a store, except its lock."""
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.name != "LOCK"}


def sections_of(state: State) -> dict[str, Any]:
    """All columns of a state's terms and rows, its statistics and values included."""
    segment = state.dictionary.segment_of(1, state.term_count)
    (layer,) = compact(state).tables.layers
    named = {f"terms.{name}": array for name, array in segment.sections().items()}
    # Where a term stands in a cluster of slots depends on whether kernels were loaded.
    slots = named.pop("terms.slots")
    named["terms.filled"] = np.array([len(slots), np.count_nonzero(slots)])
    return named | {f"rows.{name}": array for name, array in layer.sections().items()}


def _values(meta: Mapping[str, bytes]) -> dict[str, Any]:
    """The named values, those in JSON without the order of their names."""
    return {name: json.loads(value) for name, value in meta.items()}


def assert_same_parts(one: Path, other: Path) -> None:
    """Two stores have the same ids, rows, statistics, values and named values."""
    with Database.open(one, read_only=True) as left, Database.open(other, read_only=True) as right:
        assert not left.verify()
        assert left.state.term_count == right.state.term_count
        kept = [_values(side.state.meta) for side in (left, right)]
        assert kept[0] == kept[1], kept
        these, those = sections_of(left.state), sections_of(right.state)
        assert list(these) == list(those)
        for name, array in these.items():
            assert array.dtype == those[name].dtype, name
            assert np.array_equal(array, those[name]), name

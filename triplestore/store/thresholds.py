"""Thresholds of the store: how many writes are combined or loaded at a time."""

from __future__ import annotations

from triplestore.data_classes import data_class
from triplestore.thresholds import Thresholds


@data_class(frozen=False)
class StoreThresholds(Thresholds):
    """See `STORE`."""

    buffered_writes: int = 1 << 16
    """Maximum number of buffered operations, so that the buffer stays small."""

    single_writes: int = 8
    """Maximum number of operations that are encoded one by one: arrays of them cost more."""

    few_quads: int = 256
    """Maximum number of quads of one call that are written without arrays, in a store without
    rules."""

    combined_rows: int = 1 << 10
    """Maximum number of loaded rows that are combined like single writes: for one row this takes
    0.03 ms, a layer of its own 0.17 ms."""

    loaded_quads: int = 4096
    """Minimum number of quads of INSERT DATA that are loaded as a document, which is faster."""

    recent_commits: int = 50
    """Number of past commits whose counts are kept."""


STORE = StoreThresholds()

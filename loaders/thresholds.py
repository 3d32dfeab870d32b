"""Thresholds of loading. Start at `LoadingThresholds`. No result depends on them."""

from __future__ import annotations

from triplestore.data_classes import data_class
from triplestore.thresholds import Thresholds


@data_class(frozen=False)
class LoadingThresholds(Thresholds):
    """Numbers that choose how documents are read; the bench `loading` measures the whole."""

    small_cold: int = 1 << 20
    """Maximum bytes of text of a small load while numba is not loaded: loading it takes longer."""

    small_warm: int = 1 << 16
    """Maximum bytes of text of a small load once numba is loaded."""

    block_bytes: int = 1 << 21
    """Bytes of text per block: about 3 ms of parsing, within the second-level cache."""

    block_terms: int = 1 << 15
    """Maximum number of distinct terms that one call of the kernel finds."""

    block_slack: int = 1 << 12
    """Minimum room behind the text of a block, for the blank node labels of a line."""

    few_labels: int = 10_000
    """Maximum number of generated labels kept as Python objects; a table takes less memory."""

    patience: float = 2.0
    """Seconds until the user is told that a pipe has no data yet."""


LOADING = LoadingThresholds()

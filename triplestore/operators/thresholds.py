"""The numbers by which operators choose between two ways of doing the same work."""

from __future__ import annotations

from triplestore.data_classes import data_class
from triplestore.thresholds import Thresholds


@data_class(frozen=False)
class OperatorThresholds(Thresholds):
    """Thresholds of joins, groups and sorts."""

    rows_without_kernels: int = 4096
    """Maximum number of rows for which kernels are not loaded yet (0.25 s, once per process)."""

    piece_rows: int = 1 << 17
    """Maximum number of rows per call of a kernel, so that none takes more than a few ms."""

    dense_spread: int = 6
    """Maximum length of a range of ids, per row, that is indexed by an array of all its ids."""

    lexsort_rows: int = 2048
    """Minimum number of rows whose sort keys are packed into words; fewer are sorted by lexsort."""

    sorted_at_once: int = 1 << 18
    """Maximum number of values that one call of np.sort gets."""

    sampled_rows: int = 4096
    """Approximate number of rows whose fans decide whether a cycle is closed all at once."""


OPERATORS = OperatorThresholds()

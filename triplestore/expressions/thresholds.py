"""The numbers by which expressions choose between two ways of doing the same work."""

from __future__ import annotations

from triplestore.data_classes import data_class
from triplestore.thresholds import Thresholds


@data_class(frozen=False)
class ExpressionThresholds(Thresholds):
    """Thresholds of evaluating expressions."""

    scalar_rows: int = 16
    """Maximum number of rows that are computed one by one instead of by columns."""

    ids_one_by_one: int = 32
    """Maximum number of terms whose keys are read one by one."""

    distinct_ids: int = 256
    """Minimum number of terms among which equal ones are read once: joins repeat terms."""

    few_pairs: int = 256
    """Maximum number of pairs of terms that are compared once for all rows."""

    counted_rows: int = 1 << 16
    """Minimum number of rows of a group whose repeated terms GROUP_CONCAT counts."""


EXPRESSIONS = ExpressionThresholds()

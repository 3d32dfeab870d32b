"""Thresholds of the matching of rule bodies."""

from __future__ import annotations

from triplestore.data_classes import data_class
from triplestore.thresholds import Thresholds


@data_class(frozen=False)
class EvaluationThresholds(Thresholds):
    """Numbers that choose between two ways to find the same rule instances."""

    piece_rows: int = 1 << 24
    """Maximum number of rows of a join. A larger join is made in pieces, and each piece is
    concluded before the next."""
    computed_rows: int = 1 << 13
    """Maximum number of rows that are computed without a look at the budget."""
    few_joined: int = 64
    """Maximum number of rows that are joined without an estimate of the result."""
    few_rows: int = 256
    """Minimum number of rows for which shorter ways than a join are looked for."""
    many_merged: int = 1 << 14
    """Minimum number of rows for which it is tried to merge equal ones."""
    merging_pays: float = 1.5
    """Minimum factor by which merging must make rows fewer. Otherwise it is not tried again."""
    cycle_fewer: float = 2.0
    """Minimum factor by which the best atoms of a cycle must have fewer new values than the first
    (`bench programs`: triangles, diamonds)."""
    cycle_looks: float = 1.0
    """Minimum number of new values that must be saved for each row, which looks at all atoms."""
    cycle_ways: int = 8
    """Maximum number of choices of one array for each atom of a cycle."""
    small_facts: int = 1 << 17
    """Maximum number of changed facts of a small rule, and of its conclusions, in one kernel call
    (`bench maintenance`: recursive-200-1000 takes half the time)."""
    many_changed: int = 1 << 13
    """Minimum number of changed facts for which it is tried to begin with another atom."""
    sample_rows: int = 256
    """Number of rows on which another beginning is tried."""
    sample_result: int = 1 << 20
    """Maximum number of rows that such a trial makes."""
    turning_rows: float = 8.0
    """Minimum number of rows for each changed fact for which another beginning is tried."""
    turning_pays: float = 3.0
    """Minimum factor by which another beginning must make fewer rows."""


EVALUATION = EvaluationThresholds()
"""The thresholds in use."""

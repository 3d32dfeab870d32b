"""Numbers that limit the search for causes and repairs."""

from __future__ import annotations

from triplestore.data_classes import data_class
from triplestore.thresholds import Thresholds


@data_class(frozen=False)
class ConsequenceThresholds(Thresholds):
    """Start at `CONSEQUENCES`, the values in use."""

    goals_together: int = 4096
    """Maximum number of facts whose rule instances are looked for together."""
    pairs_by_edges: int = 500
    """Minimum number of changed facts of a property before its transitive rule is matched with
    edges only."""
    instance_rows: int = 50_000_000
    """Maximum number of rows that are looked at for the rule instances of one blame."""
    kept_instances: int = 20_000_000
    """Maximum number of rule instances that one blame keeps."""
    set_members: int = 30_000_000
    """Maximum number of members of all sets of causes together."""
    removals: int = 2_000
    """Maximum number of sets of causes that are taken out to look for other causes."""
    removal_work: int = 2_000_000_000
    """Maximum number of facts and premises that are looked at for that, all times together."""


CONSEQUENCES = ConsequenceThresholds()

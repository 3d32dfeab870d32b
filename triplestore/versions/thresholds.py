"""Thresholds of branches and of the history."""

from __future__ import annotations

from triplestore.data_classes import data_class
from triplestore.thresholds import Thresholds


@data_class(frozen=False)
class VersionThresholds(Thresholds):
    """See `VERSIONS`."""

    copied_terms: int = 1 << 11
    """Number of live terms from which on the store seals them, instead of each branch having a
    copy of them."""

    own_layers: int = 8
    """Maximum number of layers of a branch beside those that it shares; more are merged."""

    listed_conflicts: int = 5
    """Maximum number of conflicts of one kind that an error names."""


VERSIONS = VersionThresholds()

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

    history_file_bytes: int = 1 << 20
    """Size at which the history continues in another file; space is freed file by file."""

    packed_bytes: int = 1 << 12
    """Size from which on a record of the history is compressed."""

    past_states: int = 4
    """Number of past states that are kept in memory."""

    listed_conflicts: int = 5
    """Maximum number of conflicts of one kind that an error names."""


VERSIONS = VersionThresholds()

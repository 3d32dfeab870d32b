"""Numbers that choose between two ways of keeping a store's closure, or limit a step of it.

What users may set is elsewhere: see `tuning.py`.
"""

from __future__ import annotations

from triplestore.data_classes import data_class
from triplestore.thresholds import Thresholds


@data_class(frozen=False)
class ReasoningThresholds(Thresholds):
    """Start at `REASONING`, the values in use."""

    max_turns: int = 50
    """Maximum number of turns of one run. A turn is needed for axioms that follow from axioms of
    the turn before; more than three turns are rare."""
    max_restarts: int = 3
    """Maximum number of times that a first closure is started, each time with the axioms that the
    previous attempt found."""
    restart_share: int = 8
    """A first closure is continued, not restarted, if fewer than one rule in this many changed."""
    axiom_share: int = 64
    """Axioms are closed first if more than one asserted fact in this many is part of an axiom."""
    awake_share: int = 2
    """Rules sleep only if at most one in this many is awake. With more data the next commit would
    probably wake them, and then all are compiled anyway."""
    sleeping_list: int = 1 << 12
    """Maximum number of members of a list of an ontology whose rules are not made yet. Its members
    are read place by place."""
    equality_first: int = 256
    """Maximum number of newly asserted facts before equalities are looked for before the rules are
    applied."""
    equality_layers: int = 4
    """Maximum number of layers that tables of representatives have beyond the stored rows. With
    more they are made again."""
    equality_layer_rows: int = 1 << 12
    """Minimum number of rows of a commit that are written as a layer instead of single changes."""
    equality_compared: int = 1 << 18
    """Maximum number of facts of a relation that are compared one by one where classes change. For
    more facts, a report has only the difference of the numbers."""


REASONING = ReasoningThresholds()

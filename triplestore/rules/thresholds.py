"""Thresholds of compiled rules: which rules are kept and matched in which form."""

from __future__ import annotations

from triplestore.data_classes import data_class
from triplestore.thresholds import Thresholds


@data_class(frozen=False)
class RuleThresholds(Thresholds):
    """Numbers that choose between two forms of the same rules or closures."""

    row_bytes: int = 16
    """Size of a pair as a row in two orders."""
    compressed_pairs: int = 1 << 20
    """Minimum number of pairs of a compressed closure. Rules and queries read rows faster."""
    still_compressed: int = 1 << 18
    """Minimum number of pairs with which a compressed closure stays compressed."""
    compression: int = 8
    """Minimum factor by which a scheme must be smaller than the rows."""
    block_strata: int = 4
    """Minimum number of consecutive strata of a block of subclass rules."""
    dense_ids: int = 16
    """Maximum ratio of the greatest id to the number of pairs for which ids are numbered by a flag
    for each possible id."""
    many_subclasses: int = 256
    """Minimum number of subclass axioms that are kept as pairs. Fewer are rules like all others."""
    closing_share: float = 0.5
    """Part of the rows that each atom that closes a cycle is expected to leave."""
    grown: float = 8.0
    """Factor by which a relation must grow or shrink before a plan is made again."""
    listed_rules: int = 64
    """Maximum number of rules of a family that is listed by class. Larger ones look at every
    type."""
    cursor_rules: int = 64
    """Maximum number of rules of a family that cursors follow, if the head does not say which of
    its constants are meant."""
    kernel_rules: int = 64
    """Maximum number of rules of a family that is fired by a kernel. Larger families are joined
    with the table of their constants."""
    kernel_rules_apart: int = 8
    """Maximum number of these if each of them goes through several stages by itself."""


RULES = RuleThresholds()
"""The thresholds in use."""

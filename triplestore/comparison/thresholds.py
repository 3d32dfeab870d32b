"""Numbers of comparisons: what is kept and what is shown."""

from __future__ import annotations

from triplestore.data_classes import data_class
from triplestore.thresholds import Thresholds


@data_class(frozen=False)
class ComparisonThresholds(Thresholds):
    """Start at `COMPARISON`, the values in use."""

    cached_closures: int = 8
    """Maximum number of closures of one way of reasoning that the cache keeps."""
    abandoned_seconds: int = 86_400
    """Minimum age of a half-made closure in the cache before it is removed."""
    shown_causes: int = 50
    """Maximum number of causes that are listed with their consequences."""
    shown_examples: int = 3
    """Maximum number of changed facts that are listed for each cause."""
    shown_violations: int = 100
    """Maximum number of violations that are listed, of those that come and of those that go."""
    shown_changes: int = 20
    """Maximum number of asserted changes that are listed."""
    shown_groups: int = 12
    """Maximum number of classes and properties that are listed for each cause."""
    shown_proofs: int = 20
    """Maximum number of causes, and of violations, that are shown with a proof."""
    merged_causes: int = 4
    """Minimum number of similar causes that are listed as one."""
    scanned_characters: int = 1_000_000
    """Maximum length of a Turtle file that is scanned as a whole for the lines of causes."""
    markdown_characters: int = 59_000
    """Maximum length of a report in Markdown: GitHub refuses comments of 65,536 characters."""


COMPARISON = ComparisonThresholds()

"""Thresholds of imports and closures on Spark. Start at `SparkThresholds`.

No result depends on them. What a caller may set is in `closure/options.py` and in the arguments of
`import_dataset`. Executors are other processes: they have the values of this file.
"""

from __future__ import annotations

from triplestore.data_classes import data_class
from triplestore.thresholds import Thresholds


@data_class(frozen=False)
class SparkThresholds(Thresholds):
    """Numbers that choose between the driver, a broadcast and a shuffle, and sizes of parts."""

    chunk_rows: int = 1 << 21
    """Maximum number of statements in a chunk."""

    chunk_bytes: int = 1 << 28
    """Maximum bytes of distinct terms in a chunk."""

    cut_block: int = 1 << 21
    """Bytes of Turtle that the search for cuts reads at a time."""

    block_rows: int = 1 << 14
    """Number of statements in a row of Spark."""

    block_bytes: int = 1 << 18
    """Bytes of terms in a row of Spark, and minimum for a range of terms."""

    range_bytes: int = 1 << 26
    """Bytes of the terms, as of all chunks, that a task numbers at a time."""

    counted_groups: int = 500_000
    """Maximum number of relations and classes whose facts are counted; others count as small."""

    part_rows: int = 100_000
    """Minimum number of facts for a task of their own."""

    recut_factor: int = 8
    """Known facts are cut into more parts when they are this many times the rows of their parts."""

    listed_names: int = 100
    """Maximum number of relation names in the condition by which facts are read."""

    beside_rules: int = 16
    """Maximum number of rules that are written beside each fact of a first join."""

    beside_rows: int = 1_000_000
    """Maximum number of rows that this makes."""

    matches: int = 4
    """Assumed number of matches of a row in a join."""

    driver_text: int = 1 << 28
    """Maximum bytes of terms that are fetched for a closure in the driver."""

    driver_growth: int = 20
    """Maximum facts of a closure in the driver, as a multiple of its maximum of asserted facts."""

    driver_pairs: int = 5_000_000
    """Maximum number of pairs of a graph's closure that the driver computes."""

    kind_tests: int = 500
    """Maximum number of ids in a condition about kinds of terms."""

    held_terms: int = 4
    """Maximum number of terms that the driver holds, per fact that it holds."""

    held_text: int = 1 << 23
    """Maximum bytes of the terms that the driver holds."""


SPARK = SparkThresholds()

"""The numbers by which queries choose between two ways of doing the same work."""

from __future__ import annotations

from triplestore.data_classes import data_class
from triplestore.thresholds import Thresholds


@data_class(frozen=False)
class SparqlThresholds(Thresholds):
    """Thresholds of parsing, planning and evaluating queries, and of keeping plans."""

    lookup_cost: float = 4.0
    """The cost of looking up a row, in rows that are read in sequence."""

    counted_lookup_cost: float = 32.0
    """The same, in rows that are only counted."""

    searched_rows: float = 5000.0
    """Minimum expected number of rows for which a text index is asked for those that may pass a
    filter by a part of a text."""

    few_rows: float = 16.0
    """Maximum expected number of rows that are looked up without comparing costs: the calls for a
    look-up take longer than its rows."""

    first_block_rows: int = 2048
    """Number of rows of a block where few solutions are wanted, so that reading stops early."""

    pruned_rows: float = 1000.0
    """Unneeded columns are dropped from joins with at least this many expected rows."""

    few_columns: int = 6
    """Joins with more columns than this drop unneeded ones in any case, since the expected number
    of rows may be far too low."""

    data_block_size: int = 2000
    """Minimum number of characters of a block of data that is read as N-Triples."""

    plans: int = 128
    """Maximum number of plans kept for a state, and of kinds of plans with other constants."""

    similar_plans: int = 4
    """Maximum number of kept plans of one kind: for other sizes, or used at the same time."""

    plan_seconds: float = 0.02
    """Maximum duration of a run after which its plan is kept."""

    plan_bytes: int = 1 << 18
    """Maximum number of bytes that the operators of a kept plan hold."""

    plan_terms: int = 1000
    """Maximum number of terms that a query looks up or makes and whose plan is kept."""

    piece_rows: int = 1 << 16
    """Maximum number of rows for which an expression is evaluated at a time."""

    ranked_one_by_one: int = 64
    """Maximum number of terms that are ranked one by one, and whose ranks are remembered."""

    sorted_at_once: int = 1024
    """Maximum number of rows that ORDER BY with a LIMIT sorts without dropping some before, unless
    their ids compare them."""

    compared_stretches: int = 16
    """Maximum number of ranges of ids whose terms compare by their ids that are used at a time."""

    sorted_candidates: int = 1 << 17
    """Minimum number of rows that ORDER BY with a LIMIT holds before it drops the last ones."""

    terms_one_by_one: int = 100
    """Maximum number of terms decoded one by one: 1.5 us each; in bulk 100 us and 0.5 us each."""

    cached_terms: int = 2000
    """Maximum number of terms that are looked for in the cache of recent terms (0.1 us each)."""

    unbound_cells: int = 10_000_000
    """Maximum number of cells of a document of results beyond one per byte."""


SPARQL = SparqlThresholds()

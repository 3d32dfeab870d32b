"""Numbers that choose between two ways of looking for a proof, or limit a search."""

from __future__ import annotations

from triplestore.data_classes import data_class
from triplestore.thresholds import Thresholds


@data_class(frozen=False)
class ProofThresholds(Thresholds):
    """Start at `PROOFS`, the values in use. They decide how soon a search ends, and whether its
    proof is known to be the smallest."""

    wide_level: int = 64
    """Minimum number of facts on a level before asserted premises are looked for first."""
    expanded_together: int = 4096
    """Maximum number of facts that are expanded together."""
    step_nodes: int = 256
    """Maximum number of facts that are expanded together in the search for some proof."""
    one_each: int = 2000
    """Maximum number of facts of one height before one instance of each is enough."""
    kept_cost: int = 10
    """Cost of an instance that is kept, in rows that are looked at."""
    forward_rows: int = 100
    """How many times as many rows a forward search may look at, since it keeps no instances."""
    closure_pairs: int = 20_000
    """Maximum number of pairs of a closure that is searched like other relations, which finds
    smallest proofs."""
    sampled_rows: int = 256
    """Maximum number of rows of a frame by which the next item of a body is chosen."""
    attempt_sets: int = 500
    """Maximum number of sets of items of one rule that are tried for a fact that does not hold."""
    attempt_rows: int = 100_000
    """Maximum number of matches that are followed for a fact that does not hold, and of rows of an
    atom that nothing leads to."""


PROOFS = ProofThresholds()

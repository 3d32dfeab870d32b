"""When the search for proofs of a fact is given up."""

from __future__ import annotations

from triplestore.data_classes import data_class

ROUND = 500
"""Cost of a round of a search or a deletion, in rule instances of a large round."""


@data_class
class Abort:
    """The limits of a search for proofs; without limits it ends when everything is known.

    depth   maximum distance from a fact that may be lost, exclusive; 0 means no search, which makes
            FBF the same as DRed
    work    maximum number of instances of a search in a stratum; a round counts as `ROUND`
    share   maximum cost of a search as a multiple of the cost of deletion so far: its instances,
            the facts that may be lost, and its rounds. If both are given, the larger maximum counts

    >>> Abort(work=1000, share=2.0).limit(40), Abort(work=1000, share=2.0).limit(4000)
    (1000.0, 8000.0)
    """

    depth: int | None = None
    work: int | None = None
    share: float | None = None

    def limit(self, deleted: int) -> float:
        """The maximum cost of the search, given the cost of deletion."""
        if self.work is None and self.share is None:
            return float("inf")
        return max(float(self.work or 0), (self.share or 0.0) * deleted)


NEVER = Abort()
ALWAYS = Abort(depth=0)

DEFAULT = Abort(work=40 * ROUND, share=1.0)
"""The default: a search may cost as much as overdeleting would."""

BY_KERNELS = Abort(work=400 * ROUND, share=1.0)
"""The default with kernels only: in the same time they read ten times as much."""

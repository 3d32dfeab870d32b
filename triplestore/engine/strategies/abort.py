"""When the search for proofs gives up on a fact."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Abort:
    """How far and how long proofs are looked for; without limits, until all is known.

    depth   proofs are looked for of facts less than so many steps from a fact that may be lost; 0:
            of none at all (which makes FBF the same as DRed)
    work    so many instances in a stratum, going backward and saturating, and no more
    share   so many for each instance of deletion and each fact that may be lost; if both are given
            the larger number counts

    >>> Abort(work=1000, share=2.0).limit(40), Abort(work=1000, share=2.0).limit(4000)
    (1000.0, 8000.0)
    """

    depth: int | None = None
    work: int | None = None
    share: float | None = None

    def limit(self, deleted: int) -> float:
        """The number of instances after which nothing more is looked for."""
        if self.work is None and self.share is None:
            return float("inf")
        return max(float(self.work or 0), (self.share or 0.0) * deleted)


NEVER = Abort()
ALWAYS = Abort(depth=0)

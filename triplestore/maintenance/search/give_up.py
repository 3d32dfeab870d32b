"""When the search for proofs gives up on a fact."""

from __future__ import annotations

from dataclasses import dataclass

ROUND = 500
"""A round of a search, or of deletion, costs as much as so many rule instances in a large one."""


@dataclass(frozen=True, slots=True)
class Abort:
    """How far and how long proofs are looked for; without limits, until all is known.

    depth   proofs are looked for of facts less than so many steps from a fact that may be lost; 0:
            of none at all (which makes FBF the same as DRed)
    work    so many instances in a stratum, going backward and saturating, and no more; a round
            counts as `ROUND` of them
    share   so many times what deletion has cost so far: its instances, the facts that may be lost,
            and its rounds; if both are given the larger number counts

    >>> Abort(work=1000, share=2.0).limit(40), Abort(work=1000, share=2.0).limit(4000)
    (1000.0, 8000.0)
    """

    depth: int | None = None
    work: int | None = None
    share: float | None = None

    def limit(self, deleted: int) -> float:
        """What the search may cost when deletion has cost so much."""
        if self.work is None and self.share is None:
            return float("inf")
        return max(float(self.work or 0), (self.share or 0.0) * deleted)


NEVER = Abort()
ALWAYS = Abort(depth=0)

DEFAULT = Abort(work=40 * ROUND, share=1.0)
"""What a search may cost unless the caller says otherwise: as much as overdeleting would."""

BY_KERNELS = Abort(work=400 * ROUND, share=1.0)
"""The same where kernels do all of it: as much time, in which they look at ten times as many."""

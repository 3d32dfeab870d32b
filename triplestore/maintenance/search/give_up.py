"""When the search for proofs gives up on a fact."""

from __future__ import annotations

from dataclasses import dataclass

ROUND = 500
"""Cost of a round of a search or a deletion, in rule instances of a large round."""


@dataclass(frozen=True, slots=True)
class Abort:
    """How far and how long proofs are looked for; without limits, until all is known.

    depth   proofs are looked for only for facts that are fewer than this many steps away from a
            fact that may be lost; 0: for none at all (which makes FBF the same as DRed)
    work    the maximum number of instances of a search in a stratum; a round counts as `ROUND`
    share   the maximum cost of a search as a multiple of what deletion has cost so far: its
            instances, the facts that may be lost, and its rounds. If both are given, the larger
            maximum counts

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
"""The default: a search may cost as much as overdeleting would."""

BY_KERNELS = Abort(work=400 * ROUND, share=1.0)
"""The same where kernels do all of it: in the same time they look at ten times as much."""

"""DRed^c: DRed that deletes only facts without a nonrecursive derivation.

Thesis, algorithm 4, lines 69 to 71, for one stratum. A fact with C_nr > 0 is never overdeleted; the
overdeleted facts with C_r > 0 hold again, and no rule is evaluated backwards.

Ours deviates in three ways. C_nr is kept in the tables, but C_r only where it is asked for
(`recursive_counters`): without it the recursive rules are evaluated backwards, from the facts that
were deleted. N_D does not accumulate: C_nr does not change in the loop, so a fact that was spared
once is spared again. And rounds of one small rule may be done together (`drop_unsupported`, see
`steps/many_rounds`). Where transitive rules share a stratum with others, `dred_c_mod` takes over.
"""

from __future__ import annotations

from triplestore.maintenance.dred_c_mod import dred_c_mod
from triplestore.maintenance.seminaive import insert
from triplestore.maintenance.steps.protocol import Facts, Steps
from triplestore.maintenance.steps.stratum import Strategy, StratumUpdate


def dred_c(steps: Steps[Facts]) -> None:
    """Bring one stratum up to date."""
    lost = steps.unsupported(steps.touched())  # 74 to 80: N_D, as far as C_nr is 0
    while lost:  # 79, 81
        lost = steps.drop_unsupported(lost)  # 82 to 84, 80: what was derived with it
    again = steps.rederived(steps.dropped())  # 70: R, what has C_r > 0
    insert(steps, again)  # 71


class DRedC(Strategy):
    """Overdelete what has no nonrecursive derivation, insert what has a recursive one."""

    name = "dred_c"

    def run(self, update: StratumUpdate) -> tuple[str, str]:
        """See `Strategy.run`."""
        leaps = update.leaps()
        if leaps is None:
            dred_c(update)
            return self.name, ""
        dred_c_mod(update, leaps)
        return self.name, "closures that others go through"

"""DRed^c: DRed that deletes only facts without a nonrecursive derivation.

Thesis, algorithm 4, lines 69 to 71, for one stratum. A fact with C_nr > 0 is never overdeleted.
Line 70 brings back the overdeleted facts with C_r > 0. The algorithm as printed, with both counters
and one fact at a time, is this driver over `tests/reference/steps.py: CountedSteps`.

Ours deviates as follows:

* C_r is kept only with the tuning `recursive_counters=True`. By default line 70 finds the deleted
  facts that a recursive rule derives from the surviving ones (`steps/rederive`). That is the same
  set, but it costs the backward evaluation that the thesis avoids (its example 2).
* N_D does not accumulate: C_nr does not change in the loop, so a fact that was spared once is
  spared again.
* A is kept apart from I and D: `gone` is D - A, `added` is A - D.
* `touched` also has what removed rules and aggregates lose.
* Rounds of a few small rules over one relation may be done together (`drop_unsupported`, see
  `steps/many_rounds`).
* `dred_c_mod` takes over if the stratum has leaps, unless C_r is kept, modules are off, or a
  recursive rule of the stratum came or went (`StratumUpdate.leaps`).
"""

from __future__ import annotations

from triplestore.maintenance.dred_c_mod import dred_c_mod
from triplestore.maintenance.seminaive import insert
from triplestore.maintenance.steps.protocol import Facts, Steps
from triplestore.maintenance.steps.stratum import Strategy, StratumUpdate


def dred_c(steps: Steps[Facts]) -> None:
    """Bring one stratum up to date."""
    lost = steps.unsupported(steps.touched())  # 74 to 78, 80: what of N_D has C_nr = 0
    while lost:  # 79, 81
        lost = steps.drop_unsupported(lost)  # 82 to 84, 80: what was derived with it
    again = steps.rederived(steps.dropped())  # 70: R, the facts with C_r > 0
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
        return self.name, "dred_c_mod: closures that others go through"

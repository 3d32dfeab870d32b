"""FBF^c and B/F^c: look for proofs before facts are deleted, but read C_nr first.

B/F^c is thesis, algorithm 5, lines 99 to 101, for one stratum. Misprints of lines 105 and 137 are
corrected: the former subtracts with multiplicities, the latter fires recursive rules. FBF^c is the
generalisation that the thesis leaves as future work: B/F^c that may give up on a proof. If it
always gives up, with C_r, it is DRed^c; if it never gives up, it is B/F^c.

Ours deviates as FBF does (see `fbf`). Facts that were deleted because their search was given up are
rederived by C_r, or else by backward evaluation of recursive rules: C_nr = 0 says that no other
rule derives them.
"""

from __future__ import annotations

from triplestore.maintenance.fbf import FBF
from triplestore.maintenance.search.give_up import NEVER, Abort
from triplestore.maintenance.seminaive import insert
from triplestore.maintenance.steps.protocol import Facts, Steps
from triplestore.maintenance.steps.stratum import StratumUpdate


def fbf_c(steps: Steps[Facts], abort: Abort | None) -> None:
    """Bring one stratum up to date."""
    lost = steps.touched()  # 104 to 107: N_D; C_nr goes down
    if not lost:
        return insert(steps)
    search = steps.search(True, abort)
    while lost := search.unproved(lost):  # 108 to 113: the checked facts of N_D that are not proved
        lost = steps.drop(lost)  # 114, 115: N_D is what recursive rules derived with it
    again = steps.bring_back(search.proved_late())  # of FBF, as in `fbf`
    rest = steps.rederived(search.unknown())
    return insert(steps, again, rest)  # 101


class FBFC(FBF):
    """FBF with C_nr: see `FBF`."""

    name = "fbf_c"

    def maintain(self, update: StratumUpdate) -> None:
        """Run the algorithm itself."""
        fbf_c(update, self.abort)


class BFC(FBFC):
    """B/F^c: FBF^c that never gives up."""

    name = "bf_c"

    def __init__(self) -> None:
        super().__init__(NEVER)

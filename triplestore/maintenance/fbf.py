"""FBF and B/F: look for proofs before facts are deleted.

*Revisited*, algorithm 5, lines 61 to 65, for one stratum; B/F is FBF that never aborts (thesis,
algorithm 3), and FBF that always aborts is DRed. CHECK and SATURATE (lines 77 to 95) are the
search: `search/proof_search` over columns, `tests/reference/search` over sets.

Ours deviates in the search, not in the driver. Many facts are searched for at the same time. The
consequences of proved facts are found from remembered instances, not by running rules forward (see
`search/proof_search`).
"""

from __future__ import annotations

from triplestore.maintenance.dred_c import DRedC
from triplestore.maintenance.search.give_up import NEVER, Abort
from triplestore.maintenance.seminaive import insert
from triplestore.maintenance.steps.protocol import Facts, Steps
from triplestore.maintenance.steps.stratum import Strategy, StratumUpdate


def fbf(steps: Steps[Facts], abort: Abort | None) -> None:
    """Bring one stratum up to date."""
    lost = steps.touched()  # 68: N_D, from E- and lower strata
    if not lost:
        return insert(steps)
    search = steps.search(False, abort)
    while lost := search.unproved(lost):  # 69 to 74: the checked facts of N_D that are not proved
        lost = steps.drop(lost)  # 75, 76: N_D is what recursive rules derived with it
    again = steps.bring_back(search.proved_late())  # 63
    rest = steps.remaining(search.unknown())  # 64: R, explicit or derived in one step
    return insert(steps, again, rest)  # 65


class FBF(Strategy):
    """Delete the facts for which no proof was found; then insert.

    abort  when to give up; None for the default of the search
    """

    name = "fbf"

    def __init__(self, abort: Abort | None = None) -> None:
        self.abort = abort

    def run(self, update: StratumUpdate) -> tuple[str, str]:
        """See `Strategy.run`."""
        if update.reads_large():  # a search looks facts up in runs, which would have to be made
            DRedC().run(update)
            return self.name, "dred_c: a closure is too large to be searched backwards"
        self.maintain(update)
        return self.name, ""

    def maintain(self, update: StratumUpdate) -> None:
        """Run the algorithm itself."""
        fbf(update, self.abort)


class BF(FBF):
    """B/F: FBF that never gives up."""

    name = "bf"

    def __init__(self) -> None:
        super().__init__(NEVER)

"""DRed: overdelete, rederive in one step, insert.

*Revisited*, algorithm 4, and thesis, algorithm 2; line numbers are those of *revisited*. This is
one stratum, lines 41 to 43; `mat_mod` goes through the strata (line 40).

Ours deviates in two ways. A is kept apart from I and D, as the end of section 6.2 of *revisited*
says; so `gone` is D - A and `added` is A - D. And C_nr is maintained as well, because other
algorithms may be used in the next update. DRed reads it only for conclusions of aggregates.
"""

from __future__ import annotations

from triplestore.maintenance.seminaive import insert
from triplestore.maintenance.steps.protocol import Facts, Steps
from triplestore.maintenance.steps.stratum import Strategy, StratumUpdate


def dred(steps: Steps[Facts]) -> None:
    """Bring one stratum up to date."""
    lost = steps.touched()  # 46: N_D, from E- and lower strata
    while lost:  # 47 to 49: what of N_D is not in D
        lost = steps.drop(lost)  # 50, 51: N_D is what recursive rules derived with it
    again = steps.remaining(steps.dropped())  # 42: R, explicit or derived in one step
    insert(steps, again)  # 43


class DRed(Strategy):
    """Overdelete, rederive in one step, insert."""

    name = "dred"

    def run(self, update: StratumUpdate) -> tuple[str, str]:
        """See `Strategy.run`."""
        dred(update)
        return self.name, ""

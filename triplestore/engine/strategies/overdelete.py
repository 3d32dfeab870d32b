"""DRed and DRed^c: take away all that may be lost, then bring back what still follows.

DRed looks for one derivation of each fact that was taken away, backwards; DRed^c takes away only
facts without a nonrecursive derivation, and knows from the recursive counters which come back.
"""

from __future__ import annotations

from triplestore.engine.sets.keys import Batch
from triplestore.engine.strategies.backward import derivable
from triplestore.engine.strategies.recursive import rederived
from triplestore.engine.stratum import Strategy, StratumUpdate
from triplestore.engine.work import united


class DRed(Strategy):
    """Overdelete, rederive in one step, insert."""

    name = "dred"

    def run(self, update: StratumUpdate) -> tuple[str, str]:
        """See `Strategy.run`."""
        work = update.work
        lost = update.touched()
        while lost:
            lost = update.drop(lost)
        dropped = update.dropped()
        stated = work.filter(dropped, work.stated)
        rest = work.filter(dropped, lambda name, keys: ~work.stated(name, keys))
        update.insert(united(stated, derivable(update, rest, "rederivation")))
        return self.name, ""


class DRedCounting(Strategy):
    """Overdelete what has no nonrecursive derivation, bring back what has a recursive one.

    Without a table of recursive counters, these derivations are looked for backwards.
    """

    name = "dredc"

    def run(self, update: StratumUpdate) -> tuple[str, str]:
        """See `Strategy.run`."""
        lost = unsupported(update, update.touched())
        while lost:
            lost = unsupported(update, update.drop(lost))
        dropped = update.dropped()
        update.insert(rederived(update, dropped) if dropped and update.task.recursive else {})
        return self.name, ""


def unsupported(update: StratumUpdate, batch: Batch) -> Batch:
    """The facts without a nonrecursive derivation."""
    work = update.work
    return work.filter(batch, lambda name, keys: ~work.supported(name, keys))

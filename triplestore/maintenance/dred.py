"""DRed and DRed^c: take away all that may be lost, then bring back what still follows.

DRed looks for one derivation of each fact that was taken away, backwards; DRed^c takes away only
facts without a nonrecursive derivation, and knows from the recursive counters which come back.
"""

from __future__ import annotations

from collections.abc import Callable

from triplestore.maintenance.modules.leaping import Leaps
from triplestore.maintenance.steps.many_rounds import Climb
from triplestore.maintenance.steps.recursive_tables import rederived
from triplestore.maintenance.steps.rederive import derivable, derivable_keys, remaining
from triplestore.maintenance.steps.stratum import Strategy, StratumUpdate
from triplestore.relations.facts.fact_sets import Batch, RelationKey
from triplestore.relations.packed_keys import U64, Bools
from triplestore.rules.families import Family


class DRed(Strategy):
    """Overdelete, rederive in one step, insert."""

    name = "dred"

    def run(self, update: StratumUpdate) -> tuple[str, str]:
        """See `Strategy.run`."""
        lost = update.touched()
        while lost:
            lost = update.drop(lost)
        update.insert(remaining(update, update.dropped()))
        return self.name, ""


class DRedCounting(Strategy):
    """Overdelete what has no nonrecursive derivation, bring back what has a recursive one.

    Without a table of recursive counters, these derivations are looked for backwards.
    """

    name = "dredc"

    def __init__(self, reached: Callable[[str, Batch], None] | None = None) -> None:
        self._reached = reached or (lambda step, batch: None)
        """To be called with the facts that each round of deletion is about to drop, when everything
        is deleted, and when it is known what comes back."""

    def run(self, update: StratumUpdate) -> tuple[str, str]:
        """See `Strategy.run`."""
        leaps = update.leaps()
        if leaps is not None:
            _leaping(update, leaps)
            return self.name, "closures that others go through"
        lost = unsupported(update, update.touched())
        climb = Climb(update.work, [update.kept.own])
        while lost:
            self._reached("deletion", lost)
            also, rest = update.descend(update.drop(lost), climb)
            if also:
                self._reached("deletion", also)
            lost = unsupported(update, rest)
        self._reached("deleted", lost)
        dropped = update.dropped()
        again = rederived(update, dropped) if dropped and update.task.recursive else {}
        self._reached("rederived", again)
        update.insert(again)
        return self.name, ""


def _leaping(update: StratumUpdate, leaps: Leaps) -> None:
    """The same where transitive rules are followed by closures (see `leaping`)."""
    work = update.work

    def derived(name: RelationKey, keys: U64, but: frozenset[Family]) -> Bools:
        def wanted(family: Family) -> bool:
            return family.recursive and family not in but

        return derivable_keys(update, name, keys, "leaps", wanted, work.old())

    leaps.begin(derived)
    touched = update.touched()
    leaps.take_back(touched)
    lost = leaps.doubt(touched)
    while lost:
        lost = leaps.doubt(update.drop_by(lost, leaps.families))
    leaps.keep()
    rest = work.filter(update.dropped(), work.gone.contains)
    others = leaps.families
    update.insert(
        derivable(update, rest, "rederivation", lambda one: one.recursive and one not in others)
    )


def unsupported(update: StratumUpdate, batch: Batch) -> Batch:
    """The facts without a nonrecursive derivation."""
    work = update.work
    return work.filter(batch, lambda name, keys: ~work.supported(name, keys))

"""DRed: delete whatever may depend on a deleted fact, put back what has another derivation.

*Revisited*, algorithm 4: in each stratum overdeletion, one-step rederivation, insertion. I, the old
materialisation, is looked at until the end; D and A accumulate over the strata.
"""

from __future__ import annotations

from collections.abc import Iterable

from tests.reference.facts import Fact, Order, by_predicate
from tests.reference.report import Report
from tests.reference.rules import Level
from tests.reference.state import Materialisation, Update, heads


def dred(
    state: Materialisation,
    deletions: Iterable[Fact] = (),
    additions: Iterable[Fact] = (),
    *,
    order: Order = by_predicate,
) -> Report:
    """Maintain a materialisation by DRed; its counters and trace are lost.

    order  in which instances are tried when one is enough to rederive a fact
    """
    update = Update(state, deletions, additions, order)
    for level in update.strata():
        _overdelete(update, level)
        rederived = _rederived(update, level)
        update.report.rederived |= rederived
        update.insert(level, rederived | update.of(level, update.asserted))
    state.counters = state.trace = None
    return update.finish()


def _overdelete(update: Update, level: Level) -> None:
    """Semi-naive evaluation of what depends on D: the latest are still in the set they join."""
    old = update.old
    lower = (update.gone, update.came)
    doubtful = update.of(level, update.removed)
    doubtful |= heads(update.considered("overdelete lower", level.rules, old, old, lower))
    while True:
        latest = doubtful - update.deleted
        if not latest:
            return
        doubtful = heads(
            update.considered(
                "overdelete", level.recursive, update.survives, update.either, (latest, ())
            )
        )
        update.deleted |= latest


def _rederived(update: Update, level: Level) -> set[Fact]:
    """The overdeleted facts that are still explicit, or follow in one step from what survives."""
    return {
        fact
        for fact in update.order(update.of(level, update.deleted))
        if update.stays_explicit(fact) or update.is_derived("rederive", level.rules, fact)
    }

"""FBF and B/F: before a fact is deleted, a search looks whether it still holds.

*Revisited*, algorithm 5. FBF stops searching where a strategy says so, and rederives facts that it
deleted without having searched to the end. B/F never stops (*thesis*, algorithm 3), so its deletion
is exact.
"""

from __future__ import annotations

from collections.abc import Iterable

from tests.reference.facts import Fact, Order, by_predicate
from tests.reference.report import Report
from tests.reference.rules import Level
from tests.reference.search import Abort, Search, never
from tests.reference.state import Materialisation, Update, heads


def fbf(
    state: Materialisation,
    deletions: Iterable[Fact] = (),
    additions: Iterable[Fact] = (),
    *,
    abort: Abort = never,
    order: Order = by_predicate,
) -> Report:
    """Maintain a materialisation by FBF; its counters and trace are lost.

    abort  where the search is given up: `never`, `always`, `deeper_than(n)`, `after(n)`, ...
    order  in which facts to delete, and instances that could prove them, are tried
    """
    update = Update(state, deletions, additions, order)
    for level in update.strata():
        search = _delete_unproved(update, level, abort)
        update.add(search.blocked & search.proved & update.deleted)
        rederived = _rederived(update, level, search)
        update.report.rederived |= rederived
        update.insert(level, rederived | update.of(level, update.asserted))
    state.counters = state.trace = None
    return update.finish()


def bf(
    state: Materialisation,
    deletions: Iterable[Fact] = (),
    additions: Iterable[Fact] = (),
    *,
    order: Order = by_predicate,
) -> Report:
    """Maintain a materialisation by B/F: FBF whose search is never given up."""
    return fbf(state, deletions, additions, abort=never, order=order)


def _delete_unproved(update: Update, level: Level, abort: Abort) -> Search:
    def has_proof(fact: Fact) -> bool:
        return update.stays_explicit(fact) or update.is_derived(
            "prove nonrecursive", level.nonrecursive, fact
        )

    search = Search(update, level, has_proof, abort)
    lower = update.considered(
        "overdelete lower", level.rules, update.old, update.old, (update.gone, update.came)
    )
    doubtful = update.of(level, update.removed) | heads(lower)
    while latest := unproved(update, search, doubtful):
        doubtful = heads(
            update.considered(
                "overdelete", level.recursive, update.survives, update.either, (latest, ())
            )
        )
        update.deleted |= latest
    search.write_down()
    return search


def unproved(update: Update, search: Search, doubtful: Iterable[Fact]) -> set[Fact]:
    """The facts among these that are deleted next: each is checked, and was not proved then.

    While they are found they are already doomed: later checks need not look at them.
    """
    search.doomed = set()
    for fact in update.order(set(doubtful) - update.deleted):
        search.check(fact)
        if fact not in search.proved:
            search.doomed.add(fact)
    return search.doomed


def _rederived(update: Update, level: Level, search: Search) -> set[Fact]:
    """The deleted facts whose search was given up, and that follow in one step nevertheless."""
    unknown = (search.blocked & update.deleted) - search.proved
    return {
        fact
        for fact in update.order(unknown)
        if update.stays_explicit(fact)
        or fact in search.delayed
        or update.is_derived("rederive", level.rules, fact)
    }

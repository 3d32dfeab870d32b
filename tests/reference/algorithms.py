"""The papers' algorithms on a `Materialisation`: the drivers of production, over sets.

A function is the loop over strata of its algorithm; what is done in a stratum is the text in
`triplestore/maintenance`. Recursive counting is written down apart (`counting`).

In FBF^c what was deleted without having been searched to the end is rederived if C_r says so;
without C_r, if a recursive rule derives it from what survives. Given up always, with C_r, it
considers the instances of DRed^c; given up never, without C_r, those of B/F^c.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tests.reference.facts import Fact, Order, by_predicate
from tests.reference.report import Report
from tests.reference.search import Abort, never
from tests.reference.state import Counters, Materialisation, Update
from tests.reference.steps import CountedSteps, SetSteps
from triplestore.maintenance import dred as dred_driver
from triplestore.maintenance import dred_c as dred_c_driver
from triplestore.maintenance import fbf as fbf_driver
from triplestore.maintenance import fbf_c as fbf_c_driver

Facts = Iterable[Fact]


def dred(
    state: Materialisation,
    deletions: Facts = (),
    additions: Facts = (),
    *,
    order: Order = by_predicate,
) -> Report:
    """Maintain a materialisation by DRed; its counters and trace are lost.

    order  in which instances are tried when one is enough to rederive a fact
    """
    update = Update(state, deletions, additions, order)
    for level in update.strata():
        dred_driver.dred(SetSteps(update, level))
    return _uncounted(update)


def fbf(
    state: Materialisation,
    deletions: Facts = (),
    additions: Facts = (),
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
        fbf_driver.fbf(SetSteps(update, level, abort), None)
    return _uncounted(update)


def bf(
    state: Materialisation,
    deletions: Facts = (),
    additions: Facts = (),
    *,
    order: Order = by_predicate,
) -> Report:
    """Maintain a materialisation by B/F: FBF whose search is never given up."""
    return fbf(state, deletions, additions, abort=never, order=order)


def dred_c(state: Materialisation, deletions: Facts = (), additions: Facts = ()) -> Report:
    """Maintain a materialisation and both counters by DRed^c; its trace is lost."""
    update = Update(state, deletions, additions, by_predicate)
    counters = state.count()
    for level in update.strata():
        dred_c_driver.dred_c(CountedSteps(update, level, counters))
    return _counted(update, counters)


def fbf_c(
    state: Materialisation,
    deletions: Facts = (),
    additions: Facts = (),
    *,
    abort: Abort = never,
    recursive: bool = True,
    order: Order = by_predicate,
) -> Report:
    """Maintain a materialisation and its counters by FBF^c; its trace is lost.

    abort      where the search is given up
    recursive  whether C_r is used and maintained; without, it is lost
    """
    counters = state.counters if state.counters and not recursive else state.count()
    if not recursive:
        counters.recursive = None
    update = Update(state, deletions, additions, order)
    for level in update.strata():
        fbf_c_driver.fbf_c(CountedSteps(update, level, counters, abort), None)
    return _counted(update, counters)


def bf_c(
    state: Materialisation,
    deletions: Facts = (),
    additions: Facts = (),
    *,
    order: Order = by_predicate,
) -> Report:
    """Maintain a materialisation and C_nr by B/F^c; C_r and the trace are lost."""
    return fbf_c(state, deletions, additions, abort=never, recursive=False, order=order)


def _uncounted(update: Update) -> Report:
    update.state.counters = update.state.trace = None
    return update.finish()


def _counted(update: Update, counters: Counters) -> Report:
    report = update.finish()
    for counter in (counters.nonrecursive, counters.recursive or Counter()):
        for fact in [fact for fact, count in counter.items() if not count]:
            del counter[fact]
    update.state.counters, update.state.trace = counters, None
    return report

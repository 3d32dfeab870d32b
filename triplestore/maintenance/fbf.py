"""B/F, FBF and their forms with counters: look for proofs before facts are taken away.

Start reading at `ForwardBackward`. The four strategies are one: with or without the nonrecursive
counters, and with an `Abort` that says when to give up on a proof. What was taken away because its
check was aborted comes back as DRed's facts do. Giving up always is DRed, or DRed^c; never is B/F,
or B/F^c.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from triplestore.maintenance.dred import DRedCounting
from triplestore.maintenance.search.checked_facts import PROVED
from triplestore.maintenance.search.give_up import NEVER, Abort
from triplestore.maintenance.search.kernel_search import new_search
from triplestore.maintenance.search.proof_search import Search, Test
from triplestore.maintenance.steps.recursive_tables import rederived
from triplestore.maintenance.steps.rederive import derivable_keys, remaining
from triplestore.maintenance.steps.stratum import Strategy, StratumUpdate
from triplestore.maintenance.update_state import united
from triplestore.relations.facts.fact_sets import Batch, RelationKey
from triplestore.relations.packed_keys import Bools, Keys


class ForwardBackward(Strategy):
    """Take away what has no proof any more, and what it was too long to look for; insert.

    counted  the nonrecursive counters say which facts follow without a recursive rule; else
             nonrecursive rules are evaluated backwards
    abort    when to give up; None for what fits the search
    watch    to be called after each round of the search
    """

    def __init__(
        self,
        name: str,
        counted: bool,
        abort: Abort | None,
        watch: Callable[[Search], None] | None = None,
    ) -> None:
        self.name = name
        self.counted = counted
        self.abort = abort
        self.watch = watch

    def run(self, update: StratumUpdate) -> tuple[str, str]:
        """See `Strategy.run`."""
        if update.reads_large():  # it looks facts up in runs, which would have to be made
            DRedCounting().run(update)
            return self.name, "dredc: a closure is too large to be searched backwards"
        search: Search | None = None
        lost = update.touched()
        while lost:
            if search is None:
                search = new_search(update, self._test(update), self.abort, self.counted)
                search.watch = self.watch or search.watch
            lost = search.settle(lost)
            if lost:
                lost = update.drop(lost)
        update.insert({} if search is None else self._again(update, search))
        return self.name, ""

    def _test(self, update: StratumUpdate) -> Test:
        work = update.work
        if self.counted:
            return work.supported

        summarised = {family.head.relation for family in update.kept.aggregating}

        def follows(name: RelationKey, keys: Keys) -> Bools:
            if name in summarised:  # groups were computed already; see `remaining`
                return work.supported(name, keys)
            found = work.stated(name, keys)
            rest = np.flatnonzero(~found)
            if len(rest):
                found[rest] = derivable_keys(
                    update, name, keys[rest], "saturation", lambda family: not family.recursive
                )
            return found

        return follows

    def _again(self, update: StratumUpdate, search: Search) -> Batch:
        """What was taken away because its check was aborted, and follows after all."""
        if not search.dropped_blocked:
            return {}
        work, facts = update.work, search.facts
        numbers = np.concatenate(search.dropped_blocked)
        proved = facts.has(numbers, PROVED)
        again = facts.batch(numbers[proved])
        if work.recursive is None:  # nothing that follows from these is missing
            for name, keys in again.items():
                work.gone.discard(name, keys)
            again = {}  # else, what was counted down must be counted up
        rest = facts.batch(numbers[~proved])
        if self.counted:
            return united(again, rederived(update, rest))
        return united(again, remaining(update, rest))


def bf() -> ForwardBackward:
    """B/F: FBF that never gives up."""
    return ForwardBackward("bf", False, NEVER)


def fbf(abort: Abort | None = None) -> ForwardBackward:
    """FBF."""
    return ForwardBackward("fbf", False, abort)


def bfc(watch: Callable[[Search], None] | None = None) -> ForwardBackward:
    """B/F^c."""
    return ForwardBackward("bfc", True, NEVER, watch)


def fbfc(abort: Abort | None = None) -> ForwardBackward:
    """FBF with nonrecursive counters."""
    return ForwardBackward("fbfc", True, abort)

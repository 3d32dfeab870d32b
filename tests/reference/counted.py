"""DRed^c, B/F^c and FBF^c: deletion that looks at counters before it looks at rules.

A fact with a nonrecursive derivation left (C_nr > 0) is never deleted; explicit facts have one
more. DRed^c (*thesis*, algorithm 4) also keeps C_r, the number of recursive derivations: what is
left of it after overdeletion says what to rederive, without evaluating a rule backwards. B/F^c
(*thesis*, algorithm 5, with lines 105 and 137 corrected) searches as B/F does, but evaluates
recursive rules backwards only, and keeps no C_r.

FBF^c is their generalisation, which the thesis leaves as future work: the search of B/F^c, given up
where a strategy says so. What was deleted without having been searched to the end is rederived if
C_r says so; without C_r, if a recursive rule derives it from what survives. Given up always, with
C_r, it considers the instances of DRed^c; given up never, without C_r, those of B/F^c.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tests.reference.facts import Fact, Order, by_predicate
from tests.reference.fbf import unproved
from tests.reference.matching import Changes, Instance, Test
from tests.reference.report import Phase, Report
from tests.reference.rules import Level
from tests.reference.search import Abort, Search, never
from tests.reference.state import Counters, Materialisation, Update, heads


def dred_c(
    state: Materialisation,
    deletions: Iterable[Fact] = (),
    additions: Iterable[Fact] = (),
) -> Report:
    """Maintain a materialisation and both counters by DRed^c; its trace is lost."""
    update = CountedUpdate(state, deletions, additions, by_predicate, state.count())
    for level in update.strata():
        doubtful = update.uncount_lower(level)
        while True:
            latest = {fact for fact in doubtful - update.deleted if not update.is_counted(fact)}
            if not latest:
                break
            doubtful |= update.uncount(level, latest)
        update.note_counters()
        rederived = {
            fact for fact in update.of(level, update.deleted) if update.counters.pair(fact)[1] > 0
        }
        update.report.rederived |= rederived
        update.insert(level, rederived | update.of(level, update.asserted))
    return update.finish()


def bf_c(
    state: Materialisation,
    deletions: Iterable[Fact] = (),
    additions: Iterable[Fact] = (),
    *,
    order: Order = by_predicate,
) -> Report:
    """Maintain a materialisation and C_nr by B/F^c; C_r and the trace are lost."""
    return fbf_c(state, deletions, additions, abort=never, recursive=False, order=order)


def fbf_c(
    state: Materialisation,
    deletions: Iterable[Fact] = (),
    additions: Iterable[Fact] = (),
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
    update = CountedUpdate(state, deletions, additions, order, counters)
    for level in update.strata():
        search = Search(update, level, update.is_counted, abort)
        doubtful = update.uncount_lower(level)
        while True:
            doomed = unproved(update, search, doubtful)
            # A branch given up at a fact with C_nr > 0 leaves it unproved, but it does hold.
            doomed -= {fact for fact in doomed if update.is_counted(fact)}
            if not doomed:
                break
            doubtful = update.uncount(level, doomed)
        search.write_down()
        update.note_counters()
        rederived = _rederived(update, level, search)
        update.report.rederived |= rederived
        update.insert(level, rederived | update.of(level, update.asserted))
    return update.finish()


def _rederived(update: CountedUpdate, level: Level, search: Search) -> set[Fact]:
    """The facts that were deleted although they hold: their search had been given up.

    Those that were proved later go into A at once, so that the instances that proved them are not
    considered again. But with C_r they are inserted like all others: their own instances were
    subtracted from it, and have to be added again.
    """
    blocked = search.blocked & update.deleted
    proved = blocked & search.proved
    if update.counters.recursive is None:
        update.add(proved)
        proved = set()
    found = set(proved)
    for fact in update.order(blocked - search.proved):
        if update.counters.recursive is not None:
            holds = update.counters.recursive[fact] > 0
        else:
            holds = fact in search.delayed or update.is_derived("rederive", level.recursive, fact)
        if holds:
            found.add(fact)
    return found


class CountedUpdate(Update):
    """An update that counts the instances it considers, up in insertion and down before."""

    def __init__(
        self,
        state: Materialisation,
        deletions: Iterable[Fact],
        additions: Iterable[Fact],
        order: Order,
        counters: Counters,
    ) -> None:
        super().__init__(state, deletions, additions, order)
        self.counters = counters
        self._touched: set[Fact] = set()

    def is_counted(self, fact: Fact) -> bool:
        """Whether a fact has a nonrecursive derivation, or is explicit."""
        return self.counters.nonrecursive[fact] > 0

    def uncount_lower(self, level: Level) -> set[Fact]:
        """Subtract what deletions and lower strata take away; the facts that lost something."""
        lost = self.of(level, self.removed)
        self._count(self.counters.nonrecursive, lost, -1)
        lower = (self.gone, self.came)
        return lost | self._counted(
            "overdelete lower", level, self.old, self.old, lower, -1, nonrecursive=True
        )

    def uncount(self, level: Level, latest: set[Fact]) -> set[Fact]:
        """Delete facts, and subtract the recursive instances that used them; their heads."""
        changes = (latest, ())
        heads_ = self._counted("overdelete", level, self.survives, self.either, changes, -1)
        self.deleted |= latest
        return heads_

    def insert(self, level: Level, start: Iterable[Fact]) -> None:
        """As without counters, but what is considered is added to them."""
        new = set(start)
        self._count(self.counters.nonrecursive, self.of(level, self.asserted), 1)
        lower = (self.came, self.gone)
        new |= self._counted("insert lower", level, self.now, self.now, lower, 1, nonrecursive=True)
        while latest := {fact for fact in new if not self.now(fact)}:
            self.add(latest)
            new = self._counted("insert", level, self.now, self.now, (latest, ()), 1)

    def _counted(
        self,
        phase: Phase,
        level: Level,
        positive: Test,
        negative: Test,
        changes: Changes,
        by: int,
        nonrecursive: bool = False,
    ) -> set[Fact]:
        """The heads of recursive instances (and of nonrecursive ones), which are counted."""
        found: list[Instance] = []
        if nonrecursive:
            found = self.considered(phase, level.nonrecursive, positive, negative, changes)
            self._count(self.counters.nonrecursive, [one.head for one in found], by)
        more = self.considered(phase, level.recursive, positive, negative, changes)
        if self.counters.recursive is not None:
            self._count(self.counters.recursive, [one.head for one in more], by)
        return heads(found) | heads(more)

    def _count(self, counter: Counter[Fact], facts: Iterable[Fact], by: int) -> None:
        for fact in facts:
            counter[fact] += by
            if counter[fact] < 0:
                raise AssertionError(f"a derivation of {fact} was subtracted twice")
            if by < 0:
                self._touched.add(fact)

    def note_counters(self) -> None:
        """Put the counters into the report, as they are after the deletions of a stratum."""
        for fact in self._touched:
            self.report.after_deletion[fact] = self.counters.pair(fact)
        self._touched.clear()

    def finish(self) -> Report:
        """The new state, with the counters of it."""
        report = super().finish()
        for counter in (self.counters.nonrecursive, self.counters.recursive or Counter()):
            for fact in [fact for fact, count in counter.items() if not count]:
                del counter[fact]
        self.state.counters, self.state.trace = self.counters, None
        return report

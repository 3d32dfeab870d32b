"""The steps of `maintenance/steps/protocol` over Python sets, one fact at a time.

Start at `SetSteps`: with it, the drivers of production run on what `state` and `search` know. Each
step considers the instances of its lines in the papers, and writes them into the report.
`CountedSteps` also counts them. What is always true: D and A are those of the update, and the views
of the stratum are made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tests.reference.facts import Fact
from tests.reference.matching import Changes, Instance, Test
from tests.reference.report import Phase
from tests.reference.rules import Level
from tests.reference.search import Abort, Search
from tests.reference.state import Counters, Update, heads


class SetSteps:
    """One stratum of an update, without counters.

    abort  where searches are given up
    """

    def __init__(self, update: Update, level: Level, abort: Abort | None = None) -> None:
        self.update = update
        self.level = level
        self.abort = abort
        self._search: SetSearch | None = None

    # -- what is lost ----------------------------------------------------------------------------

    def touched(self) -> set[Fact]:
        """See `Steps.touched`."""
        update = self.update
        lower = (update.gone, update.came)
        found = update.considered(
            "overdelete lower", self.level.rules, update.old, update.old, lower
        )
        return update.of(self.level, update.removed) | heads(found)

    def drop(self, facts: set[Fact]) -> set[Fact]:
        """See `Steps.drop`."""
        update = self.update
        found = update.considered(
            "overdelete", self.level.recursive, update.survives, update.either, (facts, ())
        )
        update.deleted |= facts
        return heads(found) - update.deleted

    def unsupported(self, facts: set[Fact]) -> set[Fact]:
        """See `Steps.unsupported`."""
        raise AssertionError("only drivers with counters take this step: see `CountedSteps`")

    def drop_unsupported(self, facts: set[Fact]) -> set[Fact]:
        """See `Steps.drop_unsupported`."""
        return self.unsupported(self.drop(facts))

    def dropped(self) -> set[Fact]:
        """See `Steps.dropped`."""
        return self.update.of(self.level, self.update.deleted)

    # -- what holds again ------------------------------------------------------------------------

    def remaining(self, facts: set[Fact]) -> set[Fact]:
        """See `Steps.remaining`; what follows from proved facts is in Y."""
        update = self.update
        delayed = set() if self._search is None else self._search.search.delayed
        found = {
            fact
            for fact in update.order(facts)
            if update.stays_explicit(fact)
            or fact in delayed
            or update.is_derived("rederive", self.level.rules, fact)
        }
        update.report.rederived |= found
        return found

    def rederived(self, facts: set[Fact]) -> set[Fact]:
        """See `Steps.rederived`."""
        raise AssertionError("only drivers with counters take this step: see `CountedSteps`")

    def search(self, counted: bool, abort: object) -> SetSearch:
        """See `Steps.search`; it is given up where these steps say."""
        assert self.abort is not None
        self._search = SetSearch(self, Search(self.update, self.level, self.has_proof, self.abort))
        return self._search

    def has_proof(self, fact: Fact) -> bool:
        """Whether a fact follows without a recursive rule."""
        update = self.update
        return update.stays_explicit(fact) or update.is_derived(
            "prove nonrecursive", self.level.nonrecursive, fact
        )

    def bring_back(self, facts: set[Fact]) -> set[Fact]:
        """See `Steps.bring_back`."""
        self.update.add(facts)
        return set()

    # -- what is gained --------------------------------------------------------------------------

    def begin_insertion(self, *again: set[Fact]) -> set[Fact]:
        """See `Steps.begin_insertion`."""
        update = self.update
        found = set().union(*again, update.of(self.level, update.asserted))
        lower = (update.came, update.gone)
        return found | heads(
            update.considered("insert lower", self.level.rules, update.now, update.now, lower)
        )

    def coming(self, facts: set[Fact]) -> set[Fact] | None:
        """See `Steps.coming`."""
        return {fact for fact in facts if not self.update.now(fact)} or None

    def add(self, facts: set[Fact]) -> set[Fact]:
        """See `Steps.add`."""
        update = self.update
        update.add(facts)
        return heads(
            update.considered("insert", self.level.recursive, update.now, update.now, (facts, ()))
        )


class SetSearch:
    """A search as the drivers know it."""

    def __init__(self, steps: SetSteps, search: Search) -> None:
        self.steps = steps
        self.search = search

    def unproved(self, facts: set[Fact]) -> set[Fact]:
        """See `ProofSearch.unproved`. While facts are found they are already doomed: later checks
        need not look at them."""
        steps, search = self.steps, self.search
        search.doomed = set()
        for fact in steps.update.order(set(facts) - steps.update.deleted):
            search.check(fact)
            if fact not in search.proved:
                search.doomed.add(fact)
        return search.doomed

    def proved_late(self) -> set[Fact]:
        """See `ProofSearch.proved_late`."""
        self.search.write_down()
        return self._blocked() & self.search.proved

    def unknown(self) -> set[Fact]:
        """See `ProofSearch.unknown`."""
        return self._blocked() - self.search.proved

    def _blocked(self) -> set[Fact]:
        return self.search.blocked & self.steps.update.deleted


class CountedSteps(SetSteps):
    """One stratum of an update, with C_nr, and with C_r if it is kept."""

    def __init__(
        self, update: Update, level: Level, counters: Counters, abort: Abort | None = None
    ) -> None:
        super().__init__(update, level, abort)
        self.counters = counters
        self._touched: set[Fact] = set()

    def is_counted(self, fact: Fact) -> bool:
        """Whether a fact has a nonrecursive derivation, or is explicit."""
        return self.counters.nonrecursive[fact] > 0

    def has_proof(self, fact: Fact) -> bool:
        """Whether a fact follows without a recursive rule."""
        return self.is_counted(fact)

    def touched(self) -> set[Fact]:
        """See `Steps.touched`."""
        update = self.update
        lost = update.of(self.level, update.removed)
        self._count(self.counters.nonrecursive, lost, -1)
        lower = (update.gone, update.came)
        return lost | self._counted("overdelete lower", update.old, update.old, lower, -1, True)

    def drop(self, facts: set[Fact]) -> set[Fact]:
        """See `Steps.drop`."""
        update = self.update
        found = self._counted("overdelete", update.survives, update.either, (facts, ()), -1)
        update.deleted |= facts
        return found - update.deleted

    def unsupported(self, facts: set[Fact]) -> set[Fact]:
        """See `Steps.unsupported`."""
        return {fact for fact in facts if not self.is_counted(fact)}

    def rederived(self, facts: set[Fact]) -> set[Fact]:
        """See `Steps.rederived`; what follows from proved facts is in Y."""
        update, recursive = self.update, self.counters.recursive
        if recursive is not None:
            found = {fact for fact in facts if recursive[fact] > 0}
        else:
            delayed = set() if self._search is None else self._search.search.delayed
            found = {
                fact
                for fact in update.order(facts)
                if fact in delayed or update.is_derived("rederive", self.level.recursive, fact)
            }
        update.report.rederived |= found
        return found

    def search(self, counted: bool, abort: object) -> SetSearch:
        """See `Steps.search`."""
        found = super().search(counted, abort)
        self._search = CountedSearch(self, found.search)
        return self._search

    def bring_back(self, facts: set[Fact]) -> set[Fact]:
        """See `Steps.bring_back`: the instances of these facts were subtracted from C_r."""
        if self.counters.recursive is None:
            return super().bring_back(facts)
        self.update.report.rederived |= facts
        return facts

    def begin_insertion(self, *again: set[Fact]) -> set[Fact]:
        """See `Steps.begin_insertion`."""
        self._note_counters()
        update = self.update
        asserted = update.of(self.level, update.asserted)
        self._count(self.counters.nonrecursive, asserted, 1)
        lower = (update.came, update.gone)
        found = self._counted("insert lower", update.now, update.now, lower, 1, True)
        return found.union(asserted, *again)

    def add(self, facts: set[Fact]) -> set[Fact]:
        """See `Steps.add`."""
        update = self.update
        update.add(facts)
        return self._counted("insert", update.now, update.now, (facts, ()), 1)

    def _counted(
        self,
        phase: Phase,
        positive: Test,
        negative: Test,
        changes: Changes,
        by: int,
        nonrecursive: bool = False,
    ) -> set[Fact]:
        """The heads of recursive instances (and of nonrecursive ones), which are counted."""
        considered, level = self.update.considered, self.level
        found: list[Instance] = []
        if nonrecursive:
            found = considered(phase, level.nonrecursive, positive, negative, changes)
            self._count(self.counters.nonrecursive, [one.head for one in found], by)
        more = considered(phase, level.recursive, positive, negative, changes)
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

    def _note_counters(self) -> None:
        """Put the counters into the report, as they are after the deletions of the stratum."""
        for fact in self._touched:
            self.update.report.after_deletion[fact] = self.counters.pair(fact)


class CountedSearch(SetSearch):
    """A search that may be given up at a fact with C_nr > 0: it stays unproved, but does hold."""

    def unproved(self, facts: set[Fact]) -> set[Fact]:
        """See `ProofSearch.unproved`."""
        assert isinstance(self.steps, CountedSteps)
        self.search.doomed = self.steps.unsupported(super().unproved(facts))
        return self.search.doomed

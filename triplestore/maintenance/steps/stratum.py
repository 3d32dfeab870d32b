"""One stratum of an update: the steps of the strategies.

Start reading at `StratumUpdate`, which implements the `Steps` of the protocol over columns:
`touched` and `gained` are the papers' first steps of deletion and insertion, `drop` and `add` the
steps of their loops. `firing` evaluates the rules.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Set

from triplestore.evaluate.conclusions import Heads
from triplestore.evaluate.evaluation import Around
from triplestore.maintenance.modules.leaping import Leaps, leaps_of
from triplestore.maintenance.search.give_up import Abort
from triplestore.maintenance.search.kernel_search import new_search
from triplestore.maintenance.search.proof_search import BackwardSearch
from triplestore.maintenance.steps.firing import Firing, Large, blocks_of
from triplestore.maintenance.steps.many_rounds import Climb
from triplestore.maintenance.steps.rederive import derivable, has_proof, remaining
from triplestore.maintenance.steps.regrouping import Regrouped, regroup, summarise_whole
from triplestore.maintenance.steps.stratum_state import StratumState, Task, set_with_large
from triplestore.maintenance.thresholds import MAINTENANCE
from triplestore.maintenance.update_state import Work, united
from triplestore.relations.facts.body_views import Setting
from triplestore.relations.facts.fact_sets import (
    Batch,
    set_of,
    size_of,
)
from triplestore.relations.thresholds import RELATIONS
from triplestore.rules.families import Family
from triplestore.rules.strata import Triggers


class Strategy(ABC):
    """An algorithm that brings a stratum up to date; see `strategies`."""

    name = "none"

    @abstractmethod
    def run(self, update: StratumUpdate) -> tuple[str, str]:
        """Bring the stratum up to date; returns the name of the algorithm, and why it was used."""


class Observer:
    """Is told about the progress of a strategy. It may raise `Overrun`, which ends the strategy."""

    def deletes(self, facts: Batch) -> None:
        """These facts are about to be deleted, or were just deleted."""

    def rederives(self) -> None:
        """Deletion is done; the search for deleted facts that still hold begins."""

    def inserts(self) -> None:
        """That search is done; insertion begins."""

    def searched(self, search: BackwardSearch) -> None:
        """A search for proofs has done one more round."""


UNOBSERVED = Observer()


class StratumUpdate(StratumState):
    """The steps of the strategies for one stratum; see `protocol.Steps`."""

    def __init__(self, work: Work, task: Task) -> None:
        self.observer = UNOBSERVED
        self._firing = Firing(work)
        super().__init__(work, task)

    def begin(self) -> None:
        """Begin, or begin again after `Work.restore`."""
        super().begin()
        self.regrouped: Regrouped | None = None
        self._leaps = self._find_leaps()
        self._climb: Climb | None = None
        self._rounds = 0
        self._first = True
        self._touched: Batch = {}

    # -- deletion --------------------------------------------------------------------------------

    def touched(self) -> Batch:
        """Facts that lost a derivation, or were retracted; their counters are decreased. The
        papers' first step of deletion."""
        work, task = self.work, self.task
        if not (self.kept.families or task.minus or task.lost or task.lost_rec):
            return {}  # all rules are new: saves a twentieth of a millisecond for each stratum
        if not (task.lost or task.lost_rec or self._looks_at(gone=True)):
            self._touched = task.minus
            return task.minus
        lost, lost_rec = task.lost.copied(), task.lost_rec.copied()
        self._regroup()
        if self.regrouped is not None:
            for name, keys in self.regrouped.lost.items():
                lost.put(name, keys)
        old = work.old()
        around = Around(old.without(work.gone), old, old, work.union())
        low = (self.low_gone, self.low_added)
        large = (self.large_gone, self.large_added)
        many = self._from_below(low, large, around, "deletion", -1, (lost, lost_rec))
        nonrecursive = self._firing.count(lost, -1)
        concluded = self._firing.concluded(lost_rec, -1)
        self._touched = united(task.minus, nonrecursive, concluded, many)
        return self._touched

    def _looks_at(self, *, gone: bool) -> bool:
        """Whether changes below may have made rules lose instances, or gain some (`gone` false). In
        a commit of one fact most strata do one of both, or neither."""
        kept = self.kept
        if kept.aggregating:
            return True
        lost, gained = (self.low_gone, self.large_gone), (self.low_added, self.large_added)
        atoms, negated = (lost, gained) if gone else (gained, lost)
        return any(atoms) or (bool(kept.negated) and any(negated))

    def _regroup(self) -> None:
        if not self.kept.aggregating:
            return
        gone = [self.low_gone, *blocks_of(self.large_gone)]
        added = [self.low_added, *blocks_of(self.large_added)]
        if any(gone) or any(added):
            self.regrouped = regroup(self.work, self.kept, gone, added)

    def _from_below(
        self,
        low: tuple[Batch, Batch],
        large: tuple[Large, Large],
        around: Around,
        phase: str,
        sign: int,
        into: tuple[Heads, Heads],
    ) -> Batch:
        """Fire all rules on changes of lower strata: their positive atoms and their negated
        ones. The conclusions from closures that changed in many pairs are counted at once, and
        returned."""
        firing, touched = self._firing, []
        for triggers, batch, many in zip(
            (self.kept.lower, self.kept.negated), low, large, strict=True
        ):
            if batch:
                firing.fire(triggers, batch, around, phase, *into)
            if many:
                touched.append(firing.many(triggers, many, around, phase, sign))
        return united(*touched)

    def drop(self, batch: Batch) -> Batch:
        """Delete facts; returns the facts that recursive rules derived with them and that still
        hold."""
        work = self.work
        found = self.drop_by(batch, frozenset())
        return work.filter(found, lambda name, keys: ~work.gone.contains(name, keys))

    def unsupported(self, batch: Batch) -> Batch:
        """The facts without a nonrecursive derivation."""
        work = self.work
        return work.filter(batch, lambda name, keys: ~work.supported(name, keys))

    def drop_unsupported(self, batch: Batch) -> Batch:
        """Delete facts; returns the facts without a nonrecursive derivation that recursive rules
        derived with them. Rounds of a few small rules over one relation are done together."""
        work = self.work
        self.observer.deletes(batch)
        found = self.drop(batch)
        self._rounds += 1
        if self._rounds >= MAINTENANCE.rounds_before_kernel:
            self._climb = self._climb or Climb(work, [self.kept.own])
            lost, found = self._climb.down(found)
            if lost:
                work.take_away(lost)
                self._all_dropped.append(lost)
                found = work.filter(found, lambda name, keys: ~work.gone.contains(name, keys))
                self.observer.deletes(lost)
        return self.unsupported(found)

    def drop_by(self, batch: Batch, done: Set[Family]) -> Batch:
        """Delete facts; returns what recursive rules derived with them, except the families in
        `done`. The result may have facts that are gone already."""
        work = self.work
        survivors = work.survivors()
        before = survivors.without(set_of(batch))
        heads = self.fire(batch, before, survivors, work.union(), "deletion", done)
        work.take_away(batch)
        self._all_dropped.append(batch)
        work.rounds += 1
        return self._firing.concluded(heads, -1)

    def fire(
        self,
        batch: Batch,
        before: Setting,
        after: Setting,
        nots: Setting,
        phase: str,
        done: Set[Family] = frozenset(),
    ) -> Heads:
        """Fire the recursive rules on facts of this stratum, except the families in `done`."""
        heads = Heads()
        around = Around(before, after, nots, nots)
        self._firing.fire(self.kept.own, batch, around, phase, heads, heads, done)
        return heads

    # -- rederivation ----------------------------------------------------------------------------

    def remaining(self, batch: Batch) -> Batch:
        """The facts that are asserted, or that some rule derives from the surviving facts."""
        return remaining(self.work, self.kept, batch) if batch else batch

    def rederived(self, batch: Batch) -> Batch:
        """The facts that a recursive rule still derives: by the counters, or by backward
        evaluation."""
        self.observer.rederives()
        counters = self.work.recursive
        again: Batch = {}
        if batch and self.task.recursive:
            if counters is not None:
                again = self.work.filter(batch, lambda name, keys: counters.current(name, keys) > 0)
            else:
                again = derivable(self.work, self.kept, batch, "rederivation", is_recursive)
        self.observer.inserts()
        return again

    def search(self, counted: bool, abort: Abort | None) -> BackwardSearch:
        """A search for proofs of facts of this stratum."""
        test = self.work.supported if counted else has_proof(self.work, self.kept)
        search = new_search(self.work, self.kept, self.gone_below(), test, abort, counted)
        search.watch = self.observer.searched
        return search

    def bring_back(self, batch: Batch) -> Batch:
        """Bring back deleted facts that hold after all. Their consequences hold already. But if C_r
        lost their instances, they are returned, to be inserted like others."""
        work = self.work
        if work.recursive is not None:
            return batch
        for name, keys in batch.items():
            work.gone.discard(name, keys)
        return {}

    # -- insertion -------------------------------------------------------------------------------

    def gained(self) -> Batch:
        """Facts that gained a derivation by changes below, or are asserted now; their counters are
        increased. The papers' first step of insertion."""
        work, task = self.work, self.task
        if task.fresh is None and not self._looks_at(gone=False):
            return task.plus
        heads, heads_rec = Heads(), Heads()
        if self.regrouped is not None:
            for name, keys in self.regrouped.gained.items():
                heads.put(name, keys)
        new = work.new()
        before = new.without(set_with_large(self.low_added, self.large_added))
        around = Around(
            before, new, new, work.union()
        )  # facts that are gone are among those that held
        low = (self.low_added, self.low_gone)
        large = (self.large_added, self.large_gone)
        many = self._from_below(low, large, around, "insertion", 1, (heads, heads_rec))
        fresh = self._fresh_nonrecursive(new, heads)
        gained = self._firing.count(heads, 1)
        return united(task.plus, gained, self._firing.concluded(heads_rec, 1), many, fresh)

    def begin_insertion(self, *again: Batch) -> Batch:
        """The asserted facts, what follows from changes below, and deleted facts that must come
        back."""
        work = self.work
        gained = self.gained()
        found = united(*again, gained)
        leaps = self._leaps
        if leaps is not None:
            leaps.gain(united(self._touched, gained))
        self._climb, self._rounds = None, 0
        self._first = bool(found) or self.task.fresh is not None or leaps is not None
        if not self._first:
            work.budget.check()
        return found

    def coming(self, found: Batch) -> Batch | None:
        """The facts that do not hold yet; None if the insertion is over."""
        leaps = self._leaps
        if found or self._first:
            delta = self.work.coming(found)
            if delta or self._first or leaps is not None:
                return delta
        if leaps is not None:
            leaps.end()
        return None

    def add(self, delta: Batch) -> Batch:
        """Add facts that did not hold; returns what recursive rules conclude with them."""
        work, leaps, first = self.work, self._leaps, self._first
        # If new facts are kept apart, atoms before the pivot need not filter them out; but that is
        # one more array to search.
        many = size_of(delta) > RELATIONS.run_keys * len(delta)
        apart = many and leaps is None and not work.come_back(delta)
        if not apart:
            work.admit(delta)
        done: frozenset[Family] = frozenset()
        if leaps is not None:
            delta, done = leaps.follow(delta, first)
        heads = Heads()
        if delta:
            self._all_gained.append(delta)
            work.rounds += 1
            came = set_of(delta)
            before = work.new()
            after = before.beside(came) if apart else before
            before = before if apart else before.without(came)
            heads = self.fire(delta, before, after, after, "insertion", done)
            if not first:
                self._fire_fresh(delta, before, after, heads, done)
            if apart:
                work.admit(delta)
        if first:
            self._fresh_recursive(heads, done)
            self._first = False
        found = self._firing.concluded(heads, 1)
        self._rounds += 1
        if leaps is None and self._rounds >= MAINTENANCE.rounds_before_kernel:
            self._climb = self._climb or Climb(work, self._own())
            new, found = self._climb.up(found)
            if new:
                work.admit(new)
                self._all_gained.append(new)
        return found

    def _own(self) -> list[Triggers]:
        """The triggers of atoms that read facts of this stratum."""
        fresh = self.task.fresh
        return [self.kept.own, *([] if fresh is None else [fresh.own])]

    def leaps(self) -> Leaps | None:
        """Transitive rules that others go through, if deletion may follow them in one step: no
        recursive rule came or went."""
        fresh, task = self.task.fresh, self.task
        if (fresh is not None and fresh.recursive) or task.lost_rec or task.fewer:
            return None
        leaps = self._leaps
        return leaps if leaps is not None and leaps.has_kept() else None

    def _find_leaps(self) -> Leaps | None:
        """Transitive rules to be followed in one step; None where each instance is needed."""
        work, fresh = self.work, self.task.fresh
        if work.recursive is not None or not work.compiled.with_modules:
            return None
        kept = leaps_of(work, self.kept)
        new = {} if fresh is None else leaps_of(work, fresh)
        if kept.keys() == new.keys():
            return None
        return Leaps(work, self.task.number, kept, new)

    def _fresh_nonrecursive(self, new: Setting, heads: Heads) -> Batch:
        """Add the conclusions of new nonrecursive rules; returns those that are counted already."""
        fresh, work = self.task.fresh, self.work
        if fresh is None:
            return {}
        touched = self._firing.whole(fresh.nonrecursive, new, heads)
        for family in fresh.aggregating:
            summarise_whole(work, family, new, heads, "insertion")
        return touched

    def _fresh_recursive(self, heads: Heads, done: Set[Family]) -> None:
        """Add the conclusions of new recursive rules, over the facts after the first step."""
        fresh, work = self.task.fresh, self.work
        if fresh is None or not fresh.recursive:
            return
        families = [family for family in fresh.recursive if family not in done]
        self._firing.whole(families, work.new(), heads)

    def _fire_fresh(
        self, batch: Batch, before: Setting, after: Setting, heads: Heads, done: Set[Family]
    ) -> None:
        fresh = self.task.fresh
        if fresh is not None:
            around = Around(before, after, after, after)
            self._firing.fire(fresh.own, batch, around, "insertion", heads, heads, done)


def is_recursive(family: Family) -> bool:
    """Whether a family is recursive."""
    return family.recursive

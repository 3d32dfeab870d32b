"""One stratum of an update: the steps that strategies are made of.

Start reading at `StratumUpdate`, which are the `Steps` of the protocol over columns: `touched` and
`gained` are the papers' first steps of deletion and insertion, `drop` and `add` the steps of their
loops. `firing` evaluates the rules.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Set

from triplestore.evaluate.conclusions import Heads
from triplestore.evaluate.evaluation import Around
from triplestore.maintenance.modules.leaping import Leaps
from triplestore.maintenance.search.give_up import Abort
from triplestore.maintenance.search.kernel_search import new_search
from triplestore.maintenance.search.proof_search import BackwardSearch
from triplestore.maintenance.steps.firing import Firing, Large, blocks_of
from triplestore.maintenance.steps.many_rounds import Climb
from triplestore.maintenance.steps.rederive import derivable, has_proof, remaining
from triplestore.maintenance.steps.regrouping import Regrouped, regroup, summarise_whole
from triplestore.maintenance.steps.stratum_state import StratumState, Task, set_with_large
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
    """Is told how far a strategy has come. It may raise `Overrun`, which ends the strategy."""

    def deletes(self, facts: Batch) -> None:
        """These facts are about to be deleted, or were just deleted."""

    def rederives(self) -> None:
        """Deletion is done; the search for deleted facts that hold nevertheless begins."""

    def inserts(self) -> None:
        """That search is done; insertion begins."""

    def searched(self, search: BackwardSearch) -> None:
        """A search for proofs has done one more round."""


UNOBSERVED = Observer()


class StratumUpdate(StratumState):
    """The steps that strategies are made of, for one stratum: see `protocol.Steps`."""

    def __init__(self, work: Work, task: Task) -> None:
        self.observer = UNOBSERVED
        self._firing = Firing(work)
        super().__init__(work, task)

    def begin(self) -> None:
        """Begin, or begin again after `Work.restore`."""
        super().begin()
        self.regrouped: Regrouped | None = None
        self._leaps: Leaps | None = None
        self._climb: Climb | None = None
        self._first = True
        self._touched: Batch = {}

    # -- what is lost ----------------------------------------------------------------------------

    def touched(self) -> Batch:
        """Facts that lost a derivation, or are not stated any more; their counters are brought
        down. The papers' first step of deletion."""
        work, task = self.work, self.task
        if not (self.kept.families or task.minus or task.lost or task.lost_rec):
            return {}  # all rules are new: a twentieth of a millisecond for each stratum
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
        """Whether changes below may have made rules lose instances, or gain some (`gone` false):
        with one fact in a commit they mostly do one or the other, or nothing."""
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
        """Fire all rules on changes of lower strata: positive atoms and negated ones. What closures
        that changed in many pairs lead to is counted at once, and returned."""
        firing, touched = self._firing, []
        for triggers, batch, many in zip(
            (self.kept.lower, self.kept.negated), low, large, strict=True
        ):
            if batch:
                firing.fire(triggers, batch, around, phase, *into)
            touched.append(firing.many(triggers, many, around, phase, sign))
        return united(*touched)

    def drop(self, batch: Batch) -> Batch:
        """Take facts away, and return what recursive rules derived with them and still holds."""
        work = self.work
        found = self.drop_by(batch, frozenset())
        return work.filter(found, lambda name, keys: ~work.gone.contains(name, keys))

    def unsupported(self, batch: Batch) -> Batch:
        """The facts without a nonrecursive derivation."""
        work = self.work
        return work.filter(batch, lambda name, keys: ~work.supported(name, keys))

    def drop_unsupported(self, batch: Batch) -> Batch:
        """Take facts away, and return those without a nonrecursive derivation of what recursive
        rules derived with them. Rounds of a few small rules over one relation are done
        together."""
        work = self.work
        self.observer.deletes(batch)
        if self._climb is None:
            self._climb = Climb(work, [self.kept.own])
        lost, rest = self._climb.down(self.drop(batch))
        if lost:
            work.take_away(lost)
            self._all_dropped.append(lost)
            rest = work.filter(rest, lambda name, keys: ~work.gone.contains(name, keys))
            self.observer.deletes(lost)
        return self.unsupported(rest)

    def drop_by(self, batch: Batch, done: Set[Family]) -> Batch:
        """Take facts away, and return what recursive rules derived with them, but for some rules;
        it may be gone already."""
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
        """Fire the recursive rules on facts of this stratum, but for those that are done."""
        heads = Heads()
        around = Around(before, after, nots, nots)
        self._firing.fire(self.kept.own, batch, around, phase, heads, heads, done)
        return heads

    # -- what holds again ------------------------------------------------------------------------

    def remaining(self, batch: Batch) -> Batch:
        """The facts that are stated, or that some rule derives from what survives."""
        return remaining(self.work, self.kept, batch) if batch else batch

    def rederived(self, batch: Batch) -> Batch:
        """The facts that a recursive rule still derives: by the counters, or else backwards."""
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
        """Facts that were taken away hold nevertheless. What follows from them is there; but where
        C_r lost their instances, they are returned, to be inserted like others."""
        work = self.work
        if work.recursive is not None:
            return batch
        for name, keys in batch.items():
            work.gone.discard(name, keys)
        return {}

    # -- what is gained --------------------------------------------------------------------------

    def gained(self) -> Batch:
        """Facts that gained a derivation by changes below, or are stated from now on; their
        counters are brought up. The papers' first step of insertion."""
        work, task = self.work, self.task
        if task.fresh is None and not self._looks_at(gone=False):
            return task.plus
        heads, heads_rec = Heads(), Heads()
        if self.regrouped is not None:
            for name, keys in self.regrouped.gained.items():
                heads.put(name, keys)
        new = work.new()
        before = new.without(set_with_large(self.low_added, self.large_added))
        around = Around(before, new, new, work.union())  # what is gone is among what held
        low = (self.low_added, self.low_gone)
        large = (self.large_added, self.large_gone)
        many = self._from_below(low, large, around, "insertion", 1, (heads, heads_rec))
        fresh = self._fresh_nonrecursive(new, heads)
        gained = self._firing.count(heads, 1)
        return united(task.plus, gained, self._firing.concluded(heads_rec, 1), many, fresh)

    def begin_insertion(self, *again: Batch) -> Batch:
        """What is stated, what follows from changes below, and facts that are gone and must come
        back."""
        work = self.work
        gained = self.gained()
        found = united(*again, gained)
        leaps = self._all_leaps()
        if leaps is not None:
            leaps.gain(united(self._touched, gained))
        self._climb = None if leaps is not None else Climb(work, self._own())
        self._first = bool(found) or self.task.fresh is not None or leaps is not None
        if not self._first:
            work.budget.check()
        return found

    def coming(self, found: Batch) -> Batch | None:
        """Those of some facts that do not hold yet; None if the insertion is over."""
        leaps = self._all_leaps()
        if found or self._first:
            delta = self.work.coming(found)
            if delta or self._first or leaps is not None:
                return delta
        if leaps is not None:
            leaps.end()
        return None

    def add(self, delta: Batch) -> Batch:
        """Facts that did not hold do from now on; returned is what recursive rules conclude with
        them."""
        work, leaps, first = self.work, self._all_leaps(), self._first
        # Beside what is there already, atoms before the pivot need not leave them out; but that is
        # one array more to look through.
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
        if self._climb is not None:
            new, found = self._climb.up(found)
            if new:
                work.admit(new)
                self._all_gained.append(new)
        return found

    def _own(self) -> list[Triggers]:
        """What looks at facts of this stratum."""
        fresh = self.task.fresh
        return [self.kept.own, *([] if fresh is None else [fresh.own])]

    def leaps(self) -> Leaps | None:
        """Transitive rules that others go through, if deletion may follow them in one step: none of
        the recursive rules came or went."""
        fresh, task = self.task.fresh, self.task
        if (fresh is not None and fresh.recursive) or task.lost_rec or task.fewer:
            return None
        leaps = self._all_leaps()
        return leaps if leaps is not None and leaps.has_kept() else None

    def _all_leaps(self) -> Leaps | None:
        """Transitive rules to be followed in one step; None where each instance is wanted."""
        work, fresh = self.work, self.task.fresh
        if work.recursive is not None or not work.compiled.with_modules:
            return None
        if self._leaps is None:
            new = [] if fresh is None else fresh.recursive
            self._leaps = Leaps(work, self.task.number, self.kept.recursive, new)
        return self._leaps if self._leaps.any() else None

    def _fresh_nonrecursive(self, new: Setting, heads: Heads) -> Batch:
        """All instances of new rules that are not recursive; returned is what is counted."""
        fresh, work = self.task.fresh, self.work
        if fresh is None:
            return {}
        touched = self._firing.whole(fresh.nonrecursive, new, heads)
        for family in fresh.aggregating:
            summarise_whole(work, family, new, heads, "insertion")
        return touched

    def _fresh_recursive(self, heads: Heads, done: Set[Family]) -> None:
        """All instances of new recursive rules, as things are after the first step."""
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

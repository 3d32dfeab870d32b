"""One stratum of an update: the steps that strategies are made of.

Start reading at `StratumUpdate`. `touched` and `gained` are the papers' first steps of deletion and
insertion, `drop` and `insert` go on from there; `firing` evaluates the rules.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Set
from dataclasses import dataclass, field
from typing import Any

from triplestore.evaluate.conclusions import Heads
from triplestore.evaluate.evaluation import Around
from triplestore.maintenance.modules.leaping import Leaps
from triplestore.maintenance.steps.firing import Firing, Large, blocks_of
from triplestore.maintenance.steps.many_rounds import Climb
from triplestore.maintenance.steps.regrouping import Regrouped, regroup, summarise_whole
from triplestore.maintenance.update_state import Work, united
from triplestore.relations.facts import difference_set
from triplestore.relations.facts.body_views import Setting
from triplestore.relations.facts.difference_set import DifferenceSet
from triplestore.relations.facts.fact_sets import (
    ONE_RUN,
    Batch,
    FactSet,
    RelationKey,
    set_of,
    size_of,
)
from triplestore.rules.families import Family
from triplestore.rules.strata import CompiledStratum, Triggers


@dataclass(slots=True)
class Task:
    """What one stratum has to deal with.

    minus, plus      facts of it that are not stated any more, and that are from now on
    lost, lost_rec   conclusions of rules that were taken out: nonrecursive (each as often as it was
                     derived), and recursive ones
    fewer            whether recursive rules were taken out whose conclusions are not among these,
                     because a module closes the stratum
    """

    number: int
    kept: CompiledStratum
    fresh: CompiledStratum | None = None
    minus: Batch = field(default_factory=dict)
    plus: Batch = field(default_factory=dict)
    lost: Heads = field(default_factory=Heads)
    lost_rec: Heads = field(default_factory=Heads)
    fewer: bool = False

    @property
    def recursive(self) -> bool:
        """Whether the stratum has recursive rules that were there before."""
        return bool(self.kept.recursive)

    @property
    def recursive_ever(self) -> bool:
        """Whether it has, had, or gets recursive rules."""
        fresh = self.fresh is not None and bool(self.fresh.recursive)
        return self.recursive or fresh or bool(self.lost_rec)


class Strategy(ABC):
    """How a stratum is brought up to date; see `strategies`."""

    name = "none"

    @abstractmethod
    def run(self, update: StratumUpdate) -> tuple[str, str]:
        """Do it; returns the name of what was done, and why."""


class StratumUpdate:
    """The steps that strategies are made of, for one stratum."""

    def __init__(self, work: Work, task: Task) -> None:
        self.work = work
        self.task = task
        self.kept = task.kept
        self._firing = Firing(work)
        self.begin()

    def begin(self) -> None:
        """Begin, or begin again after `Work.restore`."""
        work, task = self.work, self.task
        self.low_gone, self.large_gone = _relevant(work.gone, task)
        self.low_added, self.large_added = _relevant(work.added, task)
        self.regrouped: Regrouped | None = None
        self._leaps: Leaps | None = None
        self._touched: Batch = {}
        self._all_dropped: list[Batch] = []
        self._all_gained: list[Batch] = []

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

    def reads_large(self) -> bool:
        """Whether rules of the stratum look at a closure that should not be written out."""
        relations = self.kept.relations
        return any(
            closed.count() > difference_set.LARGE
            for name, closed in self.work.stored.tables.closed.items()
            if relations is None or name in relations
        )

    def gone_below(self) -> FactSet:
        """The facts of lower strata that are gone, as far as rules of this one look at them."""
        return _set_of(self.low_gone, self.large_gone)

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

    def descend(self, found: Batch, climb: Climb) -> tuple[Batch, Batch]:
        """`drop` of what one rule derived and lost, time and again: what that takes away, and what
        is left to be looked at."""
        work = self.work
        lost, rest = climb.down(found)
        if not lost:
            return lost, rest
        work.take_away(lost)
        self._all_dropped.append(lost)
        return lost, work.filter(rest, lambda name, keys: ~work.gone.contains(name, keys))

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

    def dropped(self) -> Batch:
        """The facts of this stratum that were taken away so far."""
        return united(*self._all_dropped)

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
        before = new.without(_set_of(self.low_added, self.large_added))
        around = Around(before, new, new, work.union())  # what is gone is among what held
        low = (self.low_added, self.low_gone)
        large = (self.large_added, self.large_gone)
        many = self._from_below(low, large, around, "insertion", 1, (heads, heads_rec))
        fresh = self._fresh_nonrecursive(new, heads)
        gained = self._firing.count(heads, 1)
        return united(task.plus, gained, self._firing.concluded(heads_rec, 1), many, fresh)

    def insert(self, again: Batch) -> None:
        """Bring in what is stated, what follows from changes below, and what follows from that.

        again  facts that are gone, and must come back
        """
        work = self.work
        gained = self.gained()
        found = united(again, gained)
        leaps = self._all_leaps()
        if leaps is not None:
            leaps.gain(united(self._touched, gained))
        if not (found or self.task.fresh is not None or leaps is not None):
            work.budget.check()
            return
        climb = None if leaps is not None else Climb(work, self._own())
        first = True
        while found or first:
            delta = work.coming(found)
            # Beside what is there already, atoms before the pivot need not leave them out; but
            # that is one array more to look through.
            many = size_of(delta) > ONE_RUN * len(delta)
            apart = many and leaps is None and not work.come_back(delta)
            if not apart:
                work.admit(delta)
            done: frozenset[Family] = frozenset()
            if leaps is not None:
                delta, done = leaps.follow(delta, first)
            if delta:
                self._all_gained.append(delta)
                work.rounds += 1
            heads = Heads()
            if delta:
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
                first = False
            found = self._firing.concluded(heads, 1)
            if climb is not None:
                new, found = climb.up(found)
                if new:
                    work.admit(new)
                    self._all_gained.append(new)
        if leaps is not None:
            leaps.end()

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

    # -- the end ---------------------------------------------------------------------------------

    def settle(self, gone: Batch, added: Batch, *, counted: bool = False) -> None:
        """Take facts away and bring others, by a strategy that knows what the stratum comes to.

        counted  whether it has changed the recursive counters, where they are kept
        """
        work = self.work
        for sets, batch in ((work.gone, gone), (work.added, added)):
            for name, keys in batch.items():
                sets.add(name, keys)
        self._all_dropped.append(gone)
        self._all_gained.append(added)
        if work.recursive is not None and self.task.recursive_ever and not counted:
            work.recursive.complete = False  # how often each fact was derived is not known

    def is_plain(self) -> bool:
        """Whether the stratum has no rules, new ones or others, nor had any: what is stated is all
        that changes it, as in the lowest ones."""
        task = self.task
        ruled = self.kept.families or task.fresh is not None or task.fewer
        return not (ruled or task.lost or task.lost_rec)

    def settle_stated(self) -> None:
        """Do a plain stratum: what every strategy comes to, by a third of the steps."""
        work, task = self.work, self.task
        work.budget.check()
        if task.minus:
            gone = work.filter(task.minus, lambda name, keys: ~work.supported(name, keys))
            self._all_dropped.append(gone)
            work.take_away(gone)
            work.rounds += bool(gone)
        if task.plus:
            came = work.coming(task.plus)
            self._all_gained.append(came)
            work.admit(came)
            work.rounds += bool(came)

    def outcome(self) -> tuple[Batch, Batch]:
        """The facts of this stratum that are gone, and those that are new."""
        work = self.work
        dropped, gained = united(*self._all_dropped), united(*self._all_gained)
        gone = work.filter(dropped, work.gone.contains)
        sure = {name: keys for name, keys in gained.items() if name not in work.gone}
        rest = {name: keys for name, keys in gained.items() if name in work.gone}
        return gone, sure | work.filter(rest, work.added.contains)  # some may have come back only


def _relevant(changed: FactSet, task: Task) -> tuple[Batch, Large]:
    """The changed facts that rules of a stratum may look at."""
    relations = task.kept.relations
    batch: Batch = {}
    large: Large = {}
    for name in changed if relations is None else relations:
        found: object = changed.get(name)
        if isinstance(found, DifferenceSet) and len(found) > difference_set.LARGE:
            large[name] = found
        elif found is not None and len(changed[name]):
            batch[name] = changed[name].keys()
    return batch, large


def _set_of(batch: Batch, large: Large) -> FactSet:
    found: dict[RelationKey, Any] = {**set_of(batch), **large}  # all are read in the same way
    return FactSet(found)

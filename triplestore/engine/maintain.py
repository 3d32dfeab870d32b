"""Maintain a closure: stratum by stratum, deletions and additions together.

Start reading at `Maintenance`. Each stratum that a change reaches is done in the papers' two
phases: what may be lost is found, by the strategy, from the facts that are gone below or no longer
stated; what is gained follows by semi-naive evaluation. Materialising is the same, with all rules
new and nothing to lose. What is always true:

* no rule instance is considered twice in a phase, those of the first are instances over the old
  facts, those of the second over the new ones; so the counters are exact under every strategy;
* strata below the one at work are done: `gone` and `added` say all about them.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from triplestore.engine.compiled import Compiled, CompiledStratum, Strata, Triggers
from triplestore.engine.conclusions import Heads, conclude
from triplestore.engine.evaluate import Job
from triplestore.engine.families import Family
from triplestore.engine.grouping import Regrouped, regroup, summarise_whole
from triplestore.engine.modules.owned import Owned
from triplestore.engine.modules.projected import as_keys, count_weighted, kept_place, sizes
from triplestore.engine.plans import WHOLE, AtomStep, plan_for
from triplestore.engine.sets import differences
from triplestore.engine.sets.counts import CountChanges
from triplestore.engine.sets.differences import DifferenceSet
from triplestore.engine.sets.keys import Batch, FactSet, RelationKey, set_of, size_of
from triplestore.engine.sets.recursive_counts import RecursiveChanges
from triplestore.engine.sets.stored import unsupported_keys
from triplestore.engine.sets.views import PairView, Setting
from triplestore.engine.work import Work, distinct_batch, united
from triplestore.schemes.attached import CHAINS
from triplestore.tables.rows import I64, NO_IDS, U32


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


@dataclass(slots=True)
class StratumReport:
    """What was done in a stratum."""

    number: int
    strategy: str
    seconds: float
    rounds: int
    gone: int
    added: int
    instances: dict[str, int]
    why: str = ""


class Maintenance:
    """An update of a closure under way.

    kept      rules that hold before and after the update
    fresh     rules that come with it
    removed   rules that go with it, compiled as they were
    previous  the program they were part of
    """

    def __init__(
        self,
        work: Work,
        kept: Strata,
        strategy: Strategy,
        fresh: Strata | None = None,
        removed: Strata | None = None,
        previous: Compiled | None = None,
    ) -> None:
        self.work = work
        self.kept = kept
        self.fresh = fresh
        self.strategy = strategy
        self.reports: list[StratumReport] = []
        self._tasks: dict[int, Task] = {}
        self._heap: list[int] = []
        self._done = -1
        for number in [] if fresh is None else [*fresh, *fresh.hierarchies]:
            self._task(number)
        for owned in work.compiled.modules.values():
            if self._is_kept_otherwise(owned):
                self._task(owned.number)
        for name, batch in (("minus", work.minus), ("plus", work.plus)):
            for level, facts in work.levels.split(batch.batches()).items():
                setattr(self._task(level), name, facts)
        if removed is not None and previous is not None:
            self._take_out(removed, previous)

    def _is_kept_otherwise(self, owned: Owned) -> bool:
        """Whether a closure is written out and should not be, or the other way round. Sizes are
        looked at when a closure changes; here it is about what somebody said."""
        work = self.work
        known = work.schemes.get(owned.anchor)
        if known is not None and (known.compressed or work.choice.says):
            return work.is_compressed(known) != known.compressed
        if known is not None or not work.choice.says:
            return False
        kind = owned.group.structure.kind
        return kind != CHAINS and work.choice.mode_of(owned.group.relations) == "compressed"

    def _task(self, number: int) -> Task:
        found = self._tasks.get(number)
        if found is None:
            kept = self.kept.get(number)
            fresh = None if self.fresh is None else self.fresh.get(number)
            found = Task(number, kept or CompiledStratum(number), fresh)
            self._tasks[number] = found
            heapq.heappush(self._heap, number)
        return found

    def _take_out(self, removed: Strata, previous: Compiled) -> None:
        """All conclusions of rules that go, to the strata of their facts."""
        work, old = self.work, self.work.old()
        owned_before = {rule for owned in previous.modules.values() for rule in owned.rules}
        owned_now = {n for owned in work.compiled.modules.values() for n in owned.relations}
        for family in removed.families:
            heads = Heads()
            relation = family.head.relation
            if family.recursive and relation in owned_now:
                self._task(work.levels.relation(relation)).fewer = True
                continue
            if family.recursive and owned_before.issuperset(family.rules):
                # All that depends on recursion may be lost: with its rule by rule instances in
                # the thousands for each fact, this is less than finding what the rule concluded.
                heads.put(relation, unsupported_keys(work.stored, relation))
            elif family.summary is not None:
                summarise_whole(work, family, old, heads, "removed rules")
            else:
                rows, n = work.run.whole(family, old, "removed rules")
                conclude(family, rows, n, work.type_id, heads)
            for level, batch in work.levels.split(heads.taken()).items():
                task = self._task(level)
                for name, keys in batch.items():
                    (task.lost_rec if family.recursive else task.lost).put(name, keys)

    def run(self) -> None:
        """Do all strata that the change reaches."""
        while self._heap:
            number = heapq.heappop(self._heap)
            task = self._tasks.pop(number)
            self._done = number
            self._stratum(task)

    def _stratum(self, task: Task) -> None:
        work = self.work
        started, instances, rounds = time.perf_counter(), work.run.instances.copy(), work.rounds
        work.budget.check()
        name, why, changed = self._update(task)
        for sets in changed:
            for relation, keys in sets.items():
                for watcher in self.kept.watching(relation, keys):
                    if watcher > task.number:
                        self._task(watcher)
        report = StratumReport(
            task.number,
            name,
            time.perf_counter() - started,
            work.rounds - rounds,
            size_of(changed[0]),
            size_of(changed[1]),
            dict(work.run.instances - instances),
            why,
        )
        self.reports.append(report)
        if work.budget.progress is not None:
            work.budget.progress(
                f"stratum {task.number}: {report.added:,} facts added, {report.gone:,} gone"
            )

    def _update(self, task: Task) -> tuple[str, str, tuple[Batch, Batch]]:
        """Bring one stratum up to date; returns how, and what is gone and new."""
        block = self.work.compiled.strata.hierarchies.get(task.number)
        if block is not None:
            fresh = None if self.fresh is None else self.fresh.hierarchies.get(task.number)
            bodies = NO_IDS if fresh is None else fresh.bodies
            return "hierarchy", "subclass rules only", block.update(self.work, task, bodies)
        owned = self.work.compiled.modules.get(task.number)
        if owned is not None:
            from triplestore.engine.modules.module import close_group

            return close_group(owned, self.work, task)
        update = StratumUpdate(self.work, task)
        name, why = self.strategy.run(update)
        return name, why, update.outcome()


class Strategy:
    """How a stratum is brought up to date; see `strategies`."""

    name = "none"

    def run(self, update: StratumUpdate) -> tuple[str, str]:
        """Do it; returns the name of what was done, and why."""
        raise NotImplementedError


class StratumUpdate:
    """The steps that strategies are made of, for one stratum."""

    def __init__(self, work: Work, task: Task) -> None:
        self.work = work
        self.task = task
        self.kept = task.kept
        self.begin()

    def begin(self) -> None:
        """Begin, or begin again after `Work.restore`."""
        work, task = self.work, self.task
        self.low_gone, self.large_gone = _relevant(work.gone, task)
        self.low_added, self.large_added = _relevant(work.added, task)
        self.regrouped: Regrouped | None = None
        self._all_dropped: list[Batch] = []
        self._all_gained: list[Batch] = []

    # -- what is lost ----------------------------------------------------------------------------

    def touched(self) -> Batch:
        """Facts that lost a derivation, or are not stated any more; their counters are brought
        down. The papers' first step of deletion."""
        work, task = self.work, self.task
        lost, lost_rec = task.lost.copied(), task.lost_rec.copied()
        self._regroup()
        if self.regrouped is not None:
            for name, keys in self.regrouped.lost.items():
                lost.put(name, keys)
        old = work.old()
        before = old.without(work.gone)
        nots = work.union()
        self._from_below(
            old, before, self.low_gone, self.low_added, nots, "deletion", lost, lost_rec
        )
        many = self._many_from_below(
            old, before, self.large_gone, self.large_added, nots, "deletion", -1
        )
        nonrecursive = self._count(lost, -1)
        return united(task.minus, nonrecursive, self._concluded(lost_rec, -1), many)

    def _regroup(self) -> None:
        if not self.kept.aggregating:
            return
        gone = list(self._below(self.low_gone, self.large_gone))
        added = list(self._below(self.low_added, self.large_added))
        if gone or added:
            self.regrouped = regroup(self.work, self.kept, gone, added)

    def _below(self, batch: Batch, large: Large) -> Iterator[Batch]:
        """Changed facts of lower strata, in pieces."""
        if batch:
            yield batch
        for name, found in large.items():
            for keys in found.blocks():
                yield {name: keys}

    def reads_large(self) -> bool:
        """Whether rules of the stratum look at a closure that should not be written out."""
        relations = self.kept.relations
        return any(
            closed.count() > differences.LARGE
            for name, closed in self.work.stored.tables.closed.items()
            if relations is None or name in relations
        )

    def gone_below(self) -> FactSet:
        """The facts of lower strata that are gone, as far as rules of this one look at them."""
        return _set_of(self.low_gone, self.large_gone)

    def _many_from_below(
        self,
        after: Setting,
        before: Setting,
        positive: Large,
        negative: Large,
        nots_before: Setting,
        phase: str,
        sign: int,
    ) -> Batch:
        """`_from_below` for closures that changed in many pairs, block by block: what is concluded
        is counted at once, and only facts are kept of it."""
        touched: Batch = {}
        for triggers, large in ((self.kept.lower, positive), (self.kept.negated, negative)):
            for batch in self._below({}, large):
                heads, heads_rec = Heads(), Heads()
                rest = []
                for family, item in triggers.of(batch, self.work.type_id):
                    if family.recursive or kept_place(family, item) is None:
                        rest.append((family, item))
                        continue
                    settings = (before, after, after, nots_before)
                    found = self._projected(family, item, batch, settings, phase, sign)
                    touched = united(touched, found)
                self._fire_all(
                    rest, batch, before, after, after, nots_before, phase, heads, heads_rec
                )
                found = self._count(heads, sign)
                touched = united(touched, found, self._concluded(heads_rec, sign))
                self.work.budget.check()
        return touched

    def _projected(
        self,
        family: Family,
        item: int,
        batch: Batch,
        settings: tuple[Setting, Setting, Setting, Setting],
        phase: str,
        sign: int,
    ) -> Batch:
        """What a family concludes from one side of some pairs, counted."""
        place = kept_place(family, item)
        assert place is not None
        values, weights = sizes(batch[family.body[item].relation], place)
        return self._weighted(family, item, values, weights * sign, settings, phase)

    def _weighted(
        self,
        family: Family,
        item: int,
        values: U32,
        weights: I64,
        settings: tuple[Setting, Setting, Setting, Setting],
        phase: str,
    ) -> Batch:
        work = self.work
        place = kept_place(family, item)
        assert place is not None
        batch: Batch = {family.body[item].relation: as_keys(values, place)}
        rows, n = work.run.changed(family, item, batch, *settings, phase)
        return count_weighted(work.run, work.counts, family, item, rows, n, values, weights)

    def _from_below(
        self,
        after: Setting,
        before: Setting,
        positive: Batch,
        negative: Batch,
        nots_before: Setting,
        phase: str,
        heads: Heads,
        heads_rec: Heads,
    ) -> None:
        """Fire all rules on changes of lower strata: positive atoms and negated ones."""
        for triggers, batch in ((self.kept.lower, positive), (self.kept.negated, negative)):
            if not batch:
                continue
            self._fire(triggers, batch, before, after, after, nots_before, phase, heads, heads_rec)

    def _fire(
        self,
        triggers: Triggers,
        batch: Batch,
        before: Setting,
        after: Setting,
        nots: Setting,
        nots_before: Setting,
        phase: str,
        heads: Heads,
        heads_rec: Heads,
    ) -> None:
        """Add what all items that may match a batch conclude with it."""
        items = list(triggers.of(batch, self.work.type_id))
        self._fire_all(items, batch, before, after, nots, nots_before, phase, heads, heads_rec)

    def _fire_all(
        self,
        items: Sequence[tuple[Family, int]],
        batch: Batch,
        before: Setting,
        after: Setting,
        nots: Setting,
        nots_before: Setting,
        phase: str,
        heads: Heads,
        heads_rec: Heads,
    ) -> None:
        """The same for some items."""
        jobs: list[Job] = [
            (family, lambda run, family=family, item=item: run.changed(  # type: ignore[misc]
                family, item, batch, before, after, nots, nots_before, phase
            ))
            for family, item in items
        ]  # fmt: skip
        self.work.run.conclude_all(jobs, size_of(batch), heads, heads_rec)

    def _count(
        self, heads: Heads, sign: int, counters: CountChanges | RecursiveChanges | None = None
    ) -> Batch:
        """Change the counters by how often each fact was concluded."""
        counters = self.work.counts if counters is None else counters
        touched: Batch = {}
        for name, (facts, times) in heads.counted():
            counters.change(name, facts, times.astype(np.int64) * sign)
            touched[name] = facts
        return touched

    def _concluded(self, heads: Heads, sign: int) -> Batch:
        """What recursive rules concluded, each fact once; counted where there is a table for it."""
        if self.work.recursive is None:
            return distinct_batch(heads.taken())
        return self._count(heads, sign, self.work.recursive)

    def drop(self, batch: Batch) -> Batch:
        """Take facts away, and return what recursive rules derived with them and still holds."""
        work = self.work
        survivors = work.survivors()
        delta = set_of(batch)
        heads = self.fire(batch, survivors.without(delta), survivors, work.union(), "deletion")
        work.take_away(batch)
        self._all_dropped.append(batch)
        work.rounds += 1
        found = self._concluded(heads, -1)
        return work.filter(found, lambda name, keys: ~work.gone.contains(name, keys))

    def fire(
        self, batch: Batch, before: Setting, after: Setting, nots: Setting, phase: str
    ) -> Heads:
        """Fire the recursive rules on facts of this stratum."""
        heads = Heads()
        self._fire(self.kept.own, batch, before, after, nots, nots, phase, heads, heads)
        return heads

    def dropped(self) -> Batch:
        """The facts of this stratum that were taken away so far."""
        return united(*self._all_dropped)

    # -- what is gained --------------------------------------------------------------------------

    def gained(self) -> Batch:
        """Facts that gained a derivation by changes below, or are stated from now on; their
        counters are brought up. The papers' first step of insertion."""
        work, task = self.work, self.task
        heads, heads_rec = Heads(), Heads()
        if self.regrouped is not None:
            for name, keys in self.regrouped.gained.items():
                heads.put(name, keys)
        new = work.new()
        low_added = _set_of(self.low_added, self.large_added)
        nots_before = Setting(work.stored, plus=[work.added, work.gone], minus=[])
        self._from_below(
            new,
            new.without(low_added),
            self.low_added,
            self.low_gone,
            nots_before,
            "insertion",
            heads,
            heads_rec,
        )
        many = self._many_from_below(
            new,
            new.without(low_added),
            self.large_added,
            self.large_gone,
            nots_before,
            "insertion",
            1,
        )
        fresh = self._fresh_nonrecursive(new, heads)
        gained = self._count(heads, 1)
        return united(task.plus, gained, self._concluded(heads_rec, 1), many, fresh)

    def insert(self, again: Batch) -> None:
        """Bring in what is stated, what follows from changes below, and what follows from that.

        again  facts that are gone, and must come back
        """
        work = self.work
        found = united(again, self.gained())
        first = True
        while found or first:
            delta = work.bring(found)
            if delta:
                self._all_gained.append(delta)
                work.rounds += 1
            heads = Heads()
            if delta:
                after = work.new()
                before = after.without(set_of(delta))
                heads = self.fire(delta, before, after, after, "insertion")
                if not first:
                    self._fire_fresh(delta, before, after, heads)
            if first:
                self._fresh_recursive(heads)
                first = False
            found = self._concluded(heads, 1)

    def _fresh_nonrecursive(self, new: Setting, heads: Heads) -> Batch:
        """All instances of new rules that are not recursive; returned is what is counted."""
        fresh, work = self.task.fresh, self.work
        if fresh is None:
            return {}
        touched = self._whole(fresh.nonrecursive, new, heads)
        for family in fresh.aggregating:
            summarise_whole(work, family, new, heads, "insertion")
        return touched

    def _fresh_recursive(self, heads: Heads) -> None:
        """All instances of new recursive rules, as things are after the first step."""
        fresh, work = self.task.fresh, self.work
        if fresh is None or not fresh.recursive:
            return
        self._whole(fresh.recursive, work.new(), heads)

    def _whole(self, families: Sequence[Family], new: Setting, heads: Heads) -> Batch:
        """All instances of some families. What nonrecursive ones conclude from closures of many
        pairs is counted at once, and returned."""
        touched: Batch = {}
        jobs: list[Job] = []
        for family in families:
            item = scanned_whole(family, new)
            if item is not None:
                touched = united(touched, self._scan(family, item, new, heads))
                continue
            jobs.append(
                (family, lambda run, family=family: run.whole(family, new, "insertion"))  # type: ignore[misc]
            )
        rows = self.work.stored.tables.total() + self.work.added.total()
        self.work.run.conclude_all(jobs, rows, heads, heads)
        return touched

    def _scan(self, family: Family, item: int, setting: Setting, rest: Heads) -> Batch:
        """All instances of a family, from the facts of one atom, block by block."""
        work, relation = self.work, family.body[item].relation
        assert isinstance(relation, int)
        place = None if family.recursive else kept_place(family, item)
        closed = work.closed_now(relation)
        if place is not None and closed is not None:
            values = closed.distinct(place)
            weights = closed.fanout(place, values)
            settings = (setting, setting, setting, setting)
            return self._weighted(family, item, values, weights, settings, "insertion")
        touched: Batch = {}
        for keys in setting.pairs(relation).blocks():
            heads = rest if family.recursive else Heads()
            batch: Batch = {relation: keys}
            rows, n = work.run.changed(
                family, item, batch, setting, setting, setting, setting, "insertion"
            )
            conclude(family, rows, n, work.type_id, heads)
            if not family.recursive:
                touched = united(touched, self._count(heads, 1))
            work.budget.check()
        return touched

    def _fire_fresh(self, batch: Batch, before: Setting, after: Setting, heads: Heads) -> None:
        fresh = self.task.fresh
        if fresh is not None:
            self._fire(fresh.own, batch, before, after, after, after, "insertion", heads, heads)

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

    def outcome(self) -> tuple[Batch, Batch]:
        """The facts of this stratum that are gone, and those that are new."""
        work = self.work
        dropped, gained = united(*self._all_dropped), united(*self._all_gained)
        gone = work.filter(dropped, work.gone.contains)
        added = work.filter(gained, work.added.contains)
        return gone, added


Large: TypeAlias = dict[RelationKey, DifferenceSet]
"""Facts that changed, too many of them to be written out at once."""


def _relevant(changed: FactSet, task: Task) -> tuple[Batch, Large]:
    """The changed facts that rules of a stratum may look at."""
    relations = task.kept.relations
    batch: Batch = {}
    large: Large = {}
    for name in changed if relations is None else relations:
        found: object = changed.get(name)
        if isinstance(found, DifferenceSet) and len(found) > differences.LARGE:
            large[name] = found
        elif found is not None and len(changed[name]):
            batch[name] = changed[name].keys()
    return batch, large


def _set_of(batch: Batch, large: Large) -> FactSet:
    found: dict[RelationKey, Any] = {**set_of(batch), **large}  # all are read in the same way
    return FactSet(found)


def scanned_whole(family: Family, setting: Setting) -> int | None:
    """The atom from which all instances of a family are found, if it is all pairs of a closure."""
    step = next(iter(plan_for(family, WHOLE, setting).steps), None)
    if not isinstance(step, AtomStep) or step.negated or step.bound or step.item < 0:
        return None
    view = setting.view(step.atom.relation)
    return step.item if isinstance(view, PairView) and view.is_large() else None

"""The old and the new evaluation of a stratum side by side, and how the trace changes.

Start reading at `Replay.run`. A rule instance belongs to the round after the one in which the last
of its body facts comes. It changes the trace if the two evaluations consider it in different
rounds, or only one of them considers it. *Revisited*, algorithm 3, finds these instances by going
through all rounds and all facts of both. Here everything begins with the facts that are *moved*:
they come in another round, or in one evaluation only. These are I_on, I_no and, of the facts in
both, those in Delta_o and not Delta_n, or the other way round. `_considered` is lines 36 and 37,
`_settle` lines 27 to 30; line 31 holds when no round waits any more. Always true:

* When a round is done, a fact is known to be moved if one evaluation has it by then, and the other
  does not have it in the same round.
* Every old instance with moved facts, or with changes below, is met once: when the first of its
  moved facts is known to be moved. Its other facts are in I, and known from the old trace.
* Every new instance is met finally when the last of its moved facts comes. Instances that were met
  before, with an expected fact that turned out to be moved, are dropped.
* Instances are met before their round, and wait for it. Then their round in the other evaluation is
  known. Instances with the same round in both cost one look; the others are exactly the papers'.

So the cost depends on the instances that have a moved fact, and nothing is as large as I.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from triplestore.evaluate.evaluation import Around
from triplestore.maintenance.search.checked_facts import CheckedFacts
from triplestore.maintenance.steps.counted_rules import Met, NumberedInstances, Recursion
from triplestore.maintenance.steps.stratum import StratumUpdate
from triplestore.maintenance.steps.traces import NEVER, Derivations, Trace
from triplestore.relations import EXPLICIT
from triplestore.relations.facts.body_views import Setting
from triplestore.relations.facts.fact_sets import ANY, Batch, FactSet, RelationKey, set_of
from triplestore.relations.facts.sorted_arrays import places_in, sorted_distinct
from triplestore.relations.packed_keys import I64, Bools, Keys, start_of_runs
from triplestore.rules.strata import Triggers

_SAME = "unchanged"
"""The phase of instances that were met and are the same in both evaluations."""

_Moved: TypeAlias = tuple[I64, I64, I64]
"""Facts that come later than expected or never; facts that come earlier; and other facts that come,
which were missing or not in I."""

_NONE: I64 = np.zeros(0, dtype=np.int64)


_Waiting: TypeAlias = dict[int, list[NumberedInstances]]


class Replay:
    """Both evaluations of the recursive rules of one stratum.

    facts     numbers of the facts that were met; 0 stands for all facts of lower strata
    old, new  the round of each fact in the two evaluations, NEVER if it is in none; the new round
              is the expected one until the round is done
    moved     facts of I that are known to be moved
    missing   moved facts that should have come, and have not
    come      facts that are not in I, and have come
    """

    def __init__(self, update: StratumUpdate, recursion: Recursion, trace: Trace) -> None:
        self.update = update
        self.work = update.work
        self.recursion = recursion
        self.trace = trace
        self.facts = CheckedFacts()
        self.facts.add(ANY, np.zeros(1, dtype=np.uint64))
        self.old = np.ones(64, dtype=np.int64)
        self.new = np.ones(64, dtype=np.int64)
        self.moved = FactSet()
        self.missing = FactSet()
        self.come = FactSet()
        self._less: _Waiting = {}
        self._more: _Waiting = {}
        self._again: dict[int, list[I64]] = {}
        self._rounds: list[int] = []
        self._changes: dict[RelationKey, list[Derivations]] = {}

    def run(self, touched: Batch) -> Trace:
        """Go through all rounds in which something differs; returns the new trace.

        touched  facts that may be in round 1 of only one of the evaluations
        """
        self._below()
        moved = [
            self._settle(1, self._numbers(name, keys), self.work.supported(name, keys))
            for name, keys in touched.items()
        ]
        self._fire(1, moved)
        while self._rounds:
            number = heapq.heappop(self._rounds)
            if self._rounds and self._rounds[0] == number:
                continue
            self.work.rounds += 1
            self.work.budget.check()
            self._fire(number, self._round(number))
        changes = {
            name: Derivations.of(*map(np.concatenate, zip(*parts, strict=True)))
            for name, parts in self._changes.items()
        }
        self.work.run.instances += Counter()  # removes phases without instances
        if self.work.recursive is not None:
            for name, derivations in changes.items():
                self.work.recursive.change(name, *derivations.totals())
        return self.trace.changed(changes)

    def outcome(self) -> tuple[Batch, Batch]:
        """The facts that are gone, and those that are new."""
        old, new = self.old[: self.facts.count], self.new[: self.facts.count]
        gone = (old < NEVER) & (new == NEVER)
        added = (old == NEVER) & (new < NEVER)
        return self.facts.batch(gone.nonzero()[0]), self.facts.batch(added.nonzero()[0])

    # -- one round -------------------------------------------------------------------------------

    def _round(self, number: int) -> list[_Moved]:
        """Apply what a round derives less often, and more often; returns the facts that this
        moves."""
        less = self._considered(number, self._less, self._leaves, "deletion")
        more = self._considered(number, self._more, self._comes, "insertion")
        facts = np.unique(np.concatenate((less, more, *self._again.pop(number, ()))))
        by = np.zeros(len(facts), dtype=np.int64)
        np.subtract.at(by, facts.searchsorted(less), 1)
        np.add.at(by, facts.searchsorted(more), 1)
        moved = []
        for name, keys in self.facts.batch(facts).items():
            numbers = self.facts.find(name, keys)
            change = by[facts.searchsorted(numbers)]
            index, rounds, before = self.trace.look_up(name, keys)
            times = change.copy()
            times[index[rounds == number]] += before[rounds == number]
            assert not (times < 0).any(), "a derivation was taken away twice"
            (changed,) = change.nonzero()
            at = np.full(len(changed), number)
            self._changes.setdefault(name, []).append(
                Derivations(keys[changed], at, change[changed])
            )
            moved.append(self._settle(number, numbers, times > 0))
        return moved

    def _considered(
        self,
        number: int,
        waiting: _Waiting,
        test: Callable[[int, NumberedInstances], Bools],
        phase: str,
    ) -> I64:
        """The heads of the instances of a round that pass a test."""
        found = [_NONE]
        for instances in waiting.pop(number, ()):
            heads = instances.head[test(number, instances)]
            self.work.run.instances[_SAME] -= len(heads)
            self.work.run.instances[phase] += len(heads)
            found.append(heads)
        return np.concatenate(found)

    def _leaves(self, number: int, met: NumberedInstances) -> Bools:
        """Which old instances of this round are in another round of the new evaluation, or not in
        it."""
        differs: Bools = met.fresh | (self.new[met.body].max(axis=0) != number - 1)
        return differs

    def _comes(self, number: int, met: NumberedInstances) -> Bools:
        """Which new instances of this round are in another round of the old evaluation, or not in
        it.

        If a fact that came after they were met is moved, they were met again then, and the later
        ones count. So in the instances that pass, all facts came as expected, and this is their
        round.
        """
        old, new = self.old[met.body], self.new[met.body]
        passed: Bools = ((new <= met.since) | (new == old)).all(axis=0)
        passed &= met.fresh | (old.max(axis=0) != number - 1)
        return passed

    # -- facts -----------------------------------------------------------------------------------

    def _settle(self, number: int, facts: I64, derived: Bools) -> _Moved:
        """The facts that are moved by what a round derives, now that this is known."""
        old, new = self.old[facts], self.new[facts]
        expected = (old < NEVER) & (new == old)
        late = facts[expected & (old == number) & ~derived]
        early = facts[expected & (old > number) & derived]
        other = facts[(new == NEVER) & derived]
        self.new[late] = NEVER
        self.new[early] = number
        self.new[other] = number
        return late, early, other

    def _numbers(self, name: RelationKey, keys: Keys) -> I64:
        """The numbers of facts of this stratum."""
        found = self.facts.find(name, keys)
        unmet = found < 0
        if unmet.any():
            fresh = sorted_distinct(keys[unmet])
            numbers = self.facts.add(name, fresh)
            if self.facts.count > len(self.old):
                self.old, self.new = (
                    np.resize(a, 2 * self.facts.count) for a in (self.old, self.new)
                )
            self.old[numbers] = self.new[numbers] = self._first(name, fresh)
            found[unmet] = numbers[places_in(keys[unmet], fresh)]
        return found

    def _first(self, name: RelationKey, keys: Keys) -> I64:
        """The rounds of facts in the old evaluation."""
        status, counts = self.work.stored.of(name).look_up(keys)
        found = self.trace.first(name, keys)
        found[(status == EXPLICIT) | (counts > 0)] = 1
        return found

    # -- instances -------------------------------------------------------------------------------

    def _below(self) -> None:
        """Meet the instances with changes of lower strata."""
        work, update = self.work, self.update
        gone, added = update.low_gone, update.low_added
        old, new = work.old(), work.new()
        rules = self.recursion.rules
        before = old.without(work.gone)
        for triggers, batch in ((rules.lower, gone), (rules.negated, added)):
            met = self._meet(triggers, batch, Around(before, old, old, work.union()))
            self._wait(met, 0, self._less)
        before = new.without(work.added)
        either = Setting(work.stored, plus=[work.added, work.gone])
        for triggers, batch in ((rules.lower, added), (rules.negated, gone)):
            met = self._meet(triggers, batch, Around(before, new, new, either))
            self._wait(met, 0, self._more)

    def _fire(self, number: int, moved: Sequence[_Moved]) -> None:
        """Meet the instances of the facts that this round has moved."""
        late, early, other = (
            np.concatenate([part[i] for part in moved]) if moved else _NONE for i in range(3)
        )
        work, own = self.work, self.recursion.rules.own
        if len(late) or len(early):
            batch = self.facts.batch(np.concatenate((late, early)))
            after = Setting(work.stored, minus=[work.gone, self.moved])
            before = after.without(set_of(batch))
            met = self._meet(own, batch, Around(before, after, work.union(), after))
            self._wait(met, number, self._less)
            _add(self.moved, batch)
            _add(self.missing, self._expect(late, number))
        if len(early) or len(other):
            back = other[self.old[other] < NEVER]
            for name, keys in self.facts.batch(back).items():
                self.missing.discard(name, keys)
            new = self.facts.batch(other[self.old[other] == NEVER])
            work.spend(new)
            _add(self.come, new)
            batch = self.facts.batch(np.concatenate((early, other)))
            after = Setting(
                work.stored, plus=[work.added, self.come], minus=[work.gone, self.missing]
            )
            before = after.without(set_of(batch))
            met = self._meet(own, batch, Around(before, after, after, after))
            self._wait(met, number, self._more)

    def _expect(self, late: I64, number: int) -> Batch:
        """Check facts that did not come again in each later round in which they may come."""
        batch = self.facts.batch(late)
        for name, keys in batch.items():
            numbers = self.facts.find(name, keys)
            index, rounds, _ = self.trace.look_up(name, keys)
            for later in np.unique(rounds[rounds > number]).tolist():
                self._again.setdefault(later, []).append(numbers[index[rounds == later]])
                heapq.heappush(self._rounds, later)
        return batch

    def _meet(
        self,
        triggers: Triggers,
        batch: Batch,
        around: Around,
    ) -> list[Met]:
        """All instances with a fact of a batch, family by family."""
        run, met = self.work.run, []
        for family, item in triggers.of(batch, self.work.type_id) if batch else ():
            rows, n = run.changed(family, item, batch, around, _SAME)
            if n:
                met.append(Met(self.recursion.shapes[id(family)], rows, n))
        return met

    def _wait(self, met: list[Met], since: int, waiting: _Waiting) -> None:
        """Let instances wait for their rounds."""
        if not met:
            return
        instances = self._numbered(met, since, waiting is self._more)
        rounds_of = self.new if waiting is self._more else self.old
        rounds = rounds_of[instances.body].max(axis=0) + 1
        order = np.argsort(rounds, kind="stable")
        starts = start_of_runs(rounds[order])
        for start, stop in pairwise(starts.tolist()):
            number = int(rounds[order[start]])
            waiting.setdefault(number, []).append(instances.take(order[start:stop]))
            heapq.heappush(self._rounds, number)

    def _numbered(self, met: list[Met], since: int, is_new: bool) -> NumberedInstances:
        """Instances by the numbers of their facts, which are looked up by relation for all
        families."""
        work, stratum = self.work, self.update.task.number
        width, total = self.recursion.width, sum(some.n for some in met)
        slots = np.zeros((width, total), dtype=np.int64)  # the last row is for heads
        fresh = np.full(total, since == 0)
        parts: dict[RelationKey, list[tuple[Keys, I64]]] = {}
        offset = 0
        for some in met:
            *own, head = some.shape.own
            for row, item in ((width - 1, head), *enumerate(own)):
                for name, keys, places in some.facts(item, work.levels, stratum):
                    parts.setdefault(name, []).append((keys, places + (row * total + offset)))
            if is_new and since:
                needs = some.need(work.added, work.gone, work.type_id)
                fresh[offset : offset + some.n] = needs
            offset += some.n
        flat = slots.reshape(-1)
        for name, found in parts.items():
            keys, places = (np.concatenate(column) for column in zip(*found, strict=True))
            flat[places] = self._numbers(name, keys)
        return NumberedInstances(slots[-1], slots[:-1], np.full(total, since), fresh)


def _add(sets: FactSet, batch: Batch) -> None:
    for name, keys in batch.items():
        sets.add(name, keys)

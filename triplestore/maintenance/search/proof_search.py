"""The search for proofs of facts that may be lost: backward, many facts at a time.

Procedures CHECK and SATURATE of *revisited*, algorithm 5 (lines 77 to 95), and of the thesis,
algorithms 3 and 5. Start reading at `BackwardSearch.unproved`. It is given the facts that lost a
derivation, and says which of them have no proof any more: lines 70 to 73. Going backward from all
of them at once would look at everything that may have to do with any; so every open fact gets only
a few instances in every second round - 1, 1, 1, 2, 2, 2, 4 and so on - and none once it is proved,
or once it serves only facts that are. An instance whose body is not proved yet is remembered, with
the facts that it waits for; so what is proved later proves its goal without another look. Always
true:

* a fact is checked at most once in a stratum, and each of its instances comes up once;
* facts that are PROVED have a proof from what will survive; facts that are DEAD have none: all
  their instances were looked at, and those of all facts that these need;
* facts that are neither, and are taken away all the same, are BLOCKED.

Where the lines are: `_examine` is 78 to 80 and 87 to 88, `_stop` is ABORTBRANCH, `_try` is the
first test of SATURATE (88), `_round` and `_meet` are 81 to 83, `_bury` is 84, `_prove` is 89 to 94.

Ours deviates as follows. CHECK goes to one premise after the other, to the end; here many facts are
open at the same time, and each gets a few instances in turn. SATURATE runs rules forward on what is
proved, and keeps what follows elsewhere for later (Y); instances that are remembered do the same
where it is needed, at a tenth to a half of the instances (see DESIGN.md). And a fact that waits for
a blocked one is blocked with it, also where its check has ended.

There are two searches. This one has the text, over arrays and for rules of any kind; it needs no
kernels. `kernel_search` overrides the parts that are hot for rules of two columns.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from triplestore.evaluate.binding_frames import Rows
from triplestore.evaluate.conclusions import body_facts
from triplestore.maintenance.search.checked_facts import (
    BLOCKED,
    CHECKED,
    DEAD,
    LIVE,
    PROVED,
    CheckedFacts,
)
from triplestore.maintenance.search.give_up import ROUND, Abort
from triplestore.maintenance.search.instance_pieces import Pieces
from triplestore.maintenance.search.waiting_instances import WaitingInstances
from triplestore.maintenance.steps.rederive import Test, concluding
from triplestore.maintenance.update_state import Work, united
from triplestore.relations.facts.body_views import Setting
from triplestore.relations.facts.fact_sets import Batch, FactSet, RelationKey, size_of
from triplestore.relations.packed_keys import I64, U32, Bools, Keys, distinct, start_of_runs
from triplestore.rules.families import LOWER, MIXED, Family
from triplestore.rules.strata import CompiledStratum

_REST = 2
"""A fact gets instances in one of this many rounds; in the others, the facts that those need do."""

_FEW = 8
"""Maximum number of open facts that do not rest: a round costs more than resting saves."""

_TIMES = 3
"""Number of times that a fact gets the same number of instances; then it gets twice as many."""


class BackwardSearch:
    """What is known of the facts of one stratum while it is updated.

    kept     the rules of the stratum
    absent   facts that cannot be used any more: gone, and not only because a check was aborted; it
             grows
    test     which facts follow without a recursive rule
    counted  whether the test is a look-up, and so comes before the question whether to give up
    """

    def __init__(
        self,
        work: Work,
        kept: CompiledStratum,
        absent: FactSet,
        test: Test,
        abort: Abort,
        counted: bool = False,
    ) -> None:
        self.work = work
        self.kept = kept
        self.test = test
        self.abort = abort
        self.counted = counted
        self.facts = CheckedFacts()
        self.dropped_blocked: list[I64] = []
        self._absent = absent
        self._pieces: dict[tuple[int, RelationKey], Pieces] = {}
        self._found = WaitingInstances()
        self.rounds = 0
        self.proofs = 0
        self.watch: Callable[[BackwardSearch], None] = lambda search: None
        """To be called after each round."""
        self._candidates = 0
        self._settled = 0
        self._before = self.work.run.instances.copy()

    # -- goals -----------------------------------------------------------------------------------

    def unproved(self, goals: Batch) -> Batch:
        """Those facts that must be taken away: they have no proof, or it was not looked for."""
        if not goals:
            return goals
        facts = self.facts
        self._candidates += size_of(goals)
        self._settled += 1
        found = [
            self._check(name, keys, np.zeros(len(keys), dtype=np.int64))
            for name, keys in goals.items()
        ]
        roots = np.concatenate(found) if found else np.zeros(0, dtype=np.int64)
        facts.flags[: facts.count] &= ~LIVE
        self._enliven(roots)
        proofs, looked = self.proofs, 0
        while len(left := roots[~facts.has(roots, PROVED)]):
            if self.proofs != proofs and 4 * looked >= self._remembered():
                facts.flags[: facts.count] &= ~LIVE
                self._enliven(left)
                proofs, looked = self.proofs, 0
            open_ = facts.having(LIVE | CHECKED, LIVE | CHECKED | PROVED | DEAD)
            open_ = open_[facts.waiting[open_] > 0]
            if len(open_) == 0:
                break
            if self._worn_out():
                facts.mark(open_, BLOCKED)
                break
            looked += self._round(open_)
        if len(left) == 0:
            return {}  # what is open serves proved goals only, and was not looked at to the end
        self._bury()
        return self._unproved(left)

    def _unproved(self, numbers: I64) -> Batch:
        facts = self.facts
        blocked = facts.has(numbers, BLOCKED)
        stopped = numbers[blocked]
        lost = facts.batch(numbers[~blocked])
        for name, keys in lost.items():
            self._absent.add(name, keys)
        self._leave(numbers[~blocked])
        if len(stopped) == 0:
            return lost
        self.dropped_blocked.append(stopped)
        return united(lost, facts.batch(stopped))

    def proved_late(self) -> Batch:
        """What was taken away because its check was aborted, and was proved after that."""
        return self._stopped_facts(True)

    def unknown(self) -> Batch:
        """What was taken away because its check was aborted, and may follow after all."""
        return self._stopped_facts(False)

    def _stopped_facts(self, proved: bool) -> Batch:
        if not self.dropped_blocked:
            return {}
        numbers = np.concatenate(self.dropped_blocked)
        return self.facts.batch(numbers[self.facts.has(numbers, PROVED) == proved])

    def _leave(self, numbers: I64) -> None:
        """Facts are taken away for good."""

    def _remembered(self) -> int:
        """How many instances wait for facts."""
        return self._found.size

    def _worn_out(self) -> bool:
        """Whether the search has cost as much as it may."""
        if self.abort.limit(0) == np.inf:
            return False
        instances, before = self.work.run.instances, self._before
        spent = sum(instances[phase] - before[phase] for phase in ("backward", "saturation"))
        deleted = instances["deletion"] - before["deletion"] + self._candidates
        limit = self.abort.limit(deleted + ROUND * self._settled)
        return spent + ROUND * self.rounds >= limit

    # -- single facts ----------------------------------------------------------------------------

    def _check(self, name: RelationKey, keys: Keys, depth: I64) -> I64:
        """Check sorted, distinct facts that were not checked; the numbers of all."""
        facts = self.facts
        numbers = facts.find(name, keys)
        new = numbers < 0
        if new.any():
            numbers[new] = facts.add(name, keys[new])
            facts.depth[numbers[new]] = depth[new]
        facts.depth[numbers] = np.minimum(facts.depth[numbers], depth)
        todo = np.flatnonzero(~facts.has(numbers, CHECKED))
        if len(todo):
            self._examine(name, keys[todo], numbers[todo])
        return numbers

    def _examine(self, name: RelationKey, keys: Keys, numbers: I64) -> None:
        """Check facts that were not checked: a proof may be at hand, or the check is aborted; else
        their instances are looked for."""
        for step in (self._try, self._stop) if self.counted else (self._stop, self._try):
            if len(numbers):
                left = ~step(name, keys, numbers)
                keys, numbers = keys[left], numbers[left]
        if len(numbers):
            self.facts.mark(numbers, CHECKED)
            self._open(name, keys, numbers)

    def _open(self, name: RelationKey, keys: Keys, numbers: I64) -> None:
        """Begin to look for the instances of facts."""
        for family in concluding(self.work, self.kept, name, keys):
            if family.recursive:
                self._pieces_of(family, name).open(keys, numbers)

    def _try(self, name: RelationKey, keys: Keys, numbers: I64) -> Bools:
        """The facts for which a proof is at hand."""
        proved = self.test(name, keys)
        self.facts.mark(numbers[proved], CHECKED)
        self._prove(numbers[proved])
        return proved

    def _stop(self, name: RelationKey, keys: Keys, numbers: I64) -> Bools:
        """The facts whose check is aborted."""
        stopped = self._stopped(numbers)
        self.facts.mark(numbers[stopped], BLOCKED)
        return stopped

    def _stopped(self, numbers: I64) -> Bools:
        """Which checks are aborted."""
        if self._worn_out():
            return np.ones(len(numbers), dtype=np.bool_)
        if self.abort.depth is None:
            return np.zeros(len(numbers), dtype=np.bool_)
        stopped: Bools = self.facts.depth[numbers] >= self.abort.depth
        return stopped

    def _pieces_of(self, family: Family, name: RelationKey) -> Pieces:
        found = self._pieces.get((family.number, name))
        if found is None:
            setting = self._survivors()
            found = Pieces(self.work.run, self.facts, family, name, setting)
            self._pieces[family.number, name] = found
        return found

    def _survivors(self) -> Setting:
        return Setting(self.work.stored, minus=[self._absent])

    def _prove(self, numbers: I64) -> None:
        """Facts are proved, and those that remembered instances derive from them."""
        facts = self.facts
        while len(numbers):
            facts.mark(numbers, PROVED)
            self.proofs += len(numbers)
            goals = self._found.use(numbers)
            numbers = goals[~facts.has(goals, PROVED)]

    # -- backward --------------------------------------------------------------------------------

    def _round(self, open_: I64) -> int:
        """A few more instances of each open fact; returns how many there were."""
        facts = self.facts
        age = facts.age[open_]
        facts.age[open_] += 1
        if not (turn := (age % _REST == 0) | (len(open_) <= _FEW)).any():
            return 0
        quota = 1 << np.minimum(age[turn] // (_REST * _TIMES), 40)
        looked = self._instances(open_[turn], quota.astype(np.int64))
        self.rounds += 1
        self.work.rounds += 1
        self.watch(self)
        self.work.budget.check()
        return max(looked, 1)

    def _instances(self, goals: I64, quota: I64) -> int:
        """Up to quota[i] more instances of goals[i], and what follows from them; how many."""
        need = np.zeros(self.facts.count, dtype=np.int64)
        need[goals] = quota
        setting, nots = self._survivors(), self.work.union()
        found = []
        for pieces in self._pieces.values():
            rows, n = pieces.pull(goals, need, setting, nots)
            if n:
                found.append((pieces.family, rows, n))
        return self._meet(found) if found else 0

    def _meet(self, found: list[tuple[Family, Rows, int]]) -> int:
        """Check the facts that instances need, and remember what they wait for."""
        facts = self.facts
        goals, needed = self._needed(found)
        useless = np.zeros(len(goals), dtype=np.bool_)
        numbered = []
        for name, (instances, keys) in needed.items():
            numbers = facts.find(name, keys)
            known = numbers >= 0
            useless[instances[known][facts.has(numbers[known], DEAD)]] = True
            numbered.append((name, instances, keys, numbers))
        self.work.run.instances["backward"] += len(goals)
        pairs: list[tuple[I64, I64]] = []
        for name, instances, keys, numbers in numbered:
            wanted = ~useless[instances]
            instances, keys, numbers = instances[wanted], keys[wanted], numbers[wanted]
            todo = numbers < 0
            todo[~todo] = ~facts.has(numbers[~todo], CHECKED)
            if todo.any():
                numbers[todo] = self._check_many(name, keys[todo], goals[instances[todo]])
            pairs.append((numbers, instances))
        self._record(goals, useless, pairs)
        return len(goals)

    def _needed(
        self, found: list[tuple[Family, Rows, int]]
    ) -> tuple[I64, dict[RelationKey, tuple[I64, Keys]]]:
        """The goal of each instance, and (instance, fact of this stratum) pairs by relation."""
        work, stratum = self.work, self.kept.number
        goals: list[U32] = []
        parts: dict[RelationKey, list[tuple[I64, Keys]]] = {}
        base = 0
        for family, rows, n in found:
            goal = rows[family.width]
            assert goal is not None
            goals.append(goal)
            for item, atom in enumerate(family.body):
                if atom.own == LOWER:
                    continue
                for name, keys, mine in body_facts(family, item, rows, n, work.type_id):
                    instances = np.arange(n) if mine is None else mine
                    if atom.own == MIXED:
                        own = work.levels.mask(name, keys, stratum)
                        instances, keys = instances[own], keys[own]
                    if len(keys):
                        parts.setdefault(name, []).append((instances + base, keys))
            base += n
        joined = {
            name: (
                np.concatenate([instances for instances, _ in listed]),
                np.concatenate([keys for _, keys in listed]),
            )
            for name, listed in parts.items()
        }
        return np.concatenate(goals).astype(np.int64), joined

    def _check_many(self, name: RelationKey, keys: Keys, goals: I64) -> I64:
        """Check facts that come in any order and several times, for the sake of some goals."""
        depth = self.facts.depth[goals] + 1
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        bounds = start_of_runs(ordered)
        begins = bounds[:-1]
        least = np.minimum.reduceat(depth[order], begins).astype(np.int64)
        numbers = self._check(name, ordered[begins], least)
        found = np.empty(len(keys), dtype=np.int64)
        found[order] = np.repeat(numbers, bounds[1:] - begins)
        return found

    def _record(self, goals: I64, useless: Bools, pairs: list[tuple[I64, I64]]) -> None:
        """Prove what instances derive from proved facts; remember the others."""
        facts = self.facts
        children = np.concatenate([numbers for numbers, _ in pairs] or [goals[:0]])
        instances = np.concatenate([found for _, found in pairs] or [goals[:0]])
        open_ = ~facts.has(children, PROVED)
        children, instances = children[open_], instances[open_]
        ready = ~useless
        ready[instances] = False
        proved = distinct(np.sort(goals[ready]))
        if len(children):
            self._found.add(goals, children, instances)
            self._enliven(children)
        self._prove(proved[~facts.has(proved, PROVED)])

    # -- who is needed ---------------------------------------------------------------------------

    def _enliven(self, numbers: I64) -> None:
        """Facts, and all those that they wait for, serve an open goal."""
        facts = self.facts
        while len(numbers):
            new = (facts.flags[numbers] & (LIVE | PROVED | DEAD)) == 0
            numbers = distinct(np.sort(numbers[new]))
            facts.mark(numbers, LIVE)
            numbers = self._found.needed(numbers)

    def _bury(self) -> None:
        """What is open still has no proof, but for facts whose proofs were not looked for, and
        those that may need them."""
        facts = self.facts
        live = facts.having(LIVE, LIVE | PROVED)
        reached = live[facts.has(live, BLOCKED)]
        while len(reached):
            goals = self._found.goals_of(reached)
            goals = goals[(facts.flags[goals] & (LIVE | PROVED | BLOCKED)) == LIVE]
            facts.mark(goals, BLOCKED)
            reached = goals
        facts.mark(live[~facts.has(live, BLOCKED)], DEAD)

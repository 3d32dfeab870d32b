"""The search for proofs of facts that may be lost: backward, many facts at a time.

Procedures CHECK and SATURATE of *revisited*, algorithm 5 (lines 77 to 95), and of the thesis,
algorithms 3 and 5. Start reading at `BackwardSearch.unproved`. It is given the facts that lost a
derivation, and returns those without a proof (lines 70 to 73). Following all of them backward at
once would read everything connected with any of them. So every open fact gets only a few instances
in every second round: 1, 1, 1, 2, 2, 2, 4 and so on. It gets none once it is proved, or once it is
needed for proved facts only. An instance whose body is not proved yet is remembered, with the facts
that it waits for. When these are proved later, it proves its goal without being found again. Always
true:

* A fact is checked at most once in a stratum, and each of its instances comes up once.
* PROVED facts have a proof from surviving facts. DEAD facts have none: all their instances were
  considered, and those of all facts that these need.
* Facts that are neither, but are deleted, are BLOCKED.

Where the lines are: `_examine` is 78 to 80 and 87 to 88, `_stop` is ABORTBRANCH, `_try` is the
first test of SATURATE (88), `_round` and `_meet` are 81 to 83, `_bury` is 84, `_prove` is 89 to 94.

Ours deviates as follows. CHECK follows one premise after the other to the end. Here many facts are
open at the same time, and each gets a few instances in turn. SATURATE runs rules forward on proved
facts, and keeps other consequences for later (Y). Here remembered instances do the same where it is
needed, with a tenth to a half of the instances (see DESIGN.md). And a fact that waits for a blocked
one is blocked as well, even if its check has ended.

There are two searches. This one has the text, over arrays and for rules of any kind; it needs no
kernels. `kernel_search` overrides its hot parts for rules of two columns.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from triplestore.evaluate.binding_frames import Bindings
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
from triplestore.maintenance.steps.rederive import FactTest, concluding
from triplestore.maintenance.update_state import Work, united
from triplestore.relations.facts.body_views import Setting
from triplestore.relations.facts.fact_sets import Batch, FactSet, RelationKey, size_of
from triplestore.relations.packed_keys import I64, U32, Bools, Keys, distinct, start_of_runs
from triplestore.rules.families import LOWER, MIXED, Family
from triplestore.rules.strata import CompiledStratum

_REST = 2
"""A fact gets instances in one of this many rounds. In the others, the facts that they need do."""

_FEW = 8
"""Maximum number of open facts that get instances in every round: a round costs more than resting
saves."""

_TIMES = 3
"""Number of times that a fact gets the same number of instances. Then it gets twice as many."""


class BackwardSearch:
    """What is known of the facts of one stratum during its update.

    kept     the rules of the stratum
    absent   facts that cannot be used: gone, but not only because a check was aborted; it grows
    test     which facts follow without a recursive rule
    counted  whether the test is a look-up, which is done before the search may be given up
    """

    def __init__(
        self,
        work: Work,
        kept: CompiledStratum,
        absent: FactSet,
        test: FactTest,
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
        """Called after each round."""
        self._candidates = 0
        self._settled = 0
        self._before = self.work.run.instances.copy()

    # -- goals -----------------------------------------------------------------------------------

    def unproved(self, goals: Batch) -> Batch:
        """The facts that must be deleted: they have no proof, or the search was given up."""
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
            return {}  # open facts are needed for proved goals only, so their search may end here
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
        """Facts that were deleted because their check was aborted, and were proved later."""
        return self._stopped_facts(True)

    def unknown(self) -> Batch:
        """Facts that were deleted because their check was aborted, and may still hold."""
        return self._stopped_facts(False)

    def _stopped_facts(self, proved: bool) -> Batch:
        if not self.dropped_blocked:
            return {}
        numbers = np.concatenate(self.dropped_blocked)
        return self.facts.batch(numbers[self.facts.has(numbers, PROVED) == proved])

    def _leave(self, numbers: I64) -> None:
        """Delete facts finally."""

    def _remembered(self) -> int:
        """The number of waiting instances."""
        return self._found.size

    def _worn_out(self) -> bool:
        """Whether the search has reached its maximum cost."""
        if self.abort.limit(0) == np.inf:
            return False
        instances, before = self.work.run.instances, self._before
        spent = sum(instances[phase] - before[phase] for phase in ("backward", "saturation"))
        deleted = instances["deletion"] - before["deletion"] + self._candidates
        limit = self.abort.limit(deleted + ROUND * self._settled)
        return spent + ROUND * self.rounds >= limit

    # -- single facts ----------------------------------------------------------------------------

    def _check(self, name: RelationKey, keys: Keys, depth: I64) -> I64:
        """Check sorted, distinct facts unless they were checked; returns the numbers of all."""
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
        """Check facts that were not checked: find a proof at hand, abort the check, or begin to
        look for instances."""
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
        """Which checks are to be aborted."""
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
        """Mark facts as proved, with the facts that remembered instances derive from them."""
        facts = self.facts
        while len(numbers):
            facts.mark(numbers, PROVED)
            self.proofs += len(numbers)
            goals = self._found.use(numbers)
            numbers = goals[~facts.has(goals, PROVED)]

    # -- backward --------------------------------------------------------------------------------

    def _round(self, open_: I64) -> int:
        """Consider a few more instances of each open fact; returns their number."""
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
        """Consider up to quota[i] more instances of goals[i], with their consequences; returns the
        number."""
        need = np.zeros(self.facts.count, dtype=np.int64)
        need[goals] = quota
        setting, nots = self._survivors(), self.work.union()
        found = []
        for pieces in self._pieces.values():
            rows, n = pieces.pull(goals, need, setting, nots)
            if n:
                found.append((pieces.family, rows, n))
        return self._meet(found) if found else 0

    def _meet(self, found: list[tuple[Family, Bindings, int]]) -> int:
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
        self, found: list[tuple[Family, Bindings, int]]
    ) -> tuple[I64, dict[RelationKey, tuple[I64, Keys]]]:
        """The goal of each instance, and by relation the pairs (instance, fact of this stratum)."""
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
        """Check unsorted facts with repetitions, which some goals need."""
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
        """Use instances whose facts are proved; remember the others."""
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

    # -- needed facts ----------------------------------------------------------------------------

    def _enliven(self, numbers: I64) -> None:
        """Mark facts as needed for an open goal, with all facts that they wait for."""
        facts = self.facts
        while len(numbers):
            new = (facts.flags[numbers] & (LIVE | PROVED | DEAD)) == 0
            numbers = distinct(np.sort(numbers[new]))
            facts.mark(numbers, LIVE)
            numbers = self._found.needed(numbers)

    def _bury(self) -> None:
        """Mark open facts as dead, except those whose search was aborted, and those that may need
        them."""
        facts = self.facts
        live = facts.having(LIVE, LIVE | PROVED)
        reached = live[facts.has(live, BLOCKED)]
        while len(reached):
            goals = self._found.goals_of(reached)
            goals = goals[(facts.flags[goals] & (LIVE | PROVED | BLOCKED)) == LIVE]
            facts.mark(goals, BLOCKED)
            reached = goals
        facts.mark(live[~facts.has(live, BLOCKED)], DEAD)

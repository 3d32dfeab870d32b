"""The search for proofs with kernels: the same search, for rules of two columns in few calls.

Start reading at `new_search`. The text of the algorithm is in `proof_search`. Here a round asks
`Cursors` for the instances of all goals in one call, and other families one by one (`Pieces`).
Kernels follow the remembered facts and instances (`NumberedFacts`, `LinkedInstances`).

Both searches are needed. With kernels B/F^c is 1.7 to 4.5 times as fast on reachability, left-
linear and transitive closure, 5 to 7 times on the same generation, and 10 to 17 times on highly
recursive programs (`bench searches`: recursive, spread, lines). The other search is for rules of
three columns, with negation, FILTER or BIND, and for a process that has not loaded kernels yet:
loading them takes longer than most searches (0.2 s and more).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from triplestore.kernels.rules.backward import STEPS
from triplestore.maintenance.search.checked_facts import BLOCKED, CHECKED, PROVED
from triplestore.maintenance.search.give_up import BY_KERNELS, DEFAULT, Abort
from triplestore.maintenance.search.kernel_cursors import CursorInstances, Cursors
from triplestore.maintenance.search.numbered_facts import I32, LinkedInstances, NumberedFacts
from triplestore.maintenance.search.proof_search import BackwardSearch
from triplestore.maintenance.steps.rederive import FactTest, concluding
from triplestore.maintenance.update_state import Work
from triplestore.relations.facts.fact_sets import ANY, FactSet, KeySet, RelationKey, TupleSet
from triplestore.relations.facts.sorted_arrays import loaded_kernels
from triplestore.relations.packed_keys import I64, U8, U64, Bools, Keys, distinct
from triplestore.relations.status import EXPLICIT
from triplestore.rules.backward_rules import BackwardRules
from triplestore.rules.strata import CompiledStratum

_ABSENT = np.uint8(32)
"""Flag of facts that were deleted finally; `kernels/rules/backward` knows it."""

_FAR = 1 << 30
_NOTHING = np.zeros(0, dtype=np.int64)


def new_search(
    work: Work,
    kept: CompiledStratum,
    absent: FactSet,
    test: FactTest,
    abort: Abort | None,
    counted: bool,
) -> BackwardSearch:
    """The search for the facts of a stratum: with kernels if they are loaded and useful."""
    if loaded_kernels() is None or not _all_listed(absent):
        return BackwardSearch(work, kept, absent, test, abort or DEFAULT, counted)
    rules = kept.cursors
    if rules is None:
        rules = kept.cursors = BackwardRules(kept.recursive)
    if not rules.families:
        return BackwardSearch(work, kept, absent, test, abort or DEFAULT, counted)
    abort = abort or (DEFAULT if rules.others else BY_KERNELS)
    return KernelSearch(work, kept, absent, test, abort, counted)


def _all_listed(facts: FactSet) -> bool:
    """Whether no set of facts is a difference of closures."""
    return all(isinstance(one, KeySet | TupleSet) for one in facts.values())


class KernelSearch(BackwardSearch):
    """See `BackwardSearch`."""

    facts: NumberedFacts

    def __init__(
        self,
        work: Work,
        kept: CompiledStratum,
        absent: FactSet,
        test: FactTest,
        abort: Abort,
        counted: bool = False,
    ) -> None:
        super().__init__(work, kept, absent, test, abort, counted)
        rules = kept.cursors
        assert rules is not None
        self.facts = NumberedFacts(rules.names)
        self._linked = LinkedInstances(self.facts)
        self._apart = _NOTHING if self.counted else self._by_other_rules()
        """Relations whose facts are tested one by one; None for all."""
        self._cursors = Cursors(
            rules, self.facts, self.work.stored, self._survivors(), self._absent
        )

    def _by_other_rules(self) -> I64 | None:
        """The relations of conclusions of nonrecursive rules; None for any."""
        kept = self.kept
        heads = {family.head.relation for family in (*kept.nonrecursive, *kept.aggregating)}
        places = [self.facts.places[name] for name in heads if name in self.facts.places]
        return None if ANY in heads else np.array(places, dtype=np.int64)

    # -- goals -----------------------------------------------------------------------------------

    def _remembered(self) -> int:
        return self._linked.size

    def _leave(self, numbers: I64) -> None:
        self.facts.mark(numbers, _ABSENT)

    # -- single facts ----------------------------------------------------------------------------

    def _open(self, name: RelationKey, keys: Keys, numbers: I64) -> None:
        if isinstance(name, int):
            self._cursors.open(numbers)
        if self._cursors.others:
            self._open_others(name, keys, numbers)

    def _open_others(self, name: RelationKey, keys: Keys, numbers: I64) -> None:
        """Add goals that rules may conclude which cursors do not follow."""
        for family in concluding(self.work, self.kept, name, keys):
            if family in self._cursors.others:
                self._pieces_of(family, name).open(keys, numbers)

    def _examine_all(self, todo: I64) -> None:
        """Check unchecked facts of any relations, which instances need."""
        relation = self.facts.relation[todo]
        if (relation == relation[0]).all() or self._apart is None:
            at_once = np.zeros(len(todo), dtype=np.bool_)
        else:
            at_once = ~np.isin(relation, self._apart)
        self._examine_at_once(todo[at_once])
        for name, keys, numbers in self.facts.by_relation(todo[~at_once]):
            self._examine(name, keys, numbers)

    def _examine_at_once(self, todo: I64) -> None:
        """`_examine` for facts of several relations."""
        tried = (self._try_all, self._stop_all) if self.counted else (self._stop_all, self._try_all)
        for step in tried:
            if len(todo):
                todo = todo[~step(todo)]
        if len(todo) == 0:
            return
        self.facts.mark(todo, CHECKED)
        self._cursors.open(todo)
        if self._cursors.others:
            for name, keys, numbers in self.facts.by_relation(todo):
                self._open_others(name, keys, numbers)

    def _stop_all(self, todo: I64) -> Bools:
        stopped = self._stopped(todo)
        self.facts.mark(todo[stopped], BLOCKED)
        return stopped

    def _try_all(self, todo: I64) -> Bools:
        status, count = self._cursors.look_up(todo)
        proved = self._asserted(todo, status)
        if self.counted:
            proved |= self._counted(todo, ~proved, count) > 0
        self.facts.mark(todo[proved], CHECKED)
        self._prove(todo[proved])
        return proved

    def _asserted(self, numbers: I64, status: U8) -> Bools:
        """`Work.asserted` for facts of any relations."""
        work = self.work
        found: Bools = status == EXPLICIT
        for name, own, keys in self._of(numbers, work.minus, found):
            found[own] = ~work.minus.contains(name, keys)
        for name, own, keys in self._of(numbers, work.plus, ~found):
            found[own] = work.plus.contains(name, keys)
        return found

    def _counted(self, numbers: I64, wanted: Bools, count: I64) -> I64:
        """The current counts of some facts, given the stored ones."""
        counts = self.work.counts
        for name, own, keys in self._of(numbers, counts.relations(), wanted):
            count[own] = counts.current(name, keys, count[own].astype(np.uint32))
        return count

    def _of(
        self, numbers: I64, names: Iterable[RelationKey], wanted: Bools
    ) -> list[tuple[int, I64, U64]]:
        """The facts of some relations: (relation, places in numbers, keys)."""
        facts = self.facts
        ours = [facts.places[name] for name in names if name in facts.places]
        if not ours:
            return []
        places = np.flatnonzero(wanted & np.isin(facts.relation[numbers], ours))
        backwards = np.empty(facts.count, dtype=np.int64)
        backwards[numbers[places]] = places
        return [
            (name, backwards[own], keys) for name, keys, own in facts.by_relation(numbers[places])
        ]

    def _prove(self, numbers: I64) -> None:
        if len(numbers):
            self.proofs += self._linked.prove(numbers)

    # -- backward --------------------------------------------------------------------------------

    def _instances(self, goals: I64, quota: I64) -> int:
        looked = 0
        for given in self._cursors.pull(goals, quota.copy()):
            looked += len(given.goals)
            self.work.run.fetched += given.looked
            if len(given.goals):
                self._meet_given(given)
        if self._pieces:
            left = ~self.facts.has(goals, PROVED)
            looked += super()._instances(goals[left], quota[left])
        return looked

    def _meet_given(self, given: CursorInstances) -> None:
        """Check the facts that instances need, and remember what they wait for."""
        facts = self.facts
        self.work.run.instances["backward"] += len(given.goals)
        children = given.facts[given.facts > 0].astype(np.int64) - 1
        todo = distinct(np.sort(children[~facts.has(children, CHECKED)]))
        if self.abort.depth is not None:
            self._note_depths(given)
        if len(todo):
            self._examine_all(todo)
        self._remember(given.goals, given.facts, STEPS)

    def _note_depths(self, given: CursorInstances) -> None:
        """Set depths: new facts are one step further from a fact that may be lost than the nearest
        goal that needs them; other facts may turn out to be nearer than before."""
        facts = self.facts
        facts.depth[given.known : facts.count] = _FAR
        needed = given.facts.reshape(-1, STEPS)
        children = needed[needed > 0].astype(np.int64) - 1
        depth = np.repeat(facts.depth[given.goals] + 1, (needed > 0).sum(axis=1))
        todo = ~facts.has(children, CHECKED)
        np.minimum.at(facts.depth, children[todo], depth[todo])

    def _record(self, goals: I64, useless: Bools, pairs: list[tuple[I64, I64]]) -> None:
        children = np.concatenate([numbers for numbers, _ in pairs] or [goals[:0]])
        instances = np.concatenate([found for _, found in pairs] or [goals[:0]])
        order = instances.argsort(kind="stable")
        children, instances = children[order], instances[order]
        starts = instances.searchsorted(np.arange(len(goals)))
        place = np.arange(len(instances)) - starts[instances]
        width = int(place.max(initial=0)) + 1
        facts = np.zeros((len(goals), width), dtype=np.int32)
        facts[instances, place] = children + 1
        self._remember(goals[~useless], np.ascontiguousarray(facts[~useless]).ravel(), width)

    def _remember(self, goals: I64, facts: I32, width: int) -> None:
        """Prove what follows from proved facts; remember other instances."""
        ready = self._linked.add(goals, facts, width)
        self._linked.enliven(facts[facts > 0].astype(np.int64) - 1)
        self._prove(ready)

    # -- needed facts ----------------------------------------------------------------------------

    def _enliven(self, numbers: I64) -> None:
        self._linked.enliven(numbers)

    def _bury(self) -> None:
        self._linked.bury()

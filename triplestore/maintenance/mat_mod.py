"""Materialise and maintain a program: stratum by stratum, each by a module or an algorithm.

Start reading at `Maintenance.run`, which is the outer loop of all of the papers' algorithms:
Mat-Mod (*modular*, algorithm 2, line 8; thesis, algorithm 6, line 144), DRed-Mod (*modular*,
algorithm 3, lines 16 to 20; thesis, algorithm 7, lines 156 to 160), DRed and FBF (*revisited*,
lines 39 to 44 and 59 to 66), and DRed^c (thesis, algorithm 4, lines 67, 68 and 72). A strategy
does one stratum: `dred`, `dred_c` (with `dred_c_mod`), `fbf`, `fbf_c`, `counting`,
`rematerialise`, or `auto`, which chooses. Materialising is the same, with all rules new and nothing
to lose (`seminaive`).

Ours deviates as follows. Only strata that a change reaches are done (`Tasks`). A module that owns a
stratum does it in one call (`modules/protocol`). E changes before all strata (line 67;
`reasoning/asserted_changes` finds the net change), and I after them (line 72), when rows are
written (`changed_rows`). Rules may come and go in the same update. Always true:

* No rule instance is considered twice in a phase. Instances of deletion are over the old facts,
  those of insertion over the new ones. So the counters are exact under every strategy.
* Strata below the current one are done: `gone` and `added` have all their changes.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterable

from triplestore.evaluate.conclusions import Heads, conclude
from triplestore.maintenance.modules.closure import ClosureModule
from triplestore.maintenance.modules.hierarchy import HierarchyModule
from triplestore.maintenance.modules.protocol import Module, StratumOutcome
from triplestore.maintenance.modules.union import UnionModule, viewed_rules
from triplestore.maintenance.report import StratumReport
from triplestore.maintenance.steps.regrouping import summarise_whole
from triplestore.maintenance.steps.stratum import Strategy, StratumUpdate
from triplestore.maintenance.steps.stratum_state import Task
from triplestore.maintenance.update_state import Work
from triplestore.relations.facts.fact_sets import Batch, size_of
from triplestore.relations.facts.stored_facts import unsupported_keys
from triplestore.rules.compiled_program import Compiled
from triplestore.rules.modules.module_groups import Owned
from triplestore.rules.strata import CompiledStratum, Strata


class Maintenance:
    """An update of a closure; see `Tasks` for the arguments."""

    def __init__(
        self,
        work: Work,
        kept: Strata,
        strategy: Strategy,
        fresh: Strata | None = None,
        removed: Iterable[Strata] = (),
        previous: Compiled | None = None,
    ) -> None:
        self.work = work
        self.fresh = fresh
        self.strategy = strategy
        self.reports: list[StratumReport] = []
        self._tasks = Tasks(work, kept, fresh, removed, previous)

    def run(self) -> None:
        """Do all strata that the change reaches, the lowest first."""
        while self._tasks:
            task = self._tasks.take()
            _, _, (gone, added) = self._stratum(task)
            self._tasks.reach(gone, task.number)
            self._tasks.reach(added, task.number)

    def _stratum(self, task: Task) -> StratumOutcome:
        """Do one stratum, and report."""
        work = self.work
        started, instances, rounds = time.perf_counter(), work.run.instances.copy(), work.rounds
        work.budget.check()
        work.forget_leaps(task.number)
        done = name, why, (gone, added) = self._update(task)
        report = StratumReport(
            task.number,
            name,
            time.perf_counter() - started,
            work.rounds - rounds,
            size_of(gone),
            size_of(added),
            dict(work.run.instances - instances),
            why,
        )
        self.reports.append(report)
        if work.budget.progress is not None:
            work.budget.progress(
                f"stratum {task.number}: {report.added:,} facts added, {report.gone:,} gone"
            )
        return done

    def _update(self, task: Task) -> StratumOutcome:
        """Bring one stratum up to date; returns the algorithm, the reason, and what is gone and
        new."""
        module = self._module_of(task.number)
        if module is not None:
            self.work.run.at = module.at
            return module.update(self.work, task)
        update = StratumUpdate(self.work, task)
        name, why = self.strategy.run(update)
        return name, why, update.outcome()

    def _module_of(self, number: int) -> Module | None:
        """The module that owns a stratum; None if its rules are fired one by one."""
        compiled, fresh = self.work.compiled, self.fresh
        block = compiled.strata.hierarchies.get(number)
        if block is not None:
            return HierarchyModule(block, None if fresh is None else fresh.hierarchies.get(number))
        owned = compiled.modules.get(number)
        return None if owned is None else module_for(owned)


def module_for(owned: Owned) -> Module:
    """The module of a group of rules."""
    return UnionModule(owned) if owned.group.structure.is_union else ClosureModule(owned)


class Tasks:
    """The strata that an update reaches, lowest first.

    At first these are the strata of facts that are asserted or retracted, and of rules that come or
    go; then those whose rules read facts that have changed.

    kept      rules that hold before and after the update
    fresh     rules that come with the update
    removed   rules that go with it, compiled as they were
    previous  the program that the removed rules were part of
    """

    def __init__(
        self,
        work: Work,
        kept: Strata,
        fresh: Strata | None,
        removed: Iterable[Strata],
        previous: Compiled | None,
    ) -> None:
        self.work = work
        self.kept = kept
        self.fresh = fresh
        self._tasks: dict[int, Task] = {}
        self._heap: list[int] = []
        for number in [] if fresh is None else [*fresh, *fresh.hierarchies]:
            self._task(number)
        choice = work.choice
        if (
            choice.mode != "auto"
            or choice.by_relation
            or any(one.compressed for one in work.schemes.values())
        ):
            for owned in work.compiled.modules.values():
                if module_for(owned).is_kept_otherwise(work):
                    self._task(owned.number)
        for name, batch in (("minus", work.minus), ("plus", work.plus)):
            for level, facts in work.levels.split(batch.batches()).items():
                setattr(self._task(level), name, facts)
        for strata in removed if previous is not None else ():
            assert previous is not None
            self._take_out(strata, previous)

    def __bool__(self) -> bool:
        return bool(self._heap)

    def take(self) -> Task:
        """The lowest stratum that is not done yet."""
        return self._tasks.pop(heapq.heappop(self._heap))

    def reach(self, changed: Batch, above: int) -> None:
        """Add the strata above a number whose rules read facts that have changed."""
        for relation, keys in changed.items():
            for watcher in self.kept.watching(relation, keys):
                if watcher > above:
                    self._task(watcher)

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
        """Add all conclusions of removed rules to the strata of their facts."""
        work, old = self.work, self.work.old()
        work.run.compiled = previous
        owned_before = {rule for owned in previous.modules.values() for rule in owned.rules}
        owned_now = {n for owned in work.compiled.modules.values() for n in owned.relations}
        viewed = viewed_rules(work.schemes, previous)
        for family in removed.families:
            heads = Heads()
            relation = family.head.relation
            uncounted = family.recursive or viewed.issuperset(family.rules)
            if uncounted and relation in owned_now:
                self._task(work.levels.relation(relation)).fewer = True
                continue
            if family.recursive and owned_before.issuperset(family.rules):
                # All that depends on recursion may be lost. Each fact may have thousands of
                # instances, so this is less work than finding what the rule concluded.
                heads.put(relation, unsupported_keys(work.stored, relation))
            elif family.summary is not None:
                summarise_whole(work, family, old, heads, "removed rules")
            else:
                rows, n = work.run.whole(family, old, "removed rules")
                conclude(family, rows, n, work.type_id, heads)
            for level, batch in work.levels.split(heads.taken()).items():
                task = self._task(level)
                for name, keys in batch.items():
                    (task.lost_rec if uncounted else task.lost).put(name, keys)
        work.run.compiled = work.compiled

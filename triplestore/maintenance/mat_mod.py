"""Materialise and maintain a program: stratum by stratum, each by a module or an algorithm.

Start reading at `Maintenance.run`, which is the outer loop of all of the papers' algorithms:
Mat-Mod (*modular*, algorithm 2, line 8; thesis, algorithm 6, line 144), DRed-Mod (*modular*,
algorithm 3, lines 16 to 20; thesis, algorithm 7, lines 156 to 160), DRed and FBF (*revisited*,
lines 39 to 44 and 59 to 66), and DRed^c (thesis, algorithm 4, lines 67, 68 and 72). What is done in
a stratum is up to the strategy: `dred`, `dred_c` (with `dred_c_mod`), `fbf`, `fbf_c`, `counting`,
`rematerialise`, or `auto`, which chooses. Materialising is the same, with all rules new and nothing
to lose (`seminaive`).

Ours deviates as follows. Only strata are done that a change reaches (`tasks`). A module that owns a
stratum does it in one call (`modules/protocol`). E is changed before all strata (line 67: the net
change is found by `reasoning/asserted_changes`), and I after them (line 72), by writing rows
(`changed_rows`). And rules may come and go in the same update. What is always true:

* no rule instance is considered twice in a phase, those of deletion are instances over the old
  facts, those of insertion over the new ones; so the counters are exact under every strategy;
* strata below the one at work are done: `gone` and `added` say all about them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from triplestore.maintenance.modules.owners import module_of_stratum
from triplestore.maintenance.modules.protocol import StratumOutcome
from triplestore.maintenance.steps.stratum import Strategy, StratumUpdate
from triplestore.maintenance.steps.stratum_state import Task
from triplestore.maintenance.stratum_report import StratumReport
from triplestore.maintenance.tasks import Tasks
from triplestore.maintenance.update_state import Work
from triplestore.relations.facts.fact_sets import size_of
from triplestore.rules.compiled_program import Compiled
from triplestore.rules.strata import Strata


class Maintenance:
    """An update of a closure under way: see `Tasks` for the arguments."""

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
        """Do all strata that the change reaches, from the lowest on."""
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
        """Bring one stratum up to date; returns how, why so, and what is gone and new."""
        module = module_of_stratum(self.work.compiled, task.number, self.fresh)
        if module is not None:
            self.work.tally.at = module.at
            return module.update(self.work, task)
        update = StratumUpdate(self.work, task)
        name, why = self.strategy.run(update)
        return name, why, update.outcome()

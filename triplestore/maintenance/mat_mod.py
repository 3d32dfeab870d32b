"""Maintain a closure: stratum by stratum, deletions and additions together.

Start reading at `Maintenance`. Each stratum that a change reaches is done in the papers' two
phases: what may be lost is found, by the strategy, from the facts that are gone below or no longer
stated; what is gained follows by semi-naive evaluation (`stratum` has the steps). Materialising is
the same, with all rules new and nothing to lose. What is always true:

* no rule instance is considered twice in a phase, those of the first are instances over the old
  facts, those of the second over the new ones; so the counters are exact under every strategy;
* strata below the one at work are done: `gone` and `added` say all about them.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterable
from dataclasses import dataclass

from triplestore.closures.attached import CHAINS, UNION
from triplestore.evaluate.conclusions import Heads, conclude
from triplestore.maintenance.modules.hierarchy import update_hierarchy
from triplestore.maintenance.modules.viewed_rules import viewed_rules
from triplestore.maintenance.steps.regrouping import summarise_whole
from triplestore.maintenance.steps.stratum import Strategy, StratumUpdate, Task
from triplestore.maintenance.update_state import Work
from triplestore.relations.facts.fact_sets import Batch, size_of
from triplestore.relations.facts.stored_facts import unsupported_keys
from triplestore.relations.packed_keys import NO_IDS
from triplestore.rules.compiled_program import Compiled
from triplestore.rules.modules.module_groups import Owned
from triplestore.rules.strata import CompiledStratum, Strata


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
        removed: Iterable[Strata] = (),
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
        for strata in removed if previous is not None else ():
            assert previous is not None
            self._take_out(strata, previous)

    def _is_kept_otherwise(self, owned: Owned) -> bool:
        """Whether a closure is written out and should not be, or the other way round. Sizes are
        looked at when a closure changes; here it is about what somebody said."""
        work = self.work
        known = work.schemes.get(owned.anchor)
        if owned.group.structure.kind == UNION:
            mode = work.choice.mode_of(owned.group.relations)
            return mode == ("compressed" if known is None else "plain")
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
        work.tally.compiled = previous
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
                    (task.lost_rec if uncounted else task.lost).put(name, keys)
        work.tally.compiled = work.compiled

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
        work.forget_leaps(task.number)
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
            self.work.tally.at = "a hierarchy of classes (rdfs:subClassOf)"
            fresh = None if self.fresh is None else self.fresh.hierarchies.get(task.number)
            bodies = NO_IDS if fresh is None else fresh.bodies
            outcome = update_hierarchy(block, self.work, task, bodies)
            return "hierarchy", "subclass rules only", outcome
        owned = self.work.compiled.modules.get(task.number)
        if owned is not None:
            from triplestore.maintenance.modules.close_group import close_group

            self.work.tally.at = owned
            return close_group(owned, self.work, task)
        update = StratumUpdate(self.work, task)
        name, why = self.strategy.run(update)
        return name, why, update.outcome()

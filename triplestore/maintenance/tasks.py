"""Which strata an update reaches, and with what.

Start reading at `Tasks`. At first these are the strata of facts that are stated or taken back, and
of rules that come or go; then those whose rules look at facts that have changed.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from triplestore.evaluate.conclusions import Heads, conclude
from triplestore.maintenance.modules.owners import module_for
from triplestore.maintenance.modules.viewed_rules import viewed_rules
from triplestore.maintenance.steps.regrouping import summarise_whole
from triplestore.maintenance.steps.stratum_state import Task
from triplestore.maintenance.update_state import Work
from triplestore.relations.facts.fact_sets import Batch
from triplestore.relations.facts.stored_facts import unsupported_keys
from triplestore.rules.compiled_program import Compiled
from triplestore.rules.strata import CompiledStratum, Strata


class Tasks:
    """The strata that are to be done, lowest first.

    kept      rules that hold before and after the update
    fresh     rules that come with it
    removed   rules that go with it, compiled as they were
    previous  the program they were part of
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
        """The lowest stratum that is not done."""
        return self._tasks.pop(heapq.heappop(self._heap))

    def reach(self, changed: Batch, above: int) -> None:
        """Strata above one are to be done if their rules look at facts that have changed."""
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

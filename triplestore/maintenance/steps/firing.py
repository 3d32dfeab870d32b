"""Rules are fired on changed facts, and their conclusions counted.

Start reading at `Firing`. Conclusions are collected in `Heads` and counted when all rules have
fired. Conclusions from closures that changed in many pairs are counted block by block, because they
would take too much memory.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence, Set
from typing import TypeAlias

import numpy as np

from triplestore.evaluate.conclusions import Heads, conclude
from triplestore.evaluate.evaluation import Around, Job, changed_job, whole_job
from triplestore.maintenance.modules.projected_rules import (
    as_keys,
    count_weighted,
    is_unused,
    kept_place,
    sizes,
)
from triplestore.maintenance.modules.views_now import closed_now
from triplestore.maintenance.update_state import Work, united
from triplestore.relations.facts.body_views import PairView, Setting
from triplestore.relations.facts.counts import CountChanges, RecursiveChanges
from triplestore.relations.facts.difference_set import DifferenceSet
from triplestore.relations.facts.fact_sets import ANY, Batch, RelationKey
from triplestore.relations.packed_keys import I64, U32
from triplestore.rules.body_plans import WHOLE, AtomStep, plan_for
from triplestore.rules.families import Family
from triplestore.rules.strata import Triggers

Large: TypeAlias = dict[RelationKey, DifferenceSet]
"""Changed facts that are too many to be written out at once."""


class Firing:
    """Fires the rules of an update."""

    __slots__ = ("_work",)

    def __init__(self, work: Work) -> None:
        self._work = work

    def fire(
        self,
        triggers: Triggers,
        batch: Batch,
        around: Around,
        phase: str,
        heads: Heads,
        recursive: Heads,
        done: Set[Family] = frozenset(),
    ) -> None:
        """Add the conclusions of all items that may match a batch.

        done  families that are not fired, because their conclusions are known
        """
        items = [one for one in triggers.of(batch, self._work.type_id) if one[0] not in done]
        self._fire_all(items, batch, around, phase, heads, recursive)

    def _fire_all(
        self,
        items: Sequence[tuple[Family, int]],
        batch: Batch,
        around: Around,
        phase: str,
        heads: Heads,
        recursive: Heads,
    ) -> None:
        """The same for given items."""
        jobs = [
            changed_job(family, item, batch, around, phase)
            for family, item in items
            if family.known.plans or family.known.kernel_shapes or not self._is_idle(family, batch)
        ]
        self._work.run.conclude_all(jobs, heads, recursive)

    def many(
        self, triggers: Triggers, large: Large, around: Around, phase: str, sign: int
    ) -> Batch:
        """`fire` for closures that changed in many pairs, block by block. Conclusions are counted
        at once, and only their facts are kept."""
        work, touched = self._work, Batch()
        for batch in blocks_of(large):
            heads, recursive = Heads(), Heads()
            rest = []
            for family, item in triggers.of(batch, work.type_id):
                if family.recursive or kept_place(family, item) is None:
                    rest.append((family, item))
                    continue
                found = self._projected(family, item, batch, around, phase, sign)
                touched = united(touched, found)
            self._fire_all(rest, batch, around, phase, heads, recursive)
            touched = united(touched, self.count(heads, sign), self.concluded(recursive, sign))
            work.budget.check()
        return touched

    def _projected(
        self, family: Family, item: int, batch: Batch, around: Around, phase: str, sign: int
    ) -> Batch:
        """The conclusions of a family from one side of some pairs, counted."""
        place = kept_place(family, item)
        assert place is not None
        values, weights = sizes(batch[family.body[item].relation], place)
        return self._weighted(family, item, values, weights * sign, around, phase)

    def _weighted(
        self, family: Family, item: int, values: U32, weights: I64, around: Around, phase: str
    ) -> Batch:
        work = self._work
        place = kept_place(family, item)
        assert place is not None
        if is_unused(family, item):
            values, weights = values[:1], weights.sum(keepdims=True)
        batch: Batch = {family.body[item].relation: as_keys(values, place)}
        rows, n = work.run.changed(family, item, batch, around, phase)
        return count_weighted(work.run, work.counts, family, item, rows, n, values, weights)

    def whole(self, families: Sequence[Family], new: Setting, heads: Heads) -> Batch:
        """Add all conclusions of some families. Those of nonrecursive families from closures of
        many pairs are counted at once, and returned."""
        work, touched = self._work, Batch()
        jobs: list[Job] = []
        for family in families:
            if self._is_idle(family):
                continue
            item = scanned_whole(family, new)
            if item is not None:
                touched = united(touched, self._scan(family, item, new, heads))
            else:
                jobs.append(whole_job(family, new, "insertion"))
        work.run.conclude_all(jobs, heads, heads)
        return touched

    def _is_idle(self, family: Family, batch: Container[RelationKey] = ()) -> bool:
        """Whether a family has no instances because a relation of its body is empty. In a large
        ontology most are; then nothing is planned.

        batch  relations of changed facts, which may be new ones
        """
        work = self._work
        for atom in family.body:
            name = atom.relation
            if name == ANY or name in batch or name in work.added:
                continue
            if not len(work.stored.of(name)):
                return True
        return False

    def _scan(self, family: Family, item: int, setting: Setting, rest: Heads) -> Batch:
        """All instances of a family, from the facts of one atom, block by block."""
        work, relation = self._work, family.body[item].relation
        assert isinstance(relation, int)
        around = Around.all_of(setting)
        place = None if family.recursive else kept_place(family, item)
        closed = closed_now(work, relation)
        if place is not None and closed is not None:
            values = closed.distinct(place)
            weights = closed.match_counts(place, values)
            return self._weighted(family, item, values, weights, around, "insertion")
        touched: Batch = {}
        for keys in setting.pairs(relation).blocks():
            heads = rest if family.recursive else Heads()
            rows, n = work.run.changed(family, item, {relation: keys}, around, "insertion")
            conclude(family, rows, n, work.type_id, heads)
            if not family.recursive:
                touched = united(touched, self.count(heads, 1))
            work.budget.check()
        return touched

    def count(
        self, heads: Heads, sign: int, counters: CountChanges | RecursiveChanges | None = None
    ) -> Batch:
        """Change the counters by how often each fact was concluded."""
        counters = self._work.counts if counters is None else counters
        touched: Batch = {}
        for name, (facts, times) in heads.counted():
            by = times.astype(np.int64)
            counters.change(name, facts, by if sign == 1 else by * sign)
            touched[name] = facts
        return touched

    def concluded(self, heads: Heads, sign: int) -> Batch:
        """The conclusions of recursive rules, each fact once; counted if C_r is kept."""
        if self._work.recursive is None:
            return heads.distinct()
        return self.count(heads, sign, self._work.recursive)


def blocks_of(large: Large) -> Iterator[Batch]:
    """The facts, in blocks."""
    for name, found in large.items():
        for keys in found.blocks():
            yield {name: keys}


def scanned_whole(family: Family, setting: Setting) -> int | None:
    """The atom from which all instances of a family are found, if it matches all pairs of a
    closure: the first atom of the plan, or one whose pairs nothing uses."""
    if not family.recursive and len(family.body) > 1:
        for item, atom in enumerate(family.body):
            if not isinstance(atom.relation, int) or len(atom.variables) != 2:
                continue
            view = setting.view(atom.relation)
            if isinstance(view, PairView) and view.is_large() and is_unused(family, item):
                return item
    step = next(iter(plan_for(family, WHOLE, setting).steps), None)
    if not isinstance(step, AtomStep) or step.negated or step.bound or step.item < 0:
        return None
    view = setting.view(step.atom.relation)
    return step.item if isinstance(view, PairView) and view.is_large() else None

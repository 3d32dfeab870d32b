"""One stratum of an update: its task, and what was deleted and added so far.

Start reading at `Task`, then `StratumState`. The steps are in `stratum`.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from triplestore.data_classes import data_class
from triplestore.evaluate.conclusions import Heads
from triplestore.maintenance.steps.firing import Large
from triplestore.maintenance.update_state import Work, united
from triplestore.relations.facts.difference_set import DifferenceSet
from triplestore.relations.facts.fact_sets import Batch, FactSet, RelationKey, set_of
from triplestore.relations.thresholds import RELATIONS
from triplestore.rules.strata import CompiledStratum


@data_class(frozen=False)
class Task:
    """What changes in one stratum, and by which rules.

    minus, plus      its facts that are retracted, and that are asserted now
    lost, lost_rec   conclusions of removed rules: of nonrecursive ones (each as often as it was
                     derived), and of recursive ones
    fewer            whether recursive rules were removed whose conclusions are not in `lost_rec`,
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
        """Whether the stratum has recursive rules that it had before."""
        return bool(self.kept.recursive)

    @property
    def recursive_ever(self) -> bool:
        """Whether it has, had, or gets recursive rules."""
        fresh = self.fresh is not None and bool(self.fresh.recursive)
        return self.recursive or fresh or bool(self.lost_rec)


class StratumState:
    """What is known of one stratum during its update.

    low_gone, large_gone    facts of lower strata that are gone and that rules of this stratum may
                            read: as arrays, and those that are too many to be written out
    low_added, large_added  the same for new facts
    """

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
        self._all_dropped: list[Batch] = []
        self._all_gained: list[Batch] = []

    def reads_large(self) -> bool:
        """Whether rules of the stratum read a closure that is too large to be written out."""
        relations = self.kept.relations
        return any(
            closed.count() > RELATIONS.written_pairs
            for name, closed in self.work.stored.tables.closed.items()
            if relations is None or name in relations
        )

    def gone_below(self) -> FactSet:
        """The facts of lower strata that are gone and that rules of this stratum may read."""
        return set_with_large(self.low_gone, self.large_gone)

    def dropped(self) -> Batch:
        """The facts of this stratum that were deleted so far."""
        return united(*self._all_dropped)

    def settle(self, gone: Batch, added: Batch, *, counted: bool = False) -> None:
        """Delete and add facts, for a strategy that knows the result of the stratum.

        counted  whether the strategy has changed the recursive counters, if they are kept
        """
        work = self.work
        for sets, batch in ((work.gone, gone), (work.added, added)):
            for name, keys in batch.items():
                sets.add(name, keys)
        self._all_dropped.append(gone)
        self._all_gained.append(added)
        if work.recursive is not None and self.task.recursive_ever and not counted:
            work.recursive.complete = False  # it is not known how often each fact was derived

    def is_plain(self) -> bool:
        """Whether the stratum has and had no rules. Then only assertions change it, as in the
        lowest strata."""
        task = self.task
        ruled = self.kept.families or task.fresh is not None or task.fewer
        return not (ruled or task.lost or task.lost_rec)

    def outcome(self) -> tuple[Batch, Batch]:
        """The facts of this stratum that are gone, and those that are new."""
        work = self.work
        dropped, gained = united(*self._all_dropped), united(*self._all_gained)
        gone = work.filter(dropped, work.gone.contains)
        sure = {name: keys for name, keys in gained.items() if name not in work.gone}
        rest = {name: keys for name, keys in gained.items() if name in work.gone}
        return gone, sure | work.filter(
            rest, work.added.contains
        )  # some were only deleted and came back


def _relevant(changed: FactSet, task: Task) -> tuple[Batch, Large]:
    """The changed facts that rules of a stratum may read."""
    relations = task.kept.relations
    batch: Batch = {}
    large: Large = {}
    for name in changed if relations is None else relations:
        found: object = changed.get(name)
        if isinstance(found, DifferenceSet) and len(found) > RELATIONS.written_pairs:
            large[name] = found
        elif found is not None and len(changed[name]):
            batch[name] = changed[name].keys()
    return batch, large


def set_with_large(batch: Batch, large: Large) -> FactSet:
    """All of some facts, with those too many to be written out."""
    found: dict[RelationKey, Any] = {**set_of(batch), **large}  # all are read in the same way
    return FactSet(found)

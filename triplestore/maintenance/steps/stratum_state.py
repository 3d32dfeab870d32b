"""One stratum of an update: its task, and what was deleted and added so far.

Start reading at `Task`, then `StratumState`. The steps themselves are in `stratum`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from triplestore.evaluate.conclusions import Heads
from triplestore.maintenance.steps.firing import Large
from triplestore.maintenance.update_state import Work, united
from triplestore.relations.facts.difference_set import DifferenceSet
from triplestore.relations.facts.fact_sets import Batch, FactSet, RelationKey, set_of
from triplestore.relations.thresholds import RELATIONS
from triplestore.rules.strata import CompiledStratum


@dataclass(slots=True)
class Task:
    """What changes in one stratum, and by which rules.

    minus, plus      facts of it that are not stated any more, and that are from now on
    lost, lost_rec   conclusions of rules that were taken out: nonrecursive (each as often as it was
                     derived), and recursive ones
    fewer            whether recursive rules were taken out whose conclusions are not among these,
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
        """Whether the stratum has recursive rules that were there before."""
        return bool(self.kept.recursive)

    @property
    def recursive_ever(self) -> bool:
        """Whether it has, had, or gets recursive rules."""
        fresh = self.fresh is not None and bool(self.fresh.recursive)
        return self.recursive or fresh or bool(self.lost_rec)


class StratumState:
    """What is known of one stratum while it is updated.

    low_gone, large_gone    facts of lower strata that are gone, as far as rules of this one look at
                            them: as arrays, and those that are too many to be written out
    low_added, large_added  the same of those that are new
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
        """Whether rules of the stratum look at a closure that should not be written out."""
        relations = self.kept.relations
        return any(
            closed.count() > RELATIONS.written_pairs
            for name, closed in self.work.stored.tables.closed.items()
            if relations is None or name in relations
        )

    def gone_below(self) -> FactSet:
        """The facts of lower strata that are gone, as far as rules of this one look at them."""
        return set_with_large(self.low_gone, self.large_gone)

    def dropped(self) -> Batch:
        """The facts of this stratum that were taken away so far."""
        return united(*self._all_dropped)

    def settle(self, gone: Batch, added: Batch, *, counted: bool = False) -> None:
        """Take facts away and bring others, by a strategy that knows what the stratum comes to.

        counted  whether it has changed the recursive counters, where they are kept
        """
        work = self.work
        for sets, batch in ((work.gone, gone), (work.added, added)):
            for name, keys in batch.items():
                sets.add(name, keys)
        self._all_dropped.append(gone)
        self._all_gained.append(added)
        if work.recursive is not None and self.task.recursive_ever and not counted:
            work.recursive.complete = False  # how often each fact was derived is not known

    def is_plain(self) -> bool:
        """Whether the stratum has no rules, new ones or others, nor had any: what is stated is all
        that changes it, as in the lowest ones."""
        task = self.task
        ruled = self.kept.families or task.fresh is not None or task.fewer
        return not (ruled or task.lost or task.lost_rec)

    def settle_stated(self) -> None:
        """Do a plain stratum: what every strategy comes to, by a third of the steps."""
        work, task = self.work, self.task
        work.budget.check()
        if task.minus:
            gone = work.filter(task.minus, lambda name, keys: ~work.supported(name, keys))
            self._all_dropped.append(gone)
            work.take_away(gone)
            work.rounds += bool(gone)
        if task.plus:
            came = work.coming(task.plus)
            self._all_gained.append(came)
            work.admit(came)
            work.rounds += bool(came)

    def outcome(self) -> tuple[Batch, Batch]:
        """The facts of this stratum that are gone, and those that are new."""
        work = self.work
        dropped, gained = united(*self._all_dropped), united(*self._all_gained)
        gone = work.filter(dropped, work.gone.contains)
        sure = {name: keys for name, keys in gained.items() if name not in work.gone}
        rest = {name: keys for name, keys in gained.items() if name in work.gone}
        return gone, sure | work.filter(rest, work.added.contains)  # some may have come back only


def _relevant(changed: FactSet, task: Task) -> tuple[Batch, Large]:
    """The changed facts that rules of a stratum may look at."""
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
    """All of some facts, those too many to be written out with them."""
    found: dict[RelationKey, Any] = {**set_of(batch), **large}  # all are read in the same way
    return FactSet(found)

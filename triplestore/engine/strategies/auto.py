"""`auto`: the strategy for each stratum and update, from its size and what work has cost so far.

Start reading at `Auto`. Changes that would touch much of a stratum are rematerialised; others are
maintained incrementally, in a time that may not exceed what rematerialising is expected to take: if
it does, the stratum's sets are dropped, which undoes everything, and it is rematerialised. So a
wrong guess costs at most what the right choice would have cost. What is learned belongs to a
compiled program, and is measured in facts so that it holds as the store grows.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from triplestore.engine.families import Family
from triplestore.engine.maintain import Strategy, StratumUpdate
from triplestore.engine.sets.keys import RelationKey, size_of
from triplestore.engine.strategies.overdelete import DRedCounting
from triplestore.engine.strategies.prove import bfc, fbfc
from triplestore.engine.strategies.rematerialise import Rematerialise
from triplestore.engine.work import Overrun

PER_FAMILY = 40e-6
"""Seconds for evaluating one family once, until something was measured."""

PER_ROW = 40e-9
"""Seconds for each row that rematerialising looks at, until something was measured."""

PER_CHANGE = 4e-6
"""Seconds for each changed fact, until something was measured."""

LEAST = 3e-3
"""An update may always take so long, in seconds: shorter ones are not worth a change of mind."""

COMPARING = 1.5
"""What rematerialising costs, with the comparison, beside materialising at first."""

DOUBT = 0.7
"""What is left of a high cost each time that it was believed without being measured again."""

MANY = 100
"""So many changes tell what one of them costs."""

SLOW = 0.3
"""How much the last measurement counts beside those before."""


@dataclass(slots=True)
class Cost:
    """What a stratum has cost.

    full        seconds that rematerialising took for each row its rules looked at
    per_change  seconds that an incremental update took for each changed fact; learned from updates
                of many, since in those of few other things cost more
    rows        the rows that rematerialising looks at, when the store had `facts`
    """

    full: float = PER_ROW
    per_change: float = PER_CHANGE
    rows: float = 0.0
    facts: int = -1

    def rows_of(self, update: StratumUpdate) -> float:
        """The rows that rematerialising would look at, about: counted anew as the store grows."""
        facts = update.work.stored.tables.total()
        if self.facts < 0 or abs(facts - self.facts) > self.facts // 8:
            self.rows, self.facts = _rows(update), facts
        return self.rows


class Auto(Strategy):
    """Choose a strategy for each stratum."""

    name = "auto"

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock

    def run(self, update: StratumUpdate) -> tuple[str, str]:
        """See `Strategy.run`."""
        costs: dict[int, Cost] = update.work.compiled.costs
        cost = costs.setdefault(update.task.number, Cost())
        if not update.kept.families:
            return self._first(update, cost)
        changes = _changes(update)
        full = len(_all(update)) * PER_FAMILY + cost.full * cost.rows_of(update)
        expected = cost.per_change * changes
        if expected > full and expected > LEAST:
            return self._full(update, cost, f"{changes:,} changes would take {_ms(expected)}, "
                              f"all anew {_ms(full)}")  # fmt: skip
        return self._incremental(update, cost, changes, max(full, LEAST))

    def _first(self, update: StratumUpdate, cost: Cost) -> tuple[str, str]:
        """A stratum whose rules are all new: there is nothing to choose, but something to learn."""
        started = self._clock()
        DRedCounting().run(update)
        if update.task.fresh is not None:
            spent = COMPARING * (self._clock() - started)
            _learn_full(cost, spent, _rows(update), len(_all(update)))
        return "semi-naive", "all rules are new"

    def _full(self, update: StratumUpdate, cost: Cost, why: str) -> tuple[str, str]:
        started = self._clock()
        cost.per_change = max(PER_CHANGE, cost.per_change * DOUBT)
        Rematerialise().run(update)
        _learn_full(cost, self._clock() - started, _rows(update), len(_all(update)))
        return "rematerialise", why

    def _incremental(
        self, update: StratumUpdate, cost: Cost, changes: int, allowed: float
    ) -> tuple[str, str]:
        chosen = _incremental_strategy(update)
        work = update.work
        mark, started = work.mark(), self._clock()
        work.budget.overrun = started + allowed
        try:
            chosen.run(update)
        except Overrun:
            if changes >= MANY:
                cost.per_change = max(cost.per_change, 2 * allowed / changes)
            work.restore(mark)
            update.begin()
            work.budget.overrun = float("inf")
            return self._full(update, cost, f"{chosen.name} took more than {_ms(allowed)}")
        finally:
            work.budget.overrun = float("inf")
        if changes >= MANY:
            spent = self._clock() - started
            cost.per_change += SLOW * (spent / changes - cost.per_change)
        return chosen.name, f"{changes:,} changes, at most {_ms(allowed)}"


def _incremental_strategy(update: StratumUpdate) -> Strategy:
    """Without recursion the counters are exact; with it proofs are looked for, as long as that
    costs no more than overdeleting."""
    if not update.task.recursive:
        return DRedCounting()
    return bfc() if _changes(update) < FEW else fbfc()


FEW = 4
"""So few changes are worth looking for proofs to the end."""


def _changes(update: StratumUpdate) -> int:
    """How many changed facts the rules of the stratum may look at."""
    task = update.task
    batches = (update.low_gone, update.low_added, task.minus, task.plus)
    parts = [part for heads in (task.lost, task.lost_rec) for part in heads.values()]
    return sum(map(size_of, batches)) + sum(len(keys) for part in parts for keys in part)


def _all(update: StratumUpdate) -> list[Family]:
    fresh = update.task.fresh
    return [*update.kept.families, *(fresh.families if fresh is not None else ())]


def _rows(update: StratumUpdate) -> float:
    """The rows that rematerialising would look at: those of all relations in bodies and heads."""
    setting = update.work.new()
    atoms = [atom for family in _all(update) for atom in (family.head, *family.body)]
    relations: set[RelationKey] = {atom.relation for atom in atoms}
    return sum([setting.view(relation).estimate(()) for relation in relations], 1.0)


def _learn_full(cost: Cost, seconds: float, rows: float, families: int) -> None:
    each = max(seconds - families * PER_FAMILY, 0.0) / rows
    cost.full += SLOW * (each - cost.full) if cost.full != PER_ROW else each - cost.full


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms"

"""`auto`: the strategy for each stratum and update, from its size and what work has cost so far.

Start reading at `Auto`. Changes that would touch much of a stratum are rematerialised; others are
maintained incrementally, in a time that may not exceed what rematerialising is expected to take: if
it does, the stratum's sets are dropped, which undoes everything, and it is rematerialised. So a
wrong guess costs at most what the right choice would have cost. What is learned belongs to a
compiled program, and is measured in facts so that it holds as the store grows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from triplestore.engine.families import Family
from triplestore.engine.sets.keys import RelationKey, size_of
from triplestore.engine.strategies.overdelete import DRedCounting
from triplestore.engine.strategies.prove import bfc, fbfc
from triplestore.engine.strategies.rematerialise import Rematerialise
from triplestore.engine.stratum import Strategy, StratumUpdate
from triplestore.engine.work import Overrun

PER_FAMILY = 40e-6
"""Seconds for evaluating one family once, until something was measured."""

PER_ROW = 40e-9
"""Seconds for each row that rematerialising looks at, until something was measured."""

ROUNDS = 10
"""So many rounds a recursive stratum is taken to need, until something was measured."""

PER_CHANGE = 4e-6
"""Seconds for each changed fact, until something was measured."""

LEAST = 6e-3
"""An update may always take so long, in seconds: shorter ones are not worth a change of mind."""

COMPARING = 1.5
"""What rematerialising costs, with the comparison, beside materialising at first."""

DOUBT = 0.7
"""What is left of a high cost each time that it was believed without being measured again."""

AGAIN = 32
"""After so many updates of a stratum something that was not best is tried again."""

MANY = 100
"""So many changes tell what one of them costs."""

SLOW = 0.3
"""How much the last measurement counts beside those before."""


@dataclass(slots=True)
class Patience:
    """Whether few changes are maintained incrementally, where that has run out of time lately.

    One that did may be an exception. After two in a row 2 updates are rematerialised at once, after
    three 4, and so on up to `AGAIN`: so the time that is lost is a small part of what is done.
    """

    failures: int = 0
    left: int = 0

    def ends(self) -> bool:
        """Whether this one update is not tried."""
        self.left -= self.left > 0
        return self.failures > 1 and self.left > 0

    def learn(self, worked: bool) -> None:
        """What came of a trial."""
        self.failures = 0 if worked else self.failures + 1
        self.left = 0 if self.failures < 2 else min(1 << (self.failures - 1), AGAIN) + 1


@dataclass(slots=True)
class Cost:
    """What a stratum has cost.

    full        seconds that rematerialising took for each row its rules looked at
    per_change  name -> seconds that an incremental strategy took for each changed fact, learned
                from updates of many; in those of few other things cost more
    rows        the rows that rematerialising looks at, when the store had `facts`
    updates     how many there were
    patience    of few changes, those that take facts away apart from others
    """

    full: float = PER_ROW
    per_change: dict[str, float] = field(default_factory=dict)
    rows: float = 0.0
    facts: int = -1
    updates: int = 0
    patience: tuple[Patience, Patience] = field(default_factory=lambda: (Patience(), Patience()))

    def rows_of(self, update: StratumUpdate) -> float:
        """The rows that rematerialising would look at, about: counted anew as the store grows."""
        facts = update.work.stored.tables.total()
        if self.facts < 0 or abs(facts - self.facts) > self.facts // 8:
            self.rows, self.facts = _rows(update), facts
        return self.rows

    def learn(self, name: str, seconds: float) -> None:
        """One more measurement of an incremental strategy, in seconds for each change."""
        known = self.per_change.get(name, seconds)
        self.per_change[name] = known + SLOW * (seconds - known)

    def best(self, names: Sequence[str]) -> tuple[str, float]:
        """The strategy that cost least so far, and what it cost for each change."""
        known = [(self.per_change[name], name) for name in names if name in self.per_change]
        if not known:
            return names[0], PER_CHANGE
        seconds, name = min(known)
        return name, seconds

    def untried(self, names: Sequence[str]) -> str | None:
        """A strategy to be tried: one that never was, and now and then each of them again."""
        new = next((name for name in names if name not in self.per_change), None)
        if new is None and self.updates % AGAIN == 0:
            return names[self.updates // AGAIN % len(names)]
        return new


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
        cost.updates += 1
        changes = _changes(update)
        full = len(_all(update)) * PER_FAMILY + cost.full * cost.rows_of(update)
        if update.task.recursive and cost.full == PER_ROW:
            full *= ROUNDS  # nothing was measured yet
        names = _candidates(update, changes)
        name, each = cost.best(names)
        expected = each * changes
        if expected > full and expected > LEAST:
            cost.per_change[name] = max(PER_CHANGE, each * DOUBT)
            why = f"{changes:,} changes would take {_ms(expected)}, all anew {_ms(full)}"
            return self._full(update, cost, why)
        allowed = max(full, LEAST)
        patience = None if changes >= MANY else cost.patience[_takes_away(update)]
        if patience is not None and patience.ends():
            return self._full(update, cost, "so few changes took longer, time and again")
        if changes >= MANY and (other := cost.untried(names)) not in (None, name):
            # Something else may be better; it may take twice what the best is known to take.
            limit = min(allowed, max(2 * expected, LEAST))
            if done := self._incremental(update, cost, changes, str(other), limit):
                return done
        done = self._incremental(update, cost, changes, name, allowed)
        if patience is not None:
            patience.learn(done is not None)
        return done or self._full(update, cost, f"{name} took more than {_ms(allowed)}")

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
        Rematerialise().run(update)
        _learn_full(cost, self._clock() - started, _rows(update), len(_all(update)))
        return "rematerialise", why

    def _incremental(
        self, update: StratumUpdate, cost: Cost, changes: int, name: str, allowed: float
    ) -> tuple[str, str] | None:
        """Maintain the stratum in the time allowed; None, with all undone, if it is too short."""
        work = update.work
        mark, made, started = work.mark(), work.budget.made, self._clock()
        work.budget.overrun = started + allowed
        try:
            INCREMENTAL[name]().run(update)
        except Overrun:
            work.restore(mark)
            work.budget.made = made
            update.begin()
            if changes >= MANY:
                cost.learn(name, 2 * allowed / changes)
            return None
        finally:
            work.budget.overrun = float("inf")
        if changes >= MANY:
            cost.learn(name, (self._clock() - started) / changes)
        return name, f"{changes:,} changes, at most {_ms(allowed)}"


INCREMENTAL: dict[str, Callable[[], Strategy]] = {"dredc": DRedCounting, "bfc": bfc, "fbfc": fbfc}
"""The strategies to choose from."""


def _candidates(update: StratumUpdate, changes: int) -> Sequence[str]:
    """Without recursion the counters are exact; with it proofs are looked for, to the end where
    there are few changes, or facts are taken away and brought back."""
    if not update.task.recursive or update.leaps() is not None:
        return ("dredc",)
    return ("bfc",) if changes < FEW else ("fbfc", "dredc")


FEW = 4
"""So few changes are worth looking for proofs to the end."""


def _changes(update: StratumUpdate) -> int:
    """How many changed facts the rules of the stratum may look at."""
    task = update.task
    batches = (update.low_gone, update.low_added, task.minus, task.plus)
    parts = [part for heads in (task.lost, task.lost_rec) for part in heads.values()]
    large = [*update.large_gone.values(), *update.large_added.values()]
    several = sum(map(len, large)) + sum(map(size_of, batches))
    return several + sum(len(keys) for part in parts for keys in part)


def _takes_away(update: StratumUpdate) -> bool:
    """Whether facts go: bringing some costs what follows, taking some away what may follow."""
    task = update.task
    some = size_of(update.low_gone) + size_of(task.minus)
    return bool(some or update.large_gone or task.lost)


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

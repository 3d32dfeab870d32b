"""`auto`: choose the strategy for each stratum and update, by its size and measured costs.

Start reading at `Auto`. An update that only adds facts is maintained by DRed^c: its rule instances
are among those of rematerialising. An update that deletes facts is tried with DRed^c. If the
stratum is recursive, has no leaps and is large enough, B/F^c is tried first. Together they get at
most the time that rematerialising is expected to take. If that is not enough, the sets of the
stratum are dropped, which undoes everything, and it is rematerialised. So a wrong guess costs at
most what the right choice would have cost. A strategy that is known to be too slow is not tried.
Measured costs (`costs`) belong to a compiled program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from triplestore.maintenance.budget import NEVER, Clocks, Overrun, between, clocks, is_recent
from triplestore.maintenance.costs import Cost
from triplestore.maintenance.dred_c import DRedC, dred_c
from triplestore.maintenance.fbf_c import BFC
from triplestore.maintenance.rematerialise import Rematerialise
from triplestore.maintenance.search.proof_search import BackwardSearch
from triplestore.maintenance.steps.stratum import UNOBSERVED, Observer, Strategy, StratumUpdate
from triplestore.maintenance.thresholds import MAINTENANCE
from triplestore.relations import EXPLICIT
from triplestore.relations.facts.fact_sets import Batch, RelationKey, size_of
from triplestore.rules.families import Family


class Auto(Strategy):
    """Choose a strategy for each stratum."""

    name = "auto"

    def __init__(self, clock: Callable[[], Clocks] = clocks) -> None:
        self._clock = clock
        self._ended: Clocks | None = None
        """When the last stratum with a choice ended."""

    def run(self, update: StratumUpdate) -> tuple[str, str]:
        """See `Strategy.run`."""
        if update.is_plain():
            dred_c(update)
            return "asserted facts only", "no rules"
        if update.kept.families and _only_brings(update):
            changes = _changes(update)
            name, how = DRedC().run(update)
            return name, _after(how, f"{_many(changes)}, and nothing is lost")
        costs: dict[int, Cost] = update.work.compiled.costs
        cost = costs.setdefault(update.task.number, Cost())
        if not update.kept.families:
            return self._first(update, cost)
        choice = _Choice(self._clock, update, cost, self._now())
        done = choice.run()
        self._ended = choice.ended
        return done

    def _now(self) -> Clocks:
        """The time, or the end of the last stratum if that was just now: a trial has a limit of
        milliseconds, and the processor's clock takes up to 30 us."""
        if self._ended is not None and is_recent(self._ended):
            return self._ended
        return self._clock()

    def _first(self, update: StratumUpdate, cost: Cost) -> tuple[str, str]:
        """Do a stratum whose rules are all new: there is nothing to choose, but costs to learn."""
        started = self._clock()
        name, how = DRedC().run(update)
        if update.task.fresh is None:
            return name, _after(how, "all rules are gone")
        spent = between(started, self._clock())
        cost.learn_closure(spent, len(_all(update)), _rows(update))
        return "semi-naive", "all rules are new"


class _Choice:
    """One update of a stratum that may lose facts.

    ended  when the last trial ended; None if nothing was tried, or it was rematerialised
    """

    def __init__(
        self, clock: Callable[[], Clocks], update: StratumUpdate, cost: Cost, now: Clocks
    ) -> None:
        self.clock, self.update, self.cost = clock, update, cost
        self.now = now
        self.ended: Clocks | None = None
        self.changes = max(1, _changes(update))
        self.families = len(_all(update))
        self.share = _share(update) if self.changes >= MAINTENANCE.many_changes else 0.0
        rows, recursive = self._rows_about(), update.task.recursive
        self.full = cost.rematerialising(self.families, rows, recursive, self.share)

    def _rows_about(self) -> float:
        """The rows that rematerialising would read: counted again when the store has grown."""
        cost = self.cost
        facts = self.update.work.stored.tables.total()
        if cost.facts < 0 or abs(facts - cost.facts) > cost.facts // 8:
            cost.rows, cost.facts = _rows(self.update), facts
        return cost.rows

    def run(self) -> tuple[str, str]:
        """Maintain the stratum; returns the strategy and the reason."""
        cost, changes = self.cost, self.changes
        if why := self._hopeless():
            return self._rematerialise(why)
        size = cost.of(changes)
        allowed = max(MAINTENANCE.allowed * self.full, MAINTENANCE.least_seconds)
        plan = size.plan(self._names(), changes, allowed)
        if not plan:
            return self._rematerialise(f"{_many(changes)} took longer before")
        for name, limit in plan:
            dropped = MAINTENANCE.dropping * cost.rows
            trial = _Trial(self.clock, self.now, self.update, limit, dropped, self.full)
            done = trial.run(name, name in size.each)
            started, self.now = self.now, self.clock()
            if done is not None:
                self.ended = self.now
                size.learn(name, changes, between(started, self.now))
                size.patience.learn(True)
                return name, _after(done[1], f"{_many(changes)}, within {_ms(limit)}")
            if size.each and (name, limit) != plan[-1]:  # another strategy is known to be better
                size.learn(name, changes, 2 * limit)
            elif trial.hopeful:  # most overdeleted facts would have to be inserted again
                break
        expected = self.full
        how = self._rematerialise(f"{name} took more than {_ms(limit)}")
        if self.spent < MAINTENANCE.misjudged * expected:
            many = changes >= MAINTENANCE.many_changes
            size.patience.learn(False, MAINTENANCE.no_exception if many else 1)
        return how

    def _hopeless(self) -> str:
        """Why the stratum is rematerialised without a trial; empty if a trial is made."""
        cost, changes = self.cost, self.changes
        if self.share >= MAINTENANCE.most_deleted:
            return f"{self.share:.0%} of the asserted facts go"
        known_of_fewer = cost.has_failed_with_fewer(changes)
        size = cost.of(changes)
        size.updates += 1
        if known_of_fewer or size.patience.ends():
            return "updates of this size took longer before"
        return ""

    def _names(self) -> Sequence[str]:
        """Strategies to choose from. Without recursion the counters are exact, so a search for
        proofs saves nothing."""
        if not self.update.task.recursive or self.update.leaps() is not None:
            return ("dred_c",)
        return "bf_c", "dred_c"

    def _rematerialise(self, why: str) -> tuple[str, str]:
        started = self.clock()
        Rematerialise().run(self.update)
        self.spent = between(started, self.clock())
        self.cost.learn_full(self.spent, self.families, _rows(self.update), self.share)
        return "rematerialise", why


class _Trial:
    """A strategy with a time limit in seconds. The limit is shorter while it seems to be in vain.

    dropped  maximum number of facts that DRed^c may delete
    full     expected time of rematerialising
    hopeful  whether a search has found proofs for many of the facts that it checked; then
             overdeletion would be in vain
    """

    def __init__(
        self,
        clock: Callable[[], Clocks],
        now: Clocks,
        update: StratumUpdate,
        allowed: float,
        dropped: float,
        full: float,
    ) -> None:
        self._clock = clock
        self._update = update
        self._allowed = allowed
        self._left = self._most = max(dropped, MAINTENANCE.dropping * MAINTENANCE.many_changes)
        self._matters = full > MAINTENANCE.least_seconds
        self._since = now
        self.hopeful = False

    def run(self, name: str, known: bool) -> tuple[str, str] | None:
        """Maintain the stratum; None, with everything undone, if the time was not enough.

        known  whether the strategy has worked before
        """
        update, work = self._update, self._update.work
        mark, made = work.mark(), work.budget.made
        strategy = STRATEGIES[name]()
        self._begin(name, known)
        try:
            return strategy.run(update)
        except Overrun:
            work.restore(mark)
            work.budget.made = made
            update.begin()
            return None
        finally:
            work.budget.overrun = NEVER
            update.observer = UNOBSERVED

    def _begin(self, name: str, known: bool) -> None:
        """Watch the strategy, if it may be in vain."""
        update = self._update
        if name == "dred_c" and update.task.recursive and update.leaps() is None:
            update.observer = _OfDeletion(self)
            self.allow(MAINTENANCE.rederiving)
        elif name == "bf_c" and not known:
            update.observer = _OfSearch(self)
            self.allow(MAINTENANCE.probing)
        else:
            self.allow(1.0)

    def allow(self, part: float) -> None:
        """Allow the strategy this part of the time."""
        most = max(part * self._allowed, MAINTENANCE.least_seconds)
        self._update.work.budget.overrun = (self._since[0] + most, self._since[1] + most)

    def deletes(self, facts: Batch) -> None:
        """Note that overdeletion has deleted these facts."""
        if self._left == self._most:  # every strategy had to read what the changed rows touch
            self._since = self._clock()
            self.allow(MAINTENANCE.deleting)
        self._left -= size_of(facts)
        if self._left < 0 and self._matters:
            raise Overrun

    def searched(self, search: BackwardSearch) -> None:
        """Note one more round of a search."""
        if not self.hopeful and search.proofs * MAINTENANCE.hopeful > search.facts.count:
            self.hopeful = True
            self.allow(1.0)


class _OfDeletion(Observer):
    """Reports the progress of overdeletion to a trial."""

    def __init__(self, trial: _Trial) -> None:
        self._trial = trial

    def deletes(self, facts: Batch) -> None:
        """See `Observer.deletes`."""
        self._trial.deletes(facts)

    def rederives(self) -> None:
        """See `Observer.rederives`."""
        self._trial.allow(MAINTENANCE.rederiving)

    def inserts(self) -> None:
        """See `Observer.inserts`."""
        self._trial.allow(1.0)


class _OfSearch(Observer):
    """Reports the progress of a search to a trial."""

    def __init__(self, trial: _Trial) -> None:
        self._trial = trial

    def searched(self, search: BackwardSearch) -> None:
        """See `Observer.searched`."""
        self._trial.searched(search)


STRATEGIES: dict[str, Callable[[], Strategy]] = {"dred_c": DRedC, "bf_c": BFC}
"""The strategies to choose from."""


def _only_brings(update: StratumUpdate) -> bool:
    """Whether the changes cannot make the stratum lose derived facts."""
    task, kept = update.task, update.kept
    type_id = update.work.type_id
    if task.minus or task.lost or task.lost_rec or task.fewer:
        return False
    if update.large_gone or (kept.aggregating and update.large_added):
        return False
    for batch in (update.low_gone, update.low_added):  # a group that grows changes its result
        if next(kept.summed.of(batch, type_id), None) is not None:
            return False
    if update.large_added and (kept.negated.by_relation or kept.negated.by_class):
        return False
    gone = next(kept.lower.of(update.low_gone, type_id), None)
    return gone is None and next(kept.negated.of(update.low_added, type_id), None) is None


def _changes(update: StratumUpdate) -> int:
    """The number of changed facts that the rules of the stratum may read."""
    task = update.task
    batches = (update.low_gone, update.low_added, task.minus, task.plus)
    parts = [part for heads in (task.lost, task.lost_rec) for part in heads.values()]
    large = [*update.large_gone.values(), *update.large_added.values()]
    several = sum(map(len, large)) + sum(map(size_of, batches))
    return several + sum(len(keys) for part in parts for keys in part)


def _share(update: StratumUpdate) -> float:
    """The share of the asserted facts that is retracted."""
    work = update.work
    gone = size_of(work.minus.batches())
    return gone / max(1, gone, work.stored.tables.total(EXPLICIT))


def _all(update: StratumUpdate) -> list[Family]:
    fresh = update.task.fresh
    return [*update.kept.families, *(fresh.families if fresh is not None else ())]


def _rows(update: StratumUpdate) -> float:
    """The rows that rematerialising would read: those of all relations in bodies and heads."""
    setting = update.work.new()
    atoms = [atom for family in _all(update) for atom in (family.head, *family.body)]
    relations: set[RelationKey] = {atom.relation for atom in atoms}
    return sum([setting.view(relation).estimate(()) for relation in relations], 1.0)


def _after(how: str, why: str) -> str:
    """What a strategy reports, if anything, and why it was chosen."""
    return f"{how}; {why}" if how else why


def _many(changes: int) -> str:
    return "1 change" if changes == 1 else f"{changes:,} changes"


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms"

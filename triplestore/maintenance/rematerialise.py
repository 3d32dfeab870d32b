"""Rematerialisation: what follows is derived from what is stated, and compared with what there was.

Start reading at `Rematerialise`, which does this for one stratum, or at `rematerialise_all`, which
does it for all of them at once. Both evaluate as if nothing had been derived before: the stored
facts are seen without those in question (see `restated`), the rest is a first materialisation. Only
differences are handed on, so what is written is what any other strategy would write.
"""

from __future__ import annotations

import time

import numpy as np

from triplestore.expressions.query_terms import QueryTerms
from triplestore.maintenance.changed_rows import Closure
from triplestore.maintenance.limits.budget import Budget
from triplestore.maintenance.mat_mod import Maintenance
from triplestore.maintenance.modules.edge_rows import written
from triplestore.maintenance.steps.stratum import Strategy, StratumUpdate, Task
from triplestore.maintenance.steps.traces import Traces
from triplestore.maintenance.steps.without_stratum import (
    Derived,
    OnlyStated,
    Restated,
    by_runs,
    stored_counts,
    stored_keys,
)
from triplestore.maintenance.update_state import Work
from triplestore.relations import INFERRED, Tables
from triplestore.relations.facts.counts import CountChanges
from triplestore.relations.facts.fact_sets import ANY, Batch, RelationKey, set_of
from triplestore.relations.facts.recursive_counts import RecursiveCounts
from triplestore.relations.facts.sorted_arrays import summed, unite, without
from triplestore.relations.packed_keys import I64, Bools, Keys, high
from triplestore.rules.compiled_program import Compiled
from triplestore.rules.levels import Levels
from triplestore.rules.modules.written_out import Choice
from triplestore.rules.strata import CompiledStratum, Strata


class Rematerialise(Strategy):
    """Derive all facts of the stratum anew, from those stated and those of lower strata."""

    name = "rematerialise"

    def run(self, update: StratumUpdate) -> tuple[str, str]:
        """See `Strategy.run`."""
        work, task = update.work, update.task
        known = Derived.of(work.stored, work.levels)
        budget, made = work.budget, work.budget.made
        budget.again = _derived_before(work.stored.tables)
        anew = _anew(work, task)
        budget.again = 0
        classes = _concluded_classes(task, work.type_id)
        gone: Batch = {}
        added: Batch = {}
        for name in _relations(work, task, anew):
            now = anew.added.keys_of(name)
            if name in work.added:  # classes of lower strata
                now = without(now, work.added[name].keys())
            before = known.inferred(work.stored, name, task.number, classes)
            lost, new = without(before, now), without(now, before)
            if name in task.minus:
                taken_back = task.minus[name]
                lost = unite(lost, taken_back[anew.gone.contains(name, taken_back)])
            if len(lost):
                gone[name] = lost
            if len(new):
                added[name] = new
            counts = known.counts(work.stored, name, task.number, classes)
            more, by = work.counts.changed(name)  # of rules that are recursive now, or were
            if name == work.type_id and len(more):
                own = _mask(work.levels, more, task.number)
                more, by = more[own], by[own]
            _recount(work, anew, name, counts, (more, by))
        work.rounds = anew.rounds
        budget.made = made
        work.spend(added)
        update.settle(gone, added)
        return self.name, ""


def _anew(work: Work, task: Task) -> Work:
    """The stratum materialised on its own: `gone` and `added` beside what is stated."""
    anew = Work(work.compiled, work.stored.tables, work.terms)
    anew.budget, anew.run, anew.rounds = work.budget, work.run, work.rounds
    anew.stored = Restated(work.stored, work.levels, task.number)
    anew.counts = CountChanges(None)
    anew.schemes, anew.made_schemes = work.schemes, work.made_schemes
    anew.plus, anew.minus = work.plus, work.minus
    # What is not stated any more is as good as gone; if it follows nevertheless, it comes back.
    anew.gone, anew.added = work.gone.copied(), work.added.copied()
    for name, keys in task.minus.items():
        anew.gone.add(name, without(keys, anew.gone.keys_of(name)))
    rules = task.kept
    if task.fresh is not None:
        families = [*task.kept.families, *task.fresh.families]
        rules = Strata(families, work.type_id)[task.number]
    first = Task(task.number, CompiledStratum(task.number), rules, plus=task.plus)
    StratumUpdate(anew, first).insert({})
    return anew


def _relations(work: Work, task: Task, anew: Work) -> list[RelationKey]:
    """The relations in which something is, or was, derived or taken back."""
    found: set[RelationKey] = set()
    for names in (anew.added, task.minus, task.lost, task.lost_rec):
        found |= names.keys()
    found |= {family.head.relation for family in task.kept.families}
    if ANY in found:
        found.discard(ANY)
        found |= set(work.stored.names().tolist())
    found |= set(anew.counts.relations())
    levels, number = work.levels, task.number
    return [n for n in found if n == work.type_id or levels.relation(n) == number]


def _concluded_classes(task: Task, type_id: int) -> set[int] | None:
    """The classes of which the stratum may have had derived members; None for any."""
    found: set[int] = set()
    for family in task.kept.families:
        if family.head.relation == ANY:
            return None
        if family.head.relation != type_id:
            continue
        term = family.head.terms[0]
        if term < 0:
            found.add(-term)
        elif family.table is not None and term in family.table.variables:
            column = family.table.columns[family.table.variables.index(term)]
            found |= set(column.tolist())
        else:
            return None
    for heads in (task.lost, task.lost_rec):
        for keys in heads.get(type_id, ()):
            found |= set(np.unique(high(keys)).tolist())
    return found


def _mask(levels: Levels, keys: Keys, number: int) -> Bools:
    return by_runs(high(keys), lambda classes: levels.classes(classes) == number)


def _recount(work: Work, anew: Work, name: RelationKey, *before: tuple[Keys, I64]) -> None:
    """Make the counters of a relation, which are those before in sum, those counted anew."""
    keys, by = anew.counts.changed(name)
    for known, counts in before:
        if len(known):
            keys, by = summed(keys, by, known, -counts) if len(keys) else (known, -counts)
    moved = by != 0
    if moved.any():
        work.counts.change(name, keys[moved], by[moved])


# -- all strata -----------------------------------------------------------------------------------


def rematerialise_all(
    compiled: Compiled,
    closed: Tables,
    stated: Tables,
    plus: Batch,
    minus: Batch,
    *,
    rewritten: Batch | None = None,
    terms: QueryTerms | None = None,
    budget: Budget | None = None,
    recursive: RecursiveCounts | None = None,
    traces: Traces | None = None,
    choice: Choice | None = None,
) -> Closure:
    """What `update` returns, found by deriving everything anew; see there for the arguments.

    It does not matter which rules held before: what they derived is compared like everything else.
    Recursive counters and traces are of no use afterwards.
    """
    started = time.perf_counter()
    anew = Work(compiled, stated, terms, budget)
    anew.stored = OnlyStated(stated, compiled.type_id)
    anew.counts = CountChanges(None)
    anew.schemes = {}
    anew.choice = choice or anew.choice
    anew.budget.again = _derived_before(closed)
    maintenance = Maintenance(anew, compiled.strata_of(()), _Insert(), compiled.strata)
    maintenance.run()
    work = Work(compiled, closed, terms)
    work.budget, work.run, work.rounds = anew.budget, anew.run, anew.rounds
    before = {key: None for key in closed.schemes if key < 0}  # of leaps: what is not found again
    work.made_schemes = {**before, **anew.made_schemes}
    work.plus, work.minus, work.rewritten = set_of(plus), set_of(minus), set_of(rewritten or {})
    for name in {*_stored_relations(closed), *anew.added, *plus}:
        _compare(work, anew, name)
        _recount(work, anew, name, stored_counts(work.stored, name))
    if recursive is not None:
        work.recursive = recursive.begin()
        work.recursive.complete = False
    if traces is not None:
        traces.clear()
    closure = written(work, stated)
    closure.strata = maintenance.reports
    closure.seconds = time.perf_counter() - started
    return closure


class _Insert(Strategy):
    """A stratum where nothing was before."""

    name = "rematerialise"

    def run(self, update: StratumUpdate) -> tuple[str, str]:
        update.insert({})
        return self.name, "all strata"


def _derived_before(tables: Tables) -> int:
    """How many facts were derived, at most: those that need not be new when derived anew."""
    rows = sum(len(tables.tuples(*name)) for name in tables.tuple_names())
    return tables.total(INFERRED) + rows


def _stored_relations(tables: Tables) -> list[RelationKey]:
    return [*tables.names().tolist(), *tables.tuple_names()]


def _compare(work: Work, anew: Work, name: RelationKey) -> None:
    """What is gone and what is new in a relation."""
    before = stored_keys(work.stored, name, INFERRED)
    now = anew.added.keys_of(name)
    lost, new = without(before, now), without(now, before)
    if name in work.plus:
        stated = work.plus[name].keys()
        lost = without(lost, stated)
        new = unite(new, stated[~work.held(name, stated)])
    if name in work.minus:
        taken_back = work.minus[name].keys()
        new = without(new, taken_back)
        lost = unite(lost, without(taken_back, now))
    work.gone.add(name, lost)
    work.added.add(name, new)

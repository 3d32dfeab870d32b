"""Rematerialisation: derive a stratum from explicit facts and lower strata, and compare.

Start reading at `Rematerialise`. It is `seminaive` (*revisited*, algorithm 1, lines 3 to 8) on the
stored facts without those that were derived in the stratum (`steps/without_stratum`). Only the
differences from what held before are reported, so the same rows are written as by any other
strategy.
"""

from __future__ import annotations

import numpy as np

from triplestore.maintenance.seminaive import seminaive
from triplestore.maintenance.steps.stratum import Strategy, StratumUpdate
from triplestore.maintenance.steps.stratum_state import Task
from triplestore.maintenance.steps.without_stratum import (
    Derived,
    WithoutStratum,
    by_runs,
)
from triplestore.maintenance.update_state import Work
from triplestore.relations import INFERRED
from triplestore.relations.facts.counts import CountChanges
from triplestore.relations.facts.fact_sets import ANY, Batch, RelationKey
from triplestore.relations.facts.sorted_arrays import summed, unite, without
from triplestore.relations.packed_keys import I64, Bools, Keys, high
from triplestore.rules.strata import CompiledStratum, Levels, Strata


class Rematerialise(Strategy):
    """Derive all facts of the stratum from asserted facts and lower strata."""

    name = "rematerialise"

    def run(self, update: StratumUpdate) -> tuple[str, str]:
        """See `Strategy.run`."""
        work, task = update.work, update.task
        known = Derived.of(work.stored, work.levels)
        budget, made = work.budget, work.budget.made
        budget.again = _derived_before(work)
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
                retracted = task.minus[name]
                lost = unite(lost, retracted[anew.gone.contains(name, retracted)])
            if len(lost):
                gone[name] = lost
            if len(new):
                added[name] = new
            counts = known.counts(work.stored, name, task.number, classes)
            more, by = work.counts.changed(name)  # of rules that became recursive or nonrecursive
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
    """Materialise the stratum on its own, as `gone` and `added` beside the asserted facts."""
    anew = Work(work.compiled, work.stored.tables, work.terms)
    anew.budget, anew.run, anew.rounds = work.budget, work.run, work.rounds
    anew.stored = WithoutStratum(work.stored, work.levels, task.number)
    anew.counts = CountChanges(None)
    anew.schemes, anew.made_schemes = work.schemes, work.made_schemes
    anew.plus, anew.minus = work.plus, work.minus
    # Retracted facts count as gone. If such a fact still follows, it comes back.
    anew.gone, anew.added = work.gone.copied(), work.added.copied()
    for name, keys in task.minus.items():
        anew.gone.add(name, without(keys, anew.gone.keys_of(name)))
    rules = task.kept
    if task.fresh is not None:
        families = [*task.kept.families, *task.fresh.families]
        rules = Strata(families, work.type_id)[task.number]
    first = Task(task.number, CompiledStratum(task.number), rules, plus=task.plus)
    seminaive(StratumUpdate(anew, first))
    return anew


def _relations(work: Work, task: Task, anew: Work) -> list[RelationKey]:
    """The relations in which facts are or were derived, or are retracted."""
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
    """The classes that may have had derived members in the stratum; None for any."""
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
    """Replace the old counters of a relation, which are the sum of `before`, by the new ones."""
    keys, by = anew.counts.changed(name)
    for known, counts in before:
        if len(known):
            keys, by = summed(keys, by, known, -counts) if len(keys) else (known, -counts)
    moved = by != 0
    if moved.any():
        work.counts.change(name, keys[moved], by[moved])


def _derived_before(work: Work) -> int:
    """Maximum number of facts that were derived before: deriving them again makes no new facts."""
    tables = work.stored.tables
    rows = sum(len(tables.tuples(*name)) for name in tables.tuple_names())
    return tables.total(INFERRED) + rows

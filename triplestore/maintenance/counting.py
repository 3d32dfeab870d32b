"""Recursive counting: how often each fact is derived in each round of its stratum.

*Revisited*, algorithm 3, lines 21 to 38 for one stratum (with the minus that lines 23 and 36 lack
in print), and algorithm 2, lines 11 to 18, for a missing trace (`make_trace`). Start reading at
`Counting`. The first round, of assertions and nonrecursive rules, is that of all strategies
(`touched` is line 23, `gained` is line 24). The other rounds are `steps/replay`, 26 to 38.

Ours deviates as follows. The papers go through all rounds of both runs, so the cost depends on I.
Here it depends on the instances of facts that move from one round to another (see `replay`). So the
text is not that of the papers. The text of the papers is in `tests/reference/counting`, and the two
are compared. The trace has only recursive derivations: rounds from 2 on. C_nr is in the tables.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from triplestore.evaluate.conclusions import Heads, conclude
from triplestore.evaluate.evaluation import Around
from triplestore.maintenance.dred_c import DRedC
from triplestore.maintenance.steps.counted_rules import Recursion
from triplestore.maintenance.steps.replay import Replay
from triplestore.maintenance.steps.stratum import Strategy, StratumUpdate
from triplestore.maintenance.steps.stratum_state import Task
from triplestore.maintenance.steps.traces import Derivations, Trace
from triplestore.maintenance.steps.without_stratum import Derived, WithoutStratum
from triplestore.maintenance.update_state import Work, united
from triplestore.relations import EXPLICIT
from triplestore.relations.facts.body_views import Setting
from triplestore.relations.facts.fact_sets import ANY, Batch, FactSet, RelationKey, set_of
from triplestore.relations.facts.sorted_arrays import counted
from triplestore.rules.compiled_program import Compiled
from triplestore.rules.strata import CompiledStratum, Strata


class Counting(Strategy):
    """Consider the instances that the old and the new evaluation consider in different rounds.

    Without recursion the counters in the tables are enough. In an update of the program the traces
    are of no use, and DRed^c takes over.
    """

    name = "counting"

    def run(self, update: StratumUpdate) -> tuple[str, str]:
        """See `Strategy.run`."""
        work, task = update.work, update.task
        large = bool(update.large_gone or update.large_added) or update.reads_large()
        if not task.recursive or work.traces is None or large:
            DRedC().run(update)
            why = "a closure below is too large" if large else "rules have changed"
            return self.name, "no recursion" if not task.recursive else why
        parts = _parts(work.compiled, task.number)
        trace = work.traces.of(task.number)
        why = "" if trace is not None else "there was no trace"
        if trace is None:
            trace = make_trace(work, task.kept)
        plain = StratumUpdate(work, Task(task.number, parts.plain, None, task.minus, task.plus))
        touched = united(plain.touched(), plain.gained())
        replay = Replay(update, parts.recursion, trace)
        work.traces.keep(task.number, replay.run(touched))
        update.settle(*replay.outcome(), counted=True)
        return self.name, why


class _Parts(NamedTuple):
    """The rules of a stratum in two parts: nonrecursive and aggregating ones, and recursive
    ones."""

    plain: CompiledStratum
    recursion: Recursion


_PARTS: WeakKeyDictionary[Compiled, dict[int, _Parts]] = WeakKeyDictionary()
"""Kept with their plans as long as the program."""


def _parts(compiled: Compiled, number: int) -> _Parts:
    """The rules of one stratum of a program."""
    known = _PARTS.setdefault(compiled, {})
    if number not in known:
        stratum, type_id = compiled.strata[number], compiled.type_id
        plain = Strata([f for f in stratum.families if not f.recursive], type_id)
        known[number] = _Parts(
            plain.get(number, CompiledStratum(number)), Recursion.of(stratum, type_id)
        )
    return known[number]


def make_trace(work: Work, stratum: CompiledStratum) -> Trace:
    """The trace of a stratum of the stored tables: its recursive rules, evaluated from scratch."""
    run, type_id = work.run, work.type_id
    stored = WithoutStratum(work.stored, work.levels, stratum.number)
    mine = _counted(work, stratum)
    after = Setting(stored, plus=[mine])
    heads = Heads()
    for family in stratum.recursive:
        rows, n = run.whole(family, after, "trace")
        conclude(family, rows, n, type_id, heads)
    found: dict[RelationKey, list[Derivations]] = {}
    number = 2
    while heads:
        fresh: Batch = {}
        for name, keys in heads.taken().items():
            facts, times = counted(keys)
            rounds = np.full(len(facts), number)
            found.setdefault(name, []).append(Derivations(facts, rounds, times.astype(np.int64)))
            known = work.stored.of(name).status(facts) == EXPLICIT
            facts = facts[~(known | mine.contains(name, facts))]
            if len(facts):
                fresh[name] = facts
        for name, facts in fresh.items():
            mine.add(name, facts)
        work.budget.check()
        heads = Heads()
        after = Setting(stored, plus=[mine])
        around = Around(after.without(set_of(fresh)), after, after, after)
        for family, item in stratum.own.of(fresh, type_id):
            rows, n = run.changed(family, item, fresh, around, "trace")
            conclude(family, rows, n, type_id, heads)
        number += 1
    return Trace().changed(
        {
            name: Derivations.of(*map(np.concatenate, zip(*parts, strict=True)))
            for name, parts in found.items()
        }
    )


def _counted(work: Work, stratum: CompiledStratum) -> FactSet:
    """Facts that recursive rules may read, and that nonrecursive rules derive; without asserted
    ones."""
    names = {atom.relation for f in stratum.recursive for atom in f.body if atom.own}
    if ANY in names:
        names.discard(ANY)
        names |= set(work.stored.names().tolist())
    derived = Derived.of(work.stored, work.levels)
    found = FactSet()
    for name in names:
        if name == work.type_id or work.levels.relation(name) == stratum.number:
            keys, _ = derived.counts(work.stored, name, stratum.number, None)
            found.add(name, keys[work.stored.of(name).status(keys) != EXPLICIT])
    return found

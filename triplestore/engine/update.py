"""Updates: from changes of facts and rules to the rows that a commit writes.

Start reading at `update`. It compares two programs and two sets of stated facts, maintains the
closure from the one to the other, and says which rows get which status and count.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from triplestore.datalog.canonical import signature
from triplestore.engine.compiled import Compiled, Strata, recursive_numbers
from triplestore.engine.evaluate import Heads, conclude
from triplestore.engine.grouping import summarise_whole
from triplestore.engine.maintain import Maintenance, Strategy, StratumReport
from triplestore.engine.sets.arrays import counted, unite
from triplestore.engine.sets.keys import Batch, RelationKey, no_keys
from triplestore.engine.work import Budget, Work, facts_of
from triplestore.expr.query_terms import QueryTerms
from triplestore.tables import EXPLICIT, INFERRED, ChangedRows, Changes, Tables
from triplestore.tables.rows import U8, Columns, Keys


@dataclass(slots=True)
class Closure:
    """What an update amounts to.

    changes       rows to be written above the stated ones
    inferred_added, inferred_removed   facts that hold without being stated, and did not before;
                  and the other way round; helper relations left out
    strata        what was done where
    instances     phase -> rule instances considered
    fetched       rows fetched from relations
    """

    changes: Changes
    inferred_added: int = 0
    inferred_removed: int = 0
    still_entailed: int = 0
    seconds: float = 0.0
    rounds: int = 0
    strata: list[StratumReport] = field(default_factory=list)
    instances: dict[str, int] = field(default_factory=dict)
    fetched: int = 0
    families: int = 0
    work: Work | None = None


def update(
    compiled: Compiled,
    closed: Tables,
    stated: Tables,
    plus: Batch,
    minus: Batch,
    strategy: Strategy,
    *,
    previous: Compiled | None = None,
    terms: QueryTerms | None = None,
    budget: Budget | None = None,
) -> Closure:
    """The rows that make `stated` closed under a program.

    closed    tables closed under the `previous` program (under none, if None)
    stated    the same after facts were stated (`plus`) and taken back (`minus`)
    """
    started = time.perf_counter()
    work = Work(compiled, closed, terms, budget)
    for name, keys in plus.items():
        work.plus.add(name, keys)
    for name, keys in minus.items():
        work.minus.add(name, keys)
    maintenance = _prepare(work, compiled, previous, strategy)
    maintenance.run()
    closure = write(work, stated)
    closure.seconds = time.perf_counter() - started
    closure.strata = maintenance.reports
    return closure


def _prepare(
    work: Work, compiled: Compiled, previous: Compiled | None, strategy: Strategy
) -> Maintenance:
    """Which rules stay, come and go."""
    if previous is compiled:
        return Maintenance(work, compiled.strata, strategy)
    if previous is None:
        return Maintenance(work, compiled.strata_of(()), strategy, compiled.strata)
    before = {signature(rule): i for i, rule in enumerate(previous.rules)}
    after = {signature(rule): i for i, rule in enumerate(compiled.rules)}
    kept = [i for key, i in after.items() if key in before]
    fresh = [i for key, i in after.items() if key not in before]
    gone = [i for key, i in before.items() if key not in after]
    _reclassify(work, compiled, previous, before, after)
    removed = previous.strata_of(gone) if gone else None
    coming = compiled.strata_of(fresh) if fresh else None
    staying = compiled.strata_of(kept) if fresh else compiled.strata
    return Maintenance(work, staying, strategy, coming, removed)


def _reclassify(
    work: Work,
    compiled: Compiled,
    previous: Compiled,
    before: dict[object, int],
    after: dict[object, int],
) -> None:
    """Rules that stay, but become recursive or cease to be: their instances move to or from the
    counters, and nothing else happens."""
    was, is_now = recursive_numbers(previous), recursive_numbers(compiled)
    for numbers, sign in (
        ([i for k, i in after.items() if k in before and before[k] not in was and i in is_now], -1),
        ([i for k, i in after.items() if k in before and before[k] in was and i not in is_now], 1),
    ):
        if numbers:
            heads = all_heads(work, compiled.strata_of(numbers))
            for name, keys in heads.taken().items():
                facts, times = counted(keys)
                work.counts.change(name, facts, times.astype(np.int64) * sign)


def all_heads(work: Work, strata: Strata) -> Heads:
    """What all instances of some rules over the stored facts conclude."""
    heads, old = Heads(), work.old()
    for family in strata.families:
        if family.summary is not None:
            summarise_whole(work, family, old, heads, "reclassified rules")
        else:
            rows, n = work.run.whole(family, old, "reclassified rules")
            conclude(family, rows, n, work.type_id, heads)
    return heads


def write(work: Work, stated: Tables) -> Closure:
    """The rows in which the new closure differs from the stated tables."""
    closure = Closure(
        Changes(),
        rounds=work.rounds,
        instances=dict(work.run.instances),
        fetched=work.run.fetched,
        families=work.run.families,
        work=work,
    )
    relations: dict[RelationKey, None] = {}
    for sets in (work.gone, work.added, work.plus, work.minus):
        relations.update(dict.fromkeys(sets))
    relations.update(dict.fromkeys(work.counts.relations()))
    facts: list[tuple[int, Columns, U8, U8, np.ndarray]] = []
    tuples: dict[tuple[int, int], ChangedRows] = {}
    for name in relations:
        keys = _looked_at(work, name)
        if len(keys) == 0:
            continue
        status, previous, counts = _rows(work, stated, name, keys, closure)
        moved = (status != previous[0]) | ((counts != previous[1]) & (status != 0))
        if not moved.any():
            continue
        columns = facts_of(name, keys[moved], work.type_id)
        if isinstance(name, tuple):
            tuples[name] = ChangedRows.of(columns, status[moved], previous[0][moved], counts[moved])
        else:
            facts.append((name, columns, status[moved], previous[0][moved], counts[moved]))
    closure.changes = (
        Changes(facts=_facts(facts), tuples=tuples) if facts else Changes(tuples=tuples)
    )
    return closure


def _looked_at(work: Work, name: RelationKey) -> Keys:
    keys = no_keys(name)
    for sets in (work.gone, work.added, work.plus, work.minus):
        if name in sets:
            keys = unite(keys, sets[name].keys())
    return unite(keys, work.counts.changed(name)[0])


def _rows(
    work: Work, stated: Tables, name: RelationKey, keys: Keys, closure: Closure
) -> tuple[U8, tuple[U8, np.ndarray], np.ndarray]:
    """New status, (status and count in the stated tables), and new count of some facts."""
    holds = work.holds(name, keys)
    is_stated = work.stated(name, keys)
    status = np.where(holds, np.where(is_stated, EXPLICIT, INFERRED), 0).astype(np.uint8)
    counts = np.where(holds, work.counts.current(name, keys), 0).astype(np.uint32)
    columns = facts_of(name, keys, work.type_id)
    if isinstance(name, tuple):
        tuples = stated.tuples(*name)
        previous = (tuples.status_of(columns), tuples.count_of(columns))
    else:
        relation = stated.relation(name)
        previous = (relation.status_of(columns), relation.count_of(columns))
    if name not in work.compiled.helpers:
        was = work.stored.of(name).status(keys)
        closure.inferred_added += int(np.count_nonzero((status == INFERRED) & (was == 0)))
        closure.inferred_removed += int(np.count_nonzero((was == INFERRED) & (status == 0)))
        closure.still_entailed += int(np.count_nonzero((was == EXPLICIT) & (status == INFERRED)))
    return status, previous, counts


def _facts(parts: Iterable[tuple[int, Columns, U8, U8, np.ndarray]]) -> ChangedRows:
    listed = list(parts)
    p = np.concatenate([np.full(len(part[2]), part[0], np.uint32) for part in listed])
    s = np.concatenate([part[1][0] for part in listed])
    o = np.concatenate([part[1][1] for part in listed])
    status = np.concatenate([part[2] for part in listed])
    previous = np.concatenate([part[3] for part in listed])
    counts = np.concatenate([part[4] for part in listed])
    return ChangedRows.of((p, s, o), status, previous, counts)

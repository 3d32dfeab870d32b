"""From the sets of an update to the rows that a commit writes.

Start reading at `write`. Most facts of a large update are new and were never there, so they need no
look-up; the others are looked up in the closed tables and in the stated ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from triplestore.engine.maintain import StratumReport
from triplestore.engine.sets.arrays import places_in, unite, without
from triplestore.engine.sets.keys import RelationKey, no_keys
from triplestore.engine.work import Work, facts_of
from triplestore.tables import EXPLICIT, INFERRED, ChangedRows, Changes, Tables
from triplestore.tables.rows import U8, U32, Keys


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


class _Rows(NamedTuple):
    """Rows of one relation: keys, new status, status in the stated tables, new count."""

    keys: Keys
    status: U8
    previous: U8
    counts: U32


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
    for sets in (work.gone, work.added, work.plus, work.minus, work.rewritten):
        relations.update(dict.fromkeys(sets))
    relations.update(dict.fromkeys(work.counts.relations()))
    facts: list[tuple[int, _Rows]] = []
    tuples: dict[tuple[int, int], ChangedRows] = {}
    for name in relations:
        rows = _joined(_known(work, stated, name, closure), _new(work, name, closure))
        if len(rows.keys) == 0:
            continue
        if isinstance(name, tuple):
            columns = facts_of(name, rows.keys, work.type_id)
            tuples[name] = ChangedRows.of(columns, rows.status, rows.previous, rows.counts)
        else:
            facts.append((name, rows))
    closure.changes = Changes(tuples=tuples)
    if facts:
        closure.changes = Changes(facts=_changed_facts(facts, work.type_id), tuples=tuples)
    return closure


def _new(work: Work, name: RelationKey, closure: Closure) -> _Rows:
    """Facts that nobody stated, and that were not there before."""
    keys = no_keys(name)
    if name in work.added:
        keys = work.added[name].keys()
        if name in work.plus:
            keys = without(keys, work.plus[name].keys())
    known, by = work.counts.changed(name)
    places = places_in(keys, known)
    counts = np.where(places >= 0, by[places], 0) if len(known) else np.zeros(len(keys))
    if name not in work.compiled.helpers:
        closure.inferred_added += len(keys)
    status = np.full(len(keys), INFERRED, dtype=np.uint8)
    return _Rows(keys, status, np.zeros(len(keys), dtype=np.uint8), counts.astype(np.uint32))


def _known(work: Work, stated: Tables, name: RelationKey, closure: Closure) -> _Rows:
    """Facts that were stated or taken back, are gone, or have other counts, if rows change."""
    keys = work.counts.changed(name)[0]
    if name in work.added and len(keys):
        keys = without(keys, work.added[name].keys())
    for sets in (work.gone, work.plus, work.minus, work.rewritten):
        if name in sets:
            keys = unite(keys, sets[name].keys())
    if len(keys) == 0:
        return _Rows(keys, _NONE, _NONE, np.zeros(0, dtype=np.uint32))
    was, kept = work.stored.of(name).look_up(keys)
    holds = work.holds(name, keys, was)
    is_stated = work.stated(name, keys, was)
    status = np.where(holds, np.where(is_stated, EXPLICIT, INFERRED), 0).astype(np.uint8)
    counts = np.where(holds, work.counts.current(name, keys, kept), 0).astype(np.uint32)
    previous, count = was, kept
    rewritten = np.zeros(len(keys), dtype=np.bool_)
    for sets in (work.plus, work.minus, work.rewritten):
        rewritten |= sets.contains(name, keys)
    if rewritten.any():  # other rows are in the stated tables what they are in the closed ones
        relation = stated.tuples(*name) if isinstance(name, tuple) else stated.relation(name)
        columns = facts_of(name, keys[rewritten], work.type_id)
        previous, count = was.copy(), kept.copy()
        previous[rewritten] = relation.status_of(columns)
        count[rewritten] = relation.count_of(columns)
    if name not in work.compiled.helpers:
        closure.inferred_added += int(np.count_nonzero((status == INFERRED) & (was == 0)))
        closure.inferred_removed += int(np.count_nonzero((was == INFERRED) & (status == 0)))
        closure.still_entailed += int(np.count_nonzero((was == EXPLICIT) & (status == INFERRED)))
    moved = (status != previous) | ((counts != count) & holds)
    if moved.all():
        return _Rows(keys, status, previous, counts)
    return _Rows(keys[moved], status[moved], previous[moved], counts[moved])


_NONE: U8 = np.zeros(0, dtype=np.uint8)


def _joined(one: _Rows, other: _Rows) -> _Rows:
    if len(one.keys) == 0:
        return other
    if len(other.keys) == 0:
        return one
    return _Rows(*(np.concatenate(pair) for pair in zip(one, other, strict=True)))


def _changed_facts(parts: list[tuple[int, _Rows]], type_id: int) -> ChangedRows:
    if len(parts) == 1:
        name, rows = parts[0]
        s, o = facts_of(name, rows.keys, type_id)
        p = np.full(len(s), name, dtype=np.uint32)
        return ChangedRows.of((p, s, o), rows.status, rows.previous, rows.counts)
    columns = [facts_of(name, rows.keys, type_id) for name, rows in parts]
    p = np.repeat(
        np.array([name for name, _ in parts], dtype=np.uint32),
        [len(rows.keys) for _, rows in parts],
    )
    return ChangedRows.of(
        (p, np.concatenate([c[0] for c in columns]), np.concatenate([c[1] for c in columns])),
        np.concatenate([rows.status for _, rows in parts]),
        np.concatenate([rows.previous for _, rows in parts]),
        np.concatenate([rows.counts for _, rows in parts]),
    )

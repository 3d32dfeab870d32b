"""From the sets of an update to the rows that a commit writes.

Start reading at `write`. Most facts of a large update are new, so they need no look-up. The others
are looked up in the closed tables and in the asserted ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from triplestore import thread_limits
from triplestore.checked_columns import Column
from triplestore.errors import BudgetError
from triplestore.maintenance.report import StratumReport
from triplestore.maintenance.thresholds import MAINTENANCE
from triplestore.maintenance.update_state import Work, facts_of
from triplestore.relations import EXPLICIT, INFERRED, ChangedRows, Changes, Layer, Tables
from triplestore.relations.facts.fact_sets import RelationKey
from triplestore.relations.facts.sorted_arrays import places_in, unite, without
from triplestore.relations.facts.stored_facts import Stored
from triplestore.relations.layers.sorted_order import Order
from triplestore.relations.layers.swap_columns import turned, turned_rows
from triplestore.relations.layers.table import EMPTY_FACTS, Nets, Table, split_status
from triplestore.relations.layers.wide_rows import TupleRun
from triplestore.relations.packed_keys import U8, U32, U64, Bools, Keys, columns_of, frozen
from triplestore.relations.shared_work import joined

MOST_DERIVATIONS = 2**32 - 1
"""Maximum number of derivations of a fact: counters have 32 bits."""


class WrittenRows(NamedTuple):
    """Rows of one relation: keys, new status, status in the asserted tables, new count.

    ordered  whether the keys are sorted
    """

    keys: Keys
    status: U8
    previous: U8
    counts: U32
    ordered: bool = True


@dataclass
class Closure:
    """The result of an update.

    rows          by relation, the rows to be written above the asserted ones
    inferred_added, inferred_removed   new facts that are not asserted, and facts that are gone and
                  were not asserted; without those of helper relations
    strata        what was done in each stratum
    instances     phase -> rule instances considered
    fetched       rows fetched from relations
    """

    work: Work
    rows: dict[RelationKey, WrittenRows] = field(default_factory=dict)
    inferred_added: int = 0
    inferred_removed: int = 0
    still_entailed: int = 0
    seconds: float = 0.0
    rounds: int = 0
    strata: list[StratumReport] = field(default_factory=list)
    instances: dict[str, int] = field(default_factory=dict)
    fetched: int = 0
    families: int = 0

    def __len__(self) -> int:
        return sum(len(rows.keys) for rows in self.rows.values())

    @cached_property
    def changes(self) -> Changes:
        """The rows as changes."""
        type_id = self.work.type_id
        facts = [(name, rows) for name, rows in self.rows.items() if isinstance(name, int)]
        tuples = self._tuples()
        if not facts:
            return Changes(tuples=tuples)
        return Changes(facts=_changed_facts(facts, type_id), tuples=tuples)

    def _tuples(self) -> dict[tuple[int, int], ChangedRows]:
        return {
            name: ChangedRows.of(
                columns_of(rows.keys, name[1]), rows.status, rows.previous, rows.counts
            )
            for name, rows in self.rows.items()
            if isinstance(name, tuple)
        }

    @cached_property
    def layer(self) -> Layer:
        """The rows as a layer. A large layer is made from the sorted keys directly."""
        if len(self) < MAINTENANCE.large_layer:
            return Layer.build(self.changes)
        tuples = {name: TupleRun.build(rows) for name, rows in self._tuples().items()}
        return Layer(_sorted_table(self.rows, self.work.type_id), tuples=tuples)

    @property
    def step(self) -> Changes | Layer:
        """What a commit writes: changes for the journal, or a layer if there are many."""
        return self.changes if len(self) < MAINTENANCE.large_layer else self.layer


def write(work: Work, asserted: Tables) -> Closure:
    """The rows in which the new closure differs from the asserted tables."""
    closure = Closure(
        work,
        rounds=work.rounds,
        instances=dict(work.run.instances),
        fetched=work.run.fetched,
        families=work.run.families,
    )
    relations: dict[RelationKey, None] = {}
    for sets in (work.gone, work.added, work.plus, work.minus, work.rewritten):
        relations.update(dict.fromkeys(sets))
    relations.update(dict.fromkeys(work.counts.relations()))
    others = (work.gone, work.plus, work.minus, work.rewritten)
    for name in relations:
        thread_limits.needs(_ROW_BYTES * (len(work.added[name]) if name in work.added else 0))
        rows = None if any(name in sets for sets in others) else _derived(work, name, closure)
        if rows is None:
            rows = _known(work, asserted, name, closure)
            if name in work.added:
                rows = _joined(rows, _new(work, name, closure))
        if len(rows.keys):
            closure.rows[name] = rows
    return closure


def _derived(work: Work, name: RelationKey, closure: Closure) -> WrittenRows | None:
    """All rows, if the only change is that rules derived facts, new or known ones.

    None if new facts are not among those whose counts changed: recursive rules count nothing.
    """
    known, by = work.counts.changed(name)
    added = len(work.added[name]) if name in work.added else 0
    was, kept = work.stored.of(name).look_up(known)
    new = was == 0
    if int(np.count_nonzero(new)) != added:
        return None
    if name not in work.compiled.helpers:
        closure.inferred_added += added
    status = was if added == 0 else np.where(new, np.uint8(INFERRED), was)
    return WrittenRows(known, status, was, _fitting(kept + by))


def _new(work: Work, name: RelationKey, closure: Closure) -> WrittenRows:
    """Inferred facts that did not hold before."""
    keys = work.added[name].keys()
    if name in work.plus:
        keys = without(keys, work.plus[name].keys())
        if len(keys) == 0:
            return WrittenRows(keys, _NONE, _NONE, _NO_COUNTS)
    known, by = work.counts.changed(name)
    places = places_in(keys, known)
    counts = np.where(places >= 0, by[places], 0) if len(known) else np.zeros(len(keys), np.uint32)
    if name not in work.compiled.helpers:
        closure.inferred_added += len(keys)
    status = np.full(len(keys), INFERRED, dtype=np.uint8)
    previous = np.zeros(len(keys), dtype=np.uint8)
    return WrittenRows(keys, status, previous, _fitting(counts))


def _known(work: Work, asserted: Tables, name: RelationKey, closure: Closure) -> WrittenRows:
    """The rows that change of facts that were asserted or retracted, are gone, or have other
    counts."""
    keys = work.counts.changed(name)[0]
    if name in work.added and len(keys):
        keys = without(keys, work.added[name].keys())
    for sets in (work.gone, work.plus, work.minus, work.rewritten):
        if name in sets:
            keys = unite(keys, sets[name].keys())
    if len(keys) == 0:
        return WrittenRows(keys, _NONE, _NONE, _NO_COUNTS)
    was, kept = work.stored.of(name).look_up(keys)
    holds = work.holds(name, keys, was)
    counts = _fitting(np.where(holds, work.counts.current(name, keys, kept), 0))

    def look_up(some: Keys) -> tuple[U8, U32]:
        return Stored(asserted, work.type_id).of(name).look_up(some)

    after = holds, work.asserted(name, keys, was), counts
    status, rows = moved_rows(work, name, keys, (was, kept), after, look_up)
    if name not in work.compiled.helpers:
        _count_moves(closure, was, status)
    return rows


def moved_rows(
    work: Work,
    name: RelationKey,
    keys: Keys,
    before: tuple[U8, U32],
    after: tuple[Bools, Bools, U32],
    look_up: Callable[[Keys], tuple[U8, U32]],
) -> tuple[U8, WrittenRows]:
    """The new statuses of some facts, and the rows that differ from those in the asserted tables.

    before   their stored statuses and counts
    after    which of them hold, which are asserted, and their counts
    look_up  statuses and counts in the asserted tables
    """
    previous, count = before
    holds, is_asserted, counts = after
    status = np.where(holds, np.where(is_asserted, EXPLICIT, INFERRED), 0).astype(np.uint8)
    rewritten = np.zeros(len(keys), dtype=np.bool_)
    for sets in (work.plus, work.minus, work.rewritten):
        if name in sets:
            rewritten |= sets.contains(name, keys)
    if rewritten.any():  # the rows of these facts differ between the asserted and the closed tables
        previous, count = previous.copy(), count.copy()
        previous[rewritten], count[rewritten] = look_up(keys[rewritten])
    moved = (status != previous) | ((counts != count) & holds)
    if moved.all():
        return status, WrittenRows(keys, status, previous, counts)
    return status, WrittenRows(keys[moved], status[moved], previous[moved], counts[moved])


def _count_moves(closure: Closure, was: U8, now: U8) -> None:
    """Count the facts that became inferred, and those that are no longer inferred."""
    if len(was) <= MAINTENANCE.few_moves:  # one by one: a fifth of the time
        moves = list(zip(was.tolist(), now.tolist(), strict=True))
        closure.inferred_added += moves.count((0, INFERRED))
        closure.inferred_removed += moves.count((INFERRED, 0))
        closure.still_entailed += moves.count((EXPLICIT, INFERRED))
        return
    closure.inferred_added += int(np.count_nonzero((now == INFERRED) & (was == 0)))
    closure.inferred_removed += int(np.count_nonzero((was == INFERRED) & (now == 0)))
    closure.still_entailed += int(np.count_nonzero((was == EXPLICIT) & (now == INFERRED)))


_ROW_BYTES = 40
"""Size of a new row until it is in a table, beside its key."""

_NONE: U8 = np.zeros(0, dtype=np.uint8)
_NO_COUNTS: U32 = np.zeros(0, dtype=np.uint32)


def _fitting(counts: NDArray[np.integer[Any]]) -> U32:
    """The counts as they are stored. A count that does not fit would overflow, and the fact would
    be lost while it still has derivations."""
    if len(counts) and int(counts.max()) > MOST_DERIVATIONS:
        raise BudgetError(
            f"a fact would have {int(counts.max()):,} derivations by rules that are not recursive, "
            f"more than are counted ({MOST_DERIVATIONS:,}); look for a rule whose head has few of "
            "the variables of a large body"
        )
    return counts.astype(np.uint32, copy=False)


def _joined(one: WrittenRows, other: WrittenRows) -> WrittenRows:
    if len(one.keys) == 0:
        return other
    if len(other.keys) == 0:
        return one
    return WrittenRows(
        np.concatenate((one.keys, other.keys)),
        np.concatenate((one.status, other.status)),
        np.concatenate((one.previous, other.previous)),
        np.concatenate((one.counts, other.counts)),
        ordered=False,
    )


def _changed_facts(parts: list[tuple[int, WrittenRows]], type_id: int) -> ChangedRows:
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


def _sorted_table(rows: dict[RelationKey, WrittenRows], type_id: int) -> Table:
    """The table of facts whose keys are already sorted in at least one order."""
    facts = {n: _ordered(r) for n, r in sorted(_pairs(rows)) if len(r.keys)}
    if not facts:
        return EMPTY_FACTS
    names = np.array(list(facts), dtype=np.uint32)
    sizes = [len(r.keys) for r in facts.values()]
    starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    status, uniform = split_status(joined([[r.status for r in facts.values()]])[0])
    one = [(name, r.keys, r.status, r.counts) for name, r in facts.items()]
    other = [(name, *_turned(r, status is not None, name == type_id)) for name, r in facts.items()]
    columns: list[list[Any]] = []  # keys, statuses and counts of both orders
    for backward in (False, True):
        parts = [b if (a[0] == type_id) != backward else a for a, b in zip(one, other, strict=True)]
        columns += ([part[column] for part in parts] for column in (1, 2, 3))
    if status is None:
        columns[1] = columns[4] = [_NONE]
    columns[5] = [_NO_COUNTS]
    keys, mixed, counts, turned_keys, turned_mixed, _ = map(Column.of, joined(columns))
    orders = (
        Order(names, starts, keys, None, None if status is None else mixed, uniform, counts),
        Order(names, starts, turned_keys, None, None if status is None else turned_mixed, uniform),
    )
    return Table.of(*orders, _nets(names, list(facts.values())))


def _pairs(rows: dict[RelationKey, WrittenRows]) -> list[tuple[int, WrittenRows]]:
    return [(name, part) for name, part in rows.items() if isinstance(name, int)]


def _ordered(rows: WrittenRows) -> WrittenRows:
    if rows.ordered:
        return rows
    order = np.argsort(rows.keys, kind="stable")  # two runs: numpy merges them
    return WrittenRows(
        rows.keys[order], rows.status[order], rows.previous[order], rows.counts[order]
    )


def _turned(rows: WrittenRows, mixed: bool, counted: bool) -> tuple[U64, U8, U32]:
    """The rows in the other order; statuses and counts only where they are needed there."""
    if not mixed and not counted:
        return turned(rows.keys), rows.status, rows.counts
    return turned_rows(rows.keys, rows.status, rows.counts)


def _nets(names: U32, parts: list[WrittenRows]) -> Nets:
    """The net changes of the numbers of explicit and inferred rows of each relation."""
    more = [
        [
            int(np.count_nonzero(r.status == value)) - int(np.count_nonzero(r.previous == value))
            for r in parts
        ]
        for value in (EXPLICIT, INFERRED)
    ]
    explicit, inferred = (np.array(column, dtype=np.int64) for column in more)
    return Nets(names, frozen(explicit), frozen(inferred))

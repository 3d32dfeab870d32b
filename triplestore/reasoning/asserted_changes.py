"""What was asserted since the tables were closed: the difference that `maintenance` gets.

Start reading at `asserted_since`. It compares closed tables with the rows that were written on top
of them. What is always true of the result: its tables are the closed ones with exactly these facts
asserted (`plus`) and removed (`minus`). Every other fact has its old status and count, even if it
was added and removed again in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from triplestore.reasoning.outcome import WriteStep
from triplestore.relations import EXPLICIT, ChangedRows, Changes, Layer, Tables
from triplestore.relations.packed_keys import U8, U32, U64, Bools, high, low, pack

if TYPE_CHECKING:
    from triplestore.relations.facts.fact_sets import Batch

RowsByProperty: TypeAlias = "dict[int, U64]"
"""For each property the packed rows (subject, object), sorted."""

_EXPLICIT = np.uint8(EXPLICIT)


class AssertedChanges(NamedTuple):
    """The steps from closed tables to those with the asserted facts, and what facts these are."""

    steps: list[WriteStep]
    tables: Tables
    plus: Batch
    minus: Batch

    @property
    def nothing(self) -> bool:
        """True if no fact of the default graph was asserted or removed."""
        return not (self.plus or self.minus)


def asserted_since(
    closed: Tables, tables: Tables, steps: Sequence[WriteStep], type_id: int
) -> AssertedChanges:
    """The net effect of the steps from the closed tables to the current ones."""
    if not steps:
        return AssertedChanges([], tables, {}, {})
    small = [step for step in steps if isinstance(step, Changes)]
    if len(small) == len(steps):
        return _of_changes(closed, tables, small, type_id)
    if len(steps) == 1 and isinstance(steps[0], Layer):
        # A load leaves out what was asserted already: all its rows are newly asserted.
        return AssertedChanges(list(steps), tables, _layer_batch(steps[0], type_id), {})
    return _of_mixture(closed, tables, steps, type_id)


def _of_changes(
    closed: Tables, tables: Tables, steps: Sequence[Changes], type_id: int
) -> AssertedChanges:
    """Every row says what it was before, so nothing needs to be looked up."""
    changes = Changes.concat(steps)
    facts = changes.facts
    now, was = _is_explicit(facts.status), _is_explicit(facts.previous)
    moved = now != was
    if not moved.all():
        facts = facts.take(moved)
        now = now[moved]
        changes = replace(changes, facts=facts)
        tables = closed.push(Layer.build(changes))
    left: list[WriteStep] = [changes] if len(changes) else []
    return AssertedChanges(left, tables, _batch(facts, now, type_id), _batch(facts, ~now, type_id))


def _of_mixture(
    closed: Tables, tables: Tables, steps: Sequence[WriteStep], type_id: int
) -> AssertedChanges:
    """Loads and single writes in turn: look at every row they wrote, before and after."""
    plus: Batch = {}
    minus: Batch = {}
    wrong: list[ChangedRows] = []
    for name, keys in touched_facts(steps).items():
        before, after = closed.stored_relation(name), tables.stored_relation(name)
        status, present = before.status_of_keys(keys), after.status_of_keys(keys)
        was, now = _is_explicit(status), _is_explicit(present)
        _put(plus, name, keys[now & ~was], type_id)
        _put(minus, name, keys[was & ~now], type_id)
        same = was == now
        rows = (high(keys[same]), low(keys[same]))
        count = before.count_of(rows)
        off = (status[same] != present[same]) | (count != after.count_of(rows))
        if off.any():
            columns = (np.full(len(rows[0]), name, dtype=np.uint32), *rows)
            restored = ChangedRows.of(columns, status[same], present[same], count)
            wrong.append(restored.take(off))
    left = list(steps)
    if wrong:
        restoring = Changes(facts=ChangedRows.concat(wrong))
        left.append(restoring)
        tables = tables.push(Layer.build(restoring))
    return AssertedChanges(left, tables, plus, minus)


def touched_facts(steps: Sequence[WriteStep]) -> RowsByProperty:
    """The facts of the default graph that some steps mention."""
    parts: dict[int, list[U64]] = {}
    for step in steps:
        if isinstance(step, Changes):
            p, s, o = step.facts.columns
            for name, rows in _by_name(p):
                parts.setdefault(name, []).append(pack(s[rows], o[rows]))
            continue
        order = step.facts.forward
        for place, name in enumerate(order.names.tolist()):
            run = order.run(place)
            parts.setdefault(name, []).append(run.keys[run.lo : run.hi])
    return {name: np.unique(np.concatenate(found)) for name, found in parts.items()}


def _is_explicit(status: U8) -> Bools:
    found: Bools = (status & _EXPLICIT) != 0
    return found


def _batch(rows: ChangedRows, chosen: Bools, type_id: int) -> Batch:
    """Facts by property, in the order in which the engine keeps them."""
    p, s, o = rows.columns
    if not chosen.any():
        return {}
    if not chosen.all():
        p, s, o = p[chosen], s[chosen], o[chosen]
    found: Batch = {}
    for name, places in _by_name(p):
        first, second = (o, s) if name == type_id else (s, o)
        keys = pack(first[places], second[places])
        keys.sort()
        found[name] = keys
    return found


def _put(batch: Batch, name: int, keys: U64, type_id: int) -> None:
    if len(keys) == 0:
        return
    if name == type_id:
        keys = pack(low(keys), high(keys))
        keys.sort()
    batch[name] = keys


def _layer_batch(layer: Layer, type_id: int) -> Batch:
    """The facts of a load: its own sorted columns, as views."""
    found: Batch = {}
    for place, name in enumerate(layer.facts.forward.names.tolist()):
        order = layer.facts.backward if name == type_id else layer.facts.forward
        run = order.run(place)
        found[name] = run.keys[run.lo : run.hi]
    return found


def _by_name(p: U32) -> list[tuple[int, slice | np.ndarray]]:
    """(name, places) of each name in a column."""
    if len(p) == 0:
        return []
    first = p[0]
    if len(p) == 1 or (p == first).all():
        return [(int(first), slice(None))]
    order = np.argsort(p, kind="stable")
    sorted_names = p[order]
    starts = np.flatnonzero(np.concatenate(([True], sorted_names[1:] != sorted_names[:-1])))
    parts = np.split(order, starts[1:])
    return list(zip(sorted_names[starts].tolist(), parts, strict=True))

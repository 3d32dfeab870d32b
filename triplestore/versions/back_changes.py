"""Commits told backwards: what leads from the state after a commit to the one before it.

Start at `back_changes`. Unlike what a journal says, this brings back removed rows, their counts,
and former named values, in terms instead of ids; so it is still right when the store was optimized.
Always true: the state after a commit with its back changes on top is the state before it, in every
row, status and count. Cost: what the commit changed, and one look-up for each of these rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from triplestore.reasoning.difference import net_between, net_changes
from triplestore.reasoning.outcome import WriteStep
from triplestore.relations import ChangedRows, Changes, Layer, Tables
from triplestore.relations.packed_keys import U32
from triplestore.storage import State
from triplestore.storage.record import restored
from triplestore.storage.state import Meta
from triplestore.terms import Dictionary
from triplestore.versions.keyed_changes import IdsOfKeys, KeyedChanges


def back_changes(
    before: State, after: State, steps: Sequence[WriteStep] | None = None, cleared: bool = False
) -> KeyedChanges:
    """What leads from `after` to `before`, whose ids mean the same.

    steps    what led from one to the other, if that is known
    cleared  whether everything was removed before the steps
    """
    base, now = before.tables.with_schemes({}), after.tables.with_schemes({})
    if steps is None:
        net = reversed_changes(net_between(base, now))
    else:
        net = reversed_changes(net_changes(base, now, steps, cleared))
    counted = Changes(
        _with_counts(net.facts, base),
        net.quads,
        net.graphs,
        {name: _with_tuple_counts(rows, base, name) for name, rows in net.tuples.items()},
    )
    names = before.meta.keys() | after.meta.keys()
    meta = {n: before.meta.get(n) for n in names if _differ(before.meta, after.meta, n)}
    return KeyedChanges.of(counted, after.dictionary, meta)


def state_before(after: State, back: Sequence[KeyedChanges], commit: int) -> State:
    """An earlier state; `back` has the back changes of the commits in between, newest first.

    Its ids are those of `after`; its dictionary has more terms if the store dropped some of its.
    """
    dictionary, ids_of = _dictionary_for(after, back)
    meta: dict[str, bytes | None] = {}
    for each in back:
        meta.update(each.meta)
    parts = [each.under(ids_of) for each in back]
    return with_changes(after, dictionary, parts, after.meta.with_changes(meta), commit)


def with_changes(
    state: State, dictionary: Dictionary, changes: Sequence[Changes], meta: Meta, commit: int
) -> State:
    """A state with changes on top, oldest first, and these named values."""
    rows = state.tables.with_schemes({})
    if changes:
        rows = rows.push(Layer.build(Changes.concat(changes)))
    tables = restored(rows, dictionary, meta)
    return State(commit, dictionary, dictionary.size, tables, meta)


def reversed_changes(changes: Changes) -> Changes:
    """The same rows the other way round, without counts."""

    def back(rows: ChangedRows) -> ChangedRows:
        return ChangedRows.of(rows.columns, rows.previous, rows.status)

    return Changes(
        back(changes.facts),
        back(changes.quads),
        back(changes.graphs),
        {name: back(rows) for name, rows in changes.tuples.items()},
    )


def _dictionary_for(after: State, back: Sequence[KeyedChanges]) -> tuple[Dictionary, IdsOfKeys]:
    """The dictionary of a state, or a copy with the terms that are not in it any more."""
    known = after.dictionary.lookup_keys
    size = np.uint32(after.term_count)
    for each in back:
        ids = known(each.keys)
        if ((ids == 0) | (ids > size)).any():
            copied = after.dictionary.copy(after.term_count)
            return copied, copied.encode_keys
    return after.dictionary, known


def _with_counts(rows: ChangedRows, base: Tables) -> ChangedRows:
    """Rows of the default graph with the counts that they had."""
    if not len(rows):
        return rows
    p, s, o = rows.columns
    counts: U32 = np.zeros(len(rows), np.uint32)
    for name in np.unique(p).tolist():
        places = np.flatnonzero(p == np.uint32(name))
        counts[places] = base.stored_relation(name).count_of((s[places], o[places]))
    return replace(rows, count=counts) if counts.any() else rows


def _with_tuple_counts(rows: ChangedRows, base: Tables, name: tuple[int, int]) -> ChangedRows:
    counts = base.tuples(*name).count_of(rows.columns)
    return replace(rows, count=counts) if counts.any() else rows


def _differ(one: Mapping[str, bytes], other: Mapping[str, bytes], name: str) -> bool:
    return one.get(name) != other.get(name)

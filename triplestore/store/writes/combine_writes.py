"""A sequence of additions and removals of quads, combined into the resulting changes.

Start reading at `combine_writes`. Operations come in order, and the last one on a quad wins.
Operations without effect (already there, not asserted) are counted as if all were executed one by
one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from triplestore.relations import EXPLICIT, GRAPHS, INFERRED, ChangedRows, Changes, Tables
from triplestore.relations.changes import NO_FACTS, NO_GRAPHS, NO_QUADS
from triplestore.relations.packed_keys import U8, U32, Bools, Columns, key_of, last_of_equals
from triplestore.store.arguments import QuadKeys
from triplestore.store.thresholds import STORE

if TYPE_CHECKING:
    from triplestore.terms import Dictionary


class CombinedWrites(NamedTuple):
    """The result of a sequence of operations."""

    changes: Changes
    already_there: int
    not_stated: int
    only_inferred: int
    """Removed quads that were not asserted, but hold because they are inferred."""


class _CombinedRows(NamedTuple):
    rows: ChangedRows
    already_there: int
    not_stated: int
    only_inferred: int = 0


def combine_writes(tables: Tables, add: Bools, s: U32, p: U32, o: U32, g: U32) -> CombinedWrites:
    """Operation i adds or removes the quad s[i] p[i] o[i] g[i]; g = 0 is the default graph.

    A quad added to a named graph makes the graph exist; removing its last quad leaves it there.
    """
    named = g != 0
    if not named.any():
        facts = _combine_rows((p, s, o), add, lambda rows: tables.status_of_facts(*rows), tables)
        return CombinedWrites(
            Changes(facts=facts.rows), facts.already_there, facts.not_stated, facts.only_inferred
        )
    quads = _combine_rows(
        (p[named], s[named], o[named], g[named]),
        add[named],
        lambda rows: tables.status_of_quads(*rows),
    )
    plain = ~named
    facts = _CombinedRows(NO_FACTS, 0, 0)
    if plain.any():
        facts = _combine_rows(
            (p[plain], s[plain], o[plain]),
            add[plain],
            lambda rows: tables.status_of_facts(*rows),
            tables,
        )
    graphs = new_graphs(tables, g[named & add])
    return CombinedWrites(
        Changes(facts=facts.rows, quads=quads.rows, graphs=graphs),
        facts.already_there + quads.already_there,
        facts.not_stated + quads.not_stated,
        facts.only_inferred,
    )


def new_graphs(tables: Tables, graphs: U32) -> ChangedRows:
    """The rows that make these named graphs exist, without those that exist already."""
    wanted = np.unique(graphs)
    missing = wanted[tables.tuples(*GRAPHS).status_of((wanted,)) == 0]
    return ChangedRows.of((missing,)) if len(missing) else NO_GRAPHS


def _combine_rows(
    columns: Columns,
    add: Bools,
    status_of: Callable[[Columns], U8],
    facts: Tables | None = None,
) -> _CombinedRows:
    """The result of operations on rows.

    facts  the tables, if the rows are facts: these may hold without being stored
    """
    if len(add) == 1:  # by far the most common case: a single `add` or `remove`
        part = _combine_one(columns, bool(add[0]), status_of(columns))
        return part if facts is None else _told_from_rows(part, facts)
    keys = key_of(columns)
    order = np.argsort(keys, kind="stable")
    keys, add = keys[order], add[order]
    last = last_of_equals(keys)
    first = np.concatenate(([True], last[:-1]))
    rows = tuple(column[order[last]] for column in columns)
    before = status_of(rows)
    stated = (before & np.uint8(EXPLICIT)) != 0
    # The first operation on a quad finds the tables, later ones the operation before them.
    found = np.empty(len(add), dtype=np.bool_)
    found[1:] = add[:-1]
    found[first] = stated
    already_there = int(np.count_nonzero(add & found))
    not_stated = int(np.count_nonzero(~add & ~found))
    only_inferred = 0
    if not_stated and (before == INFERRED).any():
        follows = (before == INFERRED)[np.cumsum(first) - 1]
        only_inferred = int(np.count_nonzero(~add & ~found & follows))
    wanted = add[last]
    changed = wanted != stated
    status = np.where(wanted, np.uint8(EXPLICIT), np.uint8(0))
    result = ChangedRows.of(rows, status, before)
    part = _CombinedRows(result.take(changed), already_there, not_stated, only_inferred)
    return part if facts is None else _told_from_rows(part, facts)


def _told_from_rows(part: _CombinedRows, tables: Tables) -> _CombinedRows:
    """The same rows; the status before is the stored one, not the visible one."""
    rows = part.rows
    if not tables.closed or len(rows) == 0:
        return part
    before = tables.stored_status_of_facts(*rows.columns)
    return part._replace(rows=ChangedRows.of(rows.columns, rows.status, before))


def _combine_one(columns: Columns, add: bool, before: U8) -> _CombinedRows:
    stated = bool(before[0] & EXPLICIT)
    if add == stated:
        none = NO_FACTS if len(columns) == 3 else NO_QUADS
        return _CombinedRows(none, int(add), int(not add), int(not add and before[0] == INFERRED))
    return _CombinedRows(ChangedRows.of(columns, EXPLICIT if add else 0, before), 0, 0)


def encode_writes(
    dictionary: Dictionary, writes: Sequence[tuple[bool, QuadKeys]]
) -> tuple[Bools, U32, int]:
    """Operations on quads given as keys: which of them add, the ids of their quads, and the number
    of those left out because they remove a quad with an unknown term."""
    if len(writes) <= STORE.single_writes:
        return _encode_few(dictionary, writes)
    add = np.array([stated for stated, _ in writes], np.bool_)
    keys = [key for _, quad in writes for key in quad]
    is_named = np.array([key is not None for key in keys], np.bool_)
    stated = np.repeat(add, 4)
    ids = np.zeros(len(keys), np.uint32)
    for chosen, ids_of in ((stated, dictionary.encode_keys), (~stated, dictionary.lookup_keys)):
        places = np.flatnonzero(chosen & is_named)
        if len(places):
            wanted = map(keys.__getitem__, places.tolist())
            ids[places] = ids_of([key for key in wanted if key is not None])
    known = ((ids != 0) | ~is_named).reshape(-1, 4).all(axis=1)
    return add[known], ids.reshape(-1, 4)[known], len(add) - int(np.count_nonzero(known))


def _encode_few(
    dictionary: Dictionary, writes: Sequence[tuple[bool, QuadKeys]]
) -> tuple[Bools, U32, int]:
    add, rows, unknown = [], [], 0
    for stated, (s, p, o, g) in writes:
        keys = [s, p, o] if g is None else [s, p, o, g]
        ids = (dictionary.encode_keys if stated else dictionary.lookup_keys)(keys).tolist()
        if 0 in ids:
            unknown += 1
            continue
        add.append(stated)
        rows.append(ids if len(ids) == 4 else [*ids, 0])
    return np.array(add, np.bool_), np.array(rows, np.uint32), unknown

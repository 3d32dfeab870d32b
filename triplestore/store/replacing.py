"""Replacing the contents of a graph: only the difference is written.

Start reading at `replacement`. Reloading an unchanged file is a no-op.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from triplestore.relations import EXPLICIT, ChangedRows, Changes, Tables, bulk_layer
from triplestore.relations.packed_keys import U8, U32, U64, high, low
from triplestore.relations.views.plain import PlainRelation
from triplestore.store.combine_writes import new_graphs


class Replacement(NamedTuple):
    """The changes that give a graph its new contents, and how many quads stay."""

    changes: Changes
    kept: int


def replacement(tables: Tables, graph: int, s: U32, p: U32, o: U32) -> Replacement:
    """The changes after which exactly these triples are asserted in a graph (0: the default)."""
    column = np.full(len(s), graph, dtype=np.uint32)
    new = Tables([bulk_layer(p, s, o, column)])
    names = np.union1d(_names(tables, graph), _names(new, graph)).tolist()
    parts: list[ChangedRows] = []
    kept = 0
    for name in names:
        before, after = _relation(tables, graph, name), _relation(new, graph, name)
        old_keys, new_keys = before.keys(where=EXPLICIT), after.keys()
        gone = np.setdiff1d(old_keys, new_keys, assume_unique=True)
        come = np.setdiff1d(new_keys, old_keys, assume_unique=True)
        kept += len(new_keys) - len(come)
        if len(gone):
            parts.append(_changed(name, graph, gone, 0, np.full(len(gone), EXPLICIT, np.uint8)))
        if len(come):
            parts.append(_changed(name, graph, come, EXPLICIT, before.status_of_keys(come)))
    rows = ChangedRows.concat(parts) if parts else None
    if graph == 0:
        return Replacement(Changes() if rows is None else Changes(facts=rows), kept)
    graphs = new_graphs(tables, np.array([graph], dtype=np.uint32))
    changes = Changes(graphs=graphs) if rows is None else Changes(quads=rows, graphs=graphs)
    return Replacement(changes, kept)


def _changed(name: int, graph: int, keys: U64, status: int, before: U8) -> ChangedRows:
    columns = [np.full(len(keys), name, dtype=np.uint32), high(keys), low(keys)]
    if graph:
        columns.append(np.full(len(keys), graph, dtype=np.uint32))
    return ChangedRows.of(columns, status, before)


def _names(tables: Tables, graph: int) -> U32:
    return tables.graph(graph).names() if graph else tables.names()


def _relation(tables: Tables, graph: int, name: int) -> PlainRelation:
    return tables.graph(graph).relation(name) if graph else tables.stored_relation(name)
